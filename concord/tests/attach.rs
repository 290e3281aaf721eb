//! Registries that stand somewhere join the matrix through `--evm-rpc`. Needs contracts/out, and anvil
//! on PATH or in CONCORD_ANVIL.

use crate::invocation::{Answer, answer, clone_root, concord};
use concord_harness::backend::evm::EvmAnvil;
use serde_json::{Value, json};
use std::{collections::BTreeSet, env, fs, process::Command};

const SCENARIOS: [&str; 4] = [
    "--scenario",
    "identity/transfer-clears-wallet",
    "--scenario",
    "authorized/revoke",
];

/// Our own contracts, on an anvil that somebody else has started.
fn standing() -> EvmAnvil {
    EvmAnvil::start(None, &clone_root().join("contracts/out")).unwrap()
}

fn check(standing: &EvmAnvil, more: &[&str]) -> Answer {
    let identity = standing.addresses().identity.to_string();
    let mut arguments = vec!["conform", "--json", "--backend", "none"];
    arguments.extend([
        "--evm-rpc",
        standing.ledger().url(),
        "--identity",
        &identity,
    ]);
    arguments.extend(more);
    answer(concord(&arguments).args(SCENARIOS))
}

#[test]
fn registries_on_a_node_are_checked() {
    let standing = standing();
    let authorized = standing.addresses().authorized_reputation.unwrap();
    for _ in 0..2 {
        let answer = check(&standing, &["--authorized", &authorized.to_string()]);
        assert_eq!(answer.code, 0, "{}", answer.stderr);
        let report: Value = serde_json::from_str(&answer.stdout).unwrap();
        assert_eq!(report["participants"], json!(["model", "evm-rpc"]));
        let passed = |name: &str| report["totals"][name]["passed"].as_u64().unwrap();
        assert_eq!(passed("evm-rpc"), passed("model"));
    }
}

#[test]
fn a_run_leaves_nothing_behind() {
    // R20: a hash of the first run's last scenario, still there, would be refused in the second.
    let standing = standing();
    let identity = standing.addresses().identity.to_string();
    let validation = standing.addresses().validation.unwrap().to_string();
    for _ in 0..2 {
        let mut arguments = vec!["conform", "--backend", "none", "--evm-rpc"];
        arguments.extend([standing.ledger().url(), "--identity", &identity]);
        arguments.extend(["--validation", &validation]);
        arguments.extend(["--scenario", "validation/request-and-answer"]);
        let answer = answer(&mut concord(&arguments));
        assert_eq!(answer.code, 0, "{}", answer.stdout);
    }
}

#[test]
fn what_the_canonical_contracts_do_not_have_is_a_known_difference() {
    let answer = check(&standing(), &["--canonical"]);
    let report: Value = serde_json::from_str(&answer.stdout).unwrap();
    let variances = report["variances"].as_array().unwrap();
    let authorized: Vec<_> = variances
        .iter()
        .filter(|it| it["scenario"] == "authorized/revoke")
        .map(|it| (&it["kind"], &it["outcome"], &it["reason"]))
        .collect();
    let reason = "These registries have no such operation, or were deployed without it.";
    assert_eq!(
        authorized,
        [(&json!(0), &json!("unsupported"), &json!(reason))]
    );
    // Ours keep the wallet in a transfer to oneself, where the canonical ones clear it.
    let failures = report["failures"].as_array().unwrap();
    assert_eq!(failures.len(), 1, "{failures:#?}");
    assert_eq!(failures[0]["subject"], "unexpected_pass");
    assert_eq!(answer.code, 1);
}

#[test]
fn a_registry_without_an_address_is_not_declared() {
    let answer = check(&standing(), &[]);
    assert_eq!(answer.code, 4, "{}", answer.stderr);
    let report: Value = serde_json::from_str(&answer.stdout).unwrap();
    assert_eq!(report["failures"], json!([]));
    let undeclared = json!({"evm-rpc": ["open", "authorized", "validation"]});
    assert_eq!(report["not_declared"], undeclared);
    assert!(report["totals"]["evm-rpc"]["passed"].as_u64().unwrap() > 0);
}

#[test]
fn what_cannot_be_checked_gets_one_sentence() {
    let standing = standing();
    let identity = standing.addresses().identity.to_string();
    let wrong_chain = check(&standing, &["--chain-id", "84532"]);
    let deaf = |url: &str| {
        let arguments = ["conform", "--evm-rpc", url, "--identity", &identity];
        answer(concord(&arguments).args(["--backend", "none"]))
    };
    for (answer, code, words) in [
        (wrong_chain, 2, ": its chain id is 31337, not 84532\n"),
        (
            deaf("http://127.0.0.1:1/key"),
            3,
            "concord: --evm-rpc 127.0.0.1:1: does not answer as an EVM node does",
        ),
        (
            deaf("not a URL"),
            2,
            "concord: --evm-rpc: not an http:// URL with a host\n",
        ),
    ] {
        assert_eq!(
            (answer.code, answer.stdout.as_str()),
            (code, ""),
            "{answer:?}"
        );
        assert!(answer.stderr.contains(words), "{}", answer.stderr);
        assert_eq!(answer.stderr.lines().count(), 1, "{}", answer.stderr);
    }
    let half = answer(&mut concord(&["conform", "--identity", &identity]));
    assert_eq!((half.code, half.stdout.as_str()), (2, ""));
}

/// Deploys a contract of a file, with words in hex for its constructor.
fn create(standing: &EvmAnvil, file: &str, contract: &str, words: &[&str]) -> String {
    create_changed(standing, file, contract, words, |code| code)
}

/// The same with its bytecode changed.
fn create_changed(
    standing: &EvmAnvil,
    file: &str,
    contract: &str,
    words: &[&str],
    change: impl Fn(String) -> String,
) -> String {
    let place = format!("contracts/out/{file}.sol/{contract}.json");
    let artifact = fs::read_to_string(clone_root().join(place)).expect("built by scripts/build");
    let artifact: Value = serde_json::from_str(&artifact).unwrap();
    let code = change(artifact["bytecode"]["object"].as_str().unwrap().to_owned());
    let words = words
        .iter()
        .map(|word| format!("{:0>64}", word.trim_start_matches("0x")));
    let words: String = words.collect();
    let url = standing.ledger().url();
    let from = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
    let code = format!("{code}{words}");
    let send = ["send", "--json", "--unlocked", "--rpc-url", url];
    let sent = cast(&[&send[..], &["--from", from, "--create", &code]].concat());
    let receipt: Value = serde_json::from_str(&sent).unwrap();
    receipt["contractAddress"].as_str().unwrap().to_owned()
}

fn cast(arguments: &[&str]) -> String {
    let cast = env::var_os("CONCORD_CAST").unwrap_or_else(|| "cast".into());
    let done = Command::new(cast).args(arguments).output();
    let done = done.expect("cast is on PATH: run scripts/bootstrap");
    let words = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{words}");
    String::from_utf8(done.stdout).unwrap().trim().to_owned()
}

/// R6: scenarios that need the first draft's form are played up to it, and every other one to its end.
#[test]
fn r6_a_registry_that_takes_no_first_draft_s_form_agrees_in_the_rest() {
    let standing = standing();
    let identity = standing.addresses().identity.to_string();
    let name = "AuthorizedReputationRegistry";
    for (flag, expected) in [
        ("0", json!([["authorized/draft-form", 4, 0]])),
        ("1", json!([])),
    ] {
        let authorized = create(&standing, name, name, &[&identity, flag]);
        let drafted = ["--scenario", "authorized/draft-form"];
        let answer = check(
            &standing,
            &[&["--authorized", &authorized], &drafted[..]].concat(),
        );
        let report: Value = serde_json::from_str(&answer.stdout).unwrap();
        assert_eq!((answer.code, &report["failures"]), (0, &json!([])));
        let used = report["variances"].as_array().unwrap();
        let used: Value = used
            .iter()
            .map(|it| json!([it["scenario"], it["step"], it["kind"]]))
            .collect();
        assert_eq!(used, expected);
        let left = &report["views"]["not_asked"];
        assert!(!left.to_string().contains("acceptsDraftV1"), "{left}");
    }
}

/// HARN-60
#[test]
fn a_report_says_which_registries_were_tested() {
    let standing = standing();
    let url = standing.ledger().url();
    let implementation = create(&standing, "CanonicalIdentity", "CanonicalIdentity", &[]);
    let file = "CanonicalIdentity";
    let identity = create(&standing, file, "CanonicalProxy", &[&implementation]);
    let name = "ValidationRegistry";
    let validation = create(&standing, name, name, &[&identity]);
    let arguments = [
        "conform",
        "--json",
        "--backend",
        "none",
        "--canonical-identity",
    ];
    let registries = ["--identity", &*identity, "--validation", &*validation];
    let checked = answer(
        concord(&[&arguments[..], &registries].concat())
            .args(["--evm-rpc", url])
            .args(["--scenario", "identity/transfer-by-stranger"]),
    );
    assert_eq!(checked.code, 0, "{}", checked.stderr);
    let report: Value = serde_json::from_str(&checked.stdout).unwrap();
    let artifact = |name: &str, address: &str| {
        let address = cast(&["to-check-sum-address", address]);
        let code = cast(&["code", &address, "--rpc-url", url]);
        json!({
            "name": name,
            "kind": format!("keccak256 of the code at {address} on eip155:31337"),
            "hash": cast(&["keccak", &code]),
        })
    };
    let expected = json!([
        artifact("IdentityRegistry", &identity),
        artifact("IdentityRegistry's implementation", &implementation),
        artifact(name, &validation),
    ]);
    assert_eq!(report["artifacts"], expected);
    let fact = |name, value| json!({"participant": "evm-rpc", "name": name, "value": value});
    let facts = json!([
        fact("chain", "eip155:31337"),
        fact("interface", "--canonical-identity"),
        fact("IdentityRegistry version", "2.0.0"),
    ]);
    assert_eq!(report["facts"], facts);
    // Only of what took part.
    let versions = report["versions"].as_array().unwrap().iter();
    let tools: Vec<_> = versions.map(|it| it["tool"].as_str().unwrap()).collect();
    assert_eq!(tools, ["concord", "alloy"]);
}

/// An identity registry that does what the canonical one does, behind a proxy.
fn canonical_identity(standing: &EvmAnvil) -> String {
    let implementation = create(standing, "CanonicalIdentity", "CanonicalIdentity", &[]);
    let proxy = [&*implementation];
    create(standing, "CanonicalIdentity", "CanonicalProxy", &proxy)
}

/// What `concord deploy --identity` deploys, over an identity registry that does what the canonical
/// one does, behind a proxy: every scenario of authorized feedback and of validation.
#[test]
fn authorized_reputation_and_validation_agree_over_a_canonical_identity_registry() {
    let standing = standing();
    let identity = canonical_identity(&standing);
    let name = "AuthorizedReputationRegistry";
    let authorized = create(&standing, name, name, &[&identity, "1"]);
    let name = "ValidationRegistry";
    let validation = create(&standing, name, name, &[&identity]);
    // Some of these scenarios give open feedback, too.
    let reputation = create(
        &standing,
        "ReputationRegistry",
        "ReputationRegistry",
        &[&identity],
    );
    let mut arguments = vec!["conform", "--json", "--backend", "none", "--evm-rpc"];
    arguments.extend([standing.ledger().url(), "--identity", &identity]);
    arguments.extend(["--authorized", &authorized, "--validation", &validation]);
    arguments.extend(["--reputation", &reputation]);
    arguments.extend(["--filter", "authorized/", "--filter", "validation/"]);
    let checked = answer(concord(&arguments).arg("--canonical-identity"));
    let report: Value = serde_json::from_str(&checked.stdout).expect(&checked.stderr);
    let failures = &report["failures"];
    assert_eq!((checked.code, failures), (0, &json!([])), "{failures:#}");
    let passed = |name: &str| report["totals"][name]["passed"].as_u64().unwrap();
    assert!(passed("evm-rpc") > 500, "{}", report["totals"]);
}

/// Somebody else's registries with the canonical ABI: identity, reputation and validation.
fn of_canonical_abi(standing: &EvmAnvil) -> [String; 3] {
    let behind = |name: &str, words: &[&str]| {
        let code = create(standing, name, name, words);
        create(standing, "CanonicalAbi", "CanonicalAbi", &[&code])
    };
    let identity = behind("IdentityRegistry", &[]);
    let reputation = behind("ReputationRegistry", &[&identity]);
    let validation = behind("ValidationRegistry", &[&identity]);
    [identity, reputation, validation]
}

fn conform_to_canonical_abi(standing: &EvmAnvil, registries: [&str; 3], more: &[&str]) -> Answer {
    let [identity, reputation, validation] = registries;
    let mut arguments = vec!["conform", "--json", "--backend", "none", "--canonical-abi"];
    arguments.extend(["--evm-rpc", standing.ledger().url()]);
    arguments.extend(["--identity", identity, "--reputation", reputation]);
    if !validation.is_empty() {
        arguments.extend(["--validation", validation]);
    }
    arguments.extend(more);
    answer(&mut concord(&arguments))
}

/// Every scenario: nothing is said against a sound registry, whose refusals are texts, whose views
/// are the canonical ones, and which has none of the canonical contracts' flaws.
#[test]
fn a_sound_registry_with_the_canonical_abi_fails_nowhere() {
    // R2, R3, R16, R25
    let standing = standing();
    let registries = of_canonical_abi(&standing);
    let registries = registries.each_ref().map(String::as_str);
    let answer = conform_to_canonical_abi(&standing, registries, &[]);
    let report: Value = serde_json::from_str(&answer.stdout).expect(&answer.stderr);
    let failures = &report["failures"];
    assert_eq!((answer.code, failures), (4, &json!([])), "{failures:#}");
    assert_eq!(report["not_declared"], json!({"evm-rpc": ["authorized"]}));
    let total = &report["totals"]["evm-rpc"];
    assert!(total["passed"].as_u64().unwrap() > 1_200, "{total}");
    let not_asked = report["views"]["not_asked"]["evm-rpc"].as_array().unwrap();
    let own_names = |it: &&Value| {
        let view = it.as_str().unwrap();
        ["getVersion()", "name()", "symbol()"]
            .iter()
            .any(|name| view.ends_with(name))
    };
    assert_eq!(
        (not_asked.len(), not_asked.iter().filter(own_names).count()),
        (5, 5)
    );
}

/// What is accepted of the canonical contracts is a fault of everybody else.
#[test]
fn the_flaws_of_the_canonical_contracts_are_faults_of_others() {
    // R3, R16
    let standing = standing();
    let [identity, reputation, _] = of_canonical_abi(&standing);
    let flawed = canonical_identity(&standing);
    let over_flawed = create(
        &standing,
        "ReputationRegistry",
        "ReputationRegistry",
        &[&flawed],
    );
    let wrapping = create(
        &standing,
        "WrappingReputation",
        "WrappingReputation",
        &[&identity],
    );
    let scenarios = |names: &[&'static str]| -> Vec<&'static str> {
        names.iter().flat_map(|name| ["--scenario", name]).collect()
    };
    let consent = [
        "identity/wallet-consent-once",
        "identity/transfer-to-oneself",
    ];
    for (registries, names, rule) in [
        ([&*flawed, &*over_flawed, ""], &consent[..], "R3"),
        ([&*identity, &*wrapping, ""], &WRAPS, "R16"),
    ] {
        let answer = conform_to_canonical_abi(&standing, registries, &scenarios(names));
        assert_eq!(answer.code, 1, "{}", answer.stderr);
        let report: Value = serde_json::from_str(&answer.stdout).unwrap();
        let failures = report["failures"].as_array().unwrap();
        let named = failures.iter().map(|it| {
            let rules = it["rules"].as_array().unwrap();
            assert!(rules.contains(&json!(rule)), "{it:#}");
            it["scenario"].as_str().unwrap()
        });
        let named: BTreeSet<_> = named.collect();
        assert_eq!(named, names.iter().copied().collect(), "{failures:#?}");
    }
    let sound = [&*identity, &*reputation, ""];
    let all = [scenarios(&consent), scenarios(&WRAPS)].concat();
    assert_eq!(conform_to_canonical_abi(&standing, sound, &all).code, 0);
}

/// Behind a proxy that has a text of its own for one refusal.
fn refusing_in_own_words(standing: &EvmAnvil) -> [String; 2] {
    let identity = standing.addresses().identity.to_string();
    let reputation = standing.addresses().open_reputation.unwrap().to_string();
    let (theirs, own) = ("Already revoked", "Revoked already"); // of one length
    let reworded = |code: String| {
        assert!(code.contains(&hex::encode(theirs)));
        code.replace(&hex::encode(theirs), &hex::encode(own))
    };
    let name = "CanonicalAbi";
    let reputation = create_changed(standing, name, name, &[&reputation], reworded);
    [identity, reputation]
}

/// A refusal that only the registry's own list explains.
#[test]
fn own_refusals_have_the_classes_that_a_file_gives_them() {
    // R25
    let standing = standing();
    let [identity, reputation] = refusing_in_own_words(&standing);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("errors.json");
    let list = file.to_str().unwrap();
    let scenario = ["--scenario", "open/revoke"];
    let conform = |more: &[&str]| {
        let registries = [&*identity, &*reputation, ""];
        conform_to_canonical_abi(&standing, registries, &[&scenario, more].concat())
    };
    let unknown = conform(&[]);
    assert_eq!(unknown.code, 1, "{}", unknown.stderr);
    let report: Value = serde_json::from_str(&unknown.stdout).unwrap();
    let words = report["failures"][0]["actual"].as_str().unwrap();
    assert!(words.contains("revert `Revoked already`"), "{words}");

    let with_list = |text: &str| {
        fs::write(&file, text).unwrap();
        conform(&["--error-classes", list])
    };
    let known = with_list(r#"{"Revoked already": "AlreadyRevoked"}"#);
    assert_eq!(known.code, 0, "{}", known.stderr);
    let report: Value = serde_json::from_str(&known.stdout).unwrap();
    let used = json!({
        "name": "errors.json",
        "kind": "sha256 of the list of error classes",
        "hash": "0x7b3bc07f3c0e67791f8c6fed95a3e1ef986c0ec3ddb5b446e2ba33c926d0f81d", // by sha256sum
    });
    let artifacts = report["artifacts"].as_array().unwrap();
    assert!(artifacts.contains(&used), "{artifacts:#?}");

    let other = with_list(r#"{"Revoked already": "FeedbackNotFound"}"#);
    let report: Value = serde_json::from_str(&other.stdout).unwrap();
    let failure = &report["failures"][0];
    assert_eq!(
        (&failure["expected"], &failure["actual"]),
        (&json!("AlreadyRevoked"), &json!("FeedbackNotFound"))
    );
    let refused = with_list(r#"{"Revoked already": "Revoked"}"#);
    assert_eq!((refused.code, refused.stdout.as_str()), (2, ""));
    let words = "errors.json: `Revoked already`: `Revoked` is not an error class";
    assert!(refused.stderr.contains(words), "{refused:?}");
    let long = with_list(&format!("{{{}}}", " ".repeat(65_535)));
    fs::remove_file(&file).unwrap();
    let missing = conform(&["--error-classes", list]);
    for (answer, words) in [
        (long, "errors.json: has more than 65536 bytes\n"),
        (missing, "errors.json: not found\n"),
    ] {
        assert_eq!((answer.code, answer.stdout.as_str()), (2, ""));
        assert!(answer.stderr.contains(words), "{answer:?}");
    }
}

/// ERC-8004 leaves the order of a registration's events open. Contracts that are said to be canonical, or to be over
/// canonical ones, have the canonical order.
#[test]
fn the_registration_may_be_its_last_event_in_the_canonical_abi_of_others_only() {
    // R2
    let standing = standing();
    let file = "CanonicalIdentity";
    let implementation = create(&standing, file, "RegisteredLast", &[]);
    let identity = create(&standing, file, "CanonicalProxy", &[&implementation]);
    let conform = |dialect: &str| {
        let mut arguments = vec!["conform", "--json", "--backend", "none", dialect];
        arguments.extend([
            "--evm-rpc",
            standing.ledger().url(),
            "--identity",
            &identity,
        ]);
        arguments.extend(["--scenario", "identity/register-with-metadata"]);
        let answer = answer(&mut concord(&arguments));
        let report: Value = serde_json::from_str(&answer.stdout).expect(&answer.stderr);
        (answer.code, report["failures"].clone())
    };
    assert_eq!(conform("--canonical-abi"), (0, json!([])));
    for canonical in ["--canonical", "--canonical-identity"] {
        let (code, failures) = conform(canonical);
        assert_eq!(code, 1, "{canonical}");
        assert_eq!(failures[0]["subject"], "events", "{failures:#}");
    }
}

/// What contracts of the prepared version 2.1.0 do is tested behind a proxy. `change` changes the bytecode.
fn conform_to_later(
    standing: &EvmAnvil,
    contract: &str,
    change: impl Fn(String) -> String,
    more: &[&str],
) -> (i32, Value) {
    let file = "CanonicalIdentity";
    let implementation = create_changed(standing, file, contract, &[], change);
    let identity = create(standing, file, "CanonicalProxy", &[&implementation]);
    let mut arguments = vec!["conform", "--json", "--backend", "none", "--evm-rpc"];
    arguments.extend([standing.ledger().url(), "--identity", &identity]);
    let name = "AuthorizedReputationRegistry";
    let authorized = create(standing, name, name, &[&identity, "1"]);
    if more.contains(&"--canonical-identity") {
        arguments.extend(["--authorized", &authorized]);
    }
    arguments.extend(more);
    let answer = answer(&mut concord(&arguments));
    let report = serde_json::from_str(&answer.stdout).expect(&answer.stderr);
    (answer.code, report)
}

/// How many steps ended because a wallet has an agent already.
fn ended_by_later(report: &Value) -> usize {
    let variances = report["variances"].as_array().unwrap().iter();
    let reason = "A later version of these contracts gives a wallet to one agent only.";
    let ended = variances.filter(|it| it["reason"] == reason);
    ended
        .inspect(|it| assert_eq!(it["outcome"], "revert `wallet already assigned`"))
        .count()
}

/// A version 2.1.0 does not fail for what it adds: the run names it, plays what both versions have, and says where it ended.
#[test]
fn what_a_later_version_of_the_canonical_contracts_adds_is_named_and_fails_nothing() {
    // R2
    let standing = standing();
    let event = "MetadataReverseLookupSet(uint256,string,bytes,address)";
    // cast keccak 'AgentGreeted(uint256)'
    let unheard_of = "0xa86b5f93d8ab2a3a935e2315edda57ef5e8e59a68aaa6166b6d8de6335539562";
    for (contract, dialect, filter) in [
        ("CanonicalIdentityNext", "--canonical", "identity/"),
        ("CanonicalIdentityUnheardOf", "--canonical", "identity/"),
        (
            "CanonicalIdentityUnheardOf",
            "--canonical-identity",
            "authorized/",
        ),
    ] {
        let more = [dialect, "--filter", filter];
        let (code, report) = conform_to_later(&standing, contract, |code| code, &more);
        let failures = &report["failures"];
        assert_eq!(failures, &json!([]), "{contract}: {failures:#}");
        assert!([0, 4].contains(&code), "{contract}: {code}");
        let passed = &report["totals"]["evm-rpc"]["passed"];
        assert!(passed.as_u64().unwrap() > 200, "{contract}: {passed}");
        assert!(ended_by_later(&report) > 0, "{contract}");
        let news = &report["news"]["evm-rpc"][0];
        let greetings = news["events"][unheard_of].as_u64();
        let is_unheard_of = contract == "CanonicalIdentityUnheardOf";
        assert_eq!(
            greetings.is_some_and(|it| it > 50),
            is_unheard_of,
            "{news:#}"
        );
        let mut events = json!({ event: 0 });
        if let Some(count) = greetings {
            events[unheard_of] = json!(count);
        }
        let expected = json!({
            "contract": "IdentityRegistry",
            "version": "2.1.0",
            "views": ["agentByMetadata(string,bytes)", "getOwnerFromAgentWallet(address)"],
            "functions": ["setReverseLookup(uint256,string,bytes)"],
            "events": events,
        });
        assert_eq!(report["news"], json!({ "evm-rpc": [expected] }));
        let version = json!({
            "participant": "evm-rpc", "name": "IdentityRegistry version", "value": "2.1.0",
        });
        assert!(report["facts"].as_array().unwrap().contains(&version));
    }
}

/// Under the known version's number nothing is forgiven, and the known version has nothing new.
#[test]
fn the_known_version_may_not_refuse_what_a_later_one_does() {
    // R25
    let standing = standing();
    let more = [
        "--canonical",
        "--scenario",
        "identity/metadata-of-two-agents",
    ];
    let (later, known) = ("322e312e30", "322e302e30"); // 2.1.0 and 2.0.0 in hexadecimal
    let renamed = |code: String| {
        assert!(code.contains(later));
        code.replace(later, known)
    };
    let (code, report) = conform_to_later(&standing, "CanonicalIdentityNext", renamed, &more);
    assert_eq!((code, ended_by_later(&report)), (1, 0));
    let words = report["failures"][0]["actual"].as_str().unwrap();
    assert!(words.contains("wallet already assigned"), "{words}");
    let (code, report) = conform_to_later(&standing, "CanonicalIdentity", |code| code, &more);
    assert_eq!((code, &report["news"]), (0, &json!({})), "{report:#}");
}

/// An account of anvil's own.
const KEY: &str = "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";

/// `verify` plays the scenarios flagged `read_only` but for open feedback, for which an attached
/// deployment has no registry.
#[test]
fn verify_plays_the_scenarios_of_an_attached_deployment() {
    let standing = standing();
    let identity = canonical_identity(&standing);
    let folder = tempfile::tempdir().unwrap();
    let deploy = |arguments: &[&str]| {
        let mut command = concord(&["deploy"]);
        command
            .args(arguments)
            .args(["--chain", "eip155:31337", "--json"])
            .current_dir(clone_root())
            .env("CONCORD_RPC_URL", standing.ledger().url())
            .env("CONCORD_DEPLOYMENTS", folder.path())
            .env("CONCORD_EVM_PRIVATE_KEY", KEY);
        answer(&mut command)
    };
    let sending = ["--yes", "--allow-mainnet", "--confirmations", "1"];
    let applied = deploy(&[&["apply", "--identity", &identity], &sending[..]].concat());
    assert_eq!(applied.code, 0, "{}", applied.stderr);
    let verified = deploy(&["verify"]);
    assert_eq!(verified.code, 0, "{}{}", verified.stdout, verified.stderr);
    let checks: Value = serde_json::from_str(&verified.stdout).unwrap();
    let checks = checks.as_array().unwrap().iter();
    let steps: Vec<&str> = checks
        .filter(|check| check["subject"] == "lifecycle/nothing-exists")
        .map(|check| check["fact"].as_str().unwrap())
        .collect();
    // Of 15 steps, those 10 to 12 and 16 are of open feedback.
    assert_eq!(steps.len(), 11, "{steps:?}");
    assert!(steps.contains(&"step 13, validation_request"), "{steps:?}");
    assert!(!steps.iter().any(|step| step.contains("open")), "{steps:?}");
}

/// Every scenario in which the canonical average wraps.
const WRAPS: [&str; 7] = [
    "open/summary-does-not-wrap",
    "open/summary-does-not-wrap-at-one-less",
    "open/summary-does-not-wrap-below-zero",
    "open/summary-does-not-wrap-from-18",
    "open/summary-at-the-end-of-128-bits",
    "open/summary-at-the-lower-end-of-128-bits",
    "open/summary-small-among-large",
];

fn open_summaries(standing: &EvmAnvil, registries: [&str; 2], more: &[&str]) -> (i32, Value) {
    let [identity, reputation] = registries;
    let mut arguments = vec!["conform", "--json", "--backend", "none", "--evm-rpc"];
    arguments.extend([standing.ledger().url(), "--identity", identity]);
    arguments.extend(["--reputation", reputation]);
    arguments.extend(WRAPS.iter().flat_map(|name| ["--scenario", name]));
    arguments.extend(more);
    let answer = answer(&mut concord(&arguments));
    let report = serde_json::from_str(&answer.stdout).expect(&answer.stderr);
    (answer.code, report)
}

/// R16: the canonical contracts report a negative average of positive feedback here. A contract
/// with that arithmetic shows it as a known difference; one without it may not pass for them.
#[test]
fn the_wrap_of_the_canonical_average_is_a_known_difference() {
    let standing = standing();
    let canonical = canonical_identity(&standing);
    let wrapping = create(
        &standing,
        "WrappingReputation",
        "WrappingReputation",
        &[&canonical],
    );
    let registries = [&*canonical, &*wrapping];
    let (code, known) = open_summaries(&standing, registries, &["--canonical"]);
    let found = (code, &known["agree"], &known["failures"]);
    assert_eq!(found, (0, &json!(true), &json!([])), "{known:#}");
    let reason = "The canonical contracts cut the average to 128 bits.";
    let variances = known["variances"].as_array().unwrap();
    for variance in variances {
        assert_eq!(variance["participant"], "evm-rpc");
        assert_eq!(variance["reason"], reason);
    }
    let shown: BTreeSet<_> = variances.iter().map(|it| it["scenario"].as_str()).collect();
    assert_eq!(shown, WRAPS.into_iter().map(Some).collect());

    let identity = standing.addresses().identity.to_string();
    let sound = standing.addresses().open_reputation.unwrap().to_string();
    let (code, ours) = open_summaries(&standing, [&identity, &sound], &["--canonical"]);
    assert_eq!(code, 1);
    let failures = ours["failures"].as_array().unwrap();
    assert_eq!(failures.len(), WRAPS.len(), "{failures:#?}");
    let passes = failures.iter().map(|it| {
        assert_eq!(it["subject"], "unexpected_pass");
        it["scenario"].as_str()
    });
    assert_eq!(passes.collect::<BTreeSet<_>>(), shown);
    assert_eq!(open_summaries(&standing, [&identity, &sound], &[]).0, 0);
}
