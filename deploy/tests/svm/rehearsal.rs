//! plan, apply, apply again, verify, status.
use crate::shared::fault_proxy::{FaultAction, FaultProxy};
use crate::shared::process::{clone_root, json_file};
use crate::svm::{
    cluster::{Cluster, LOCALNET, deployer, program_data, program_key, registry},
    workplace::{Workplace, assert_deployed, built},
};
use concord_testkit::http::post;
use serde_json::{Value, json};
use solana_keypair::Keypair;
use solana_loader_v3_interface::instruction as loader;
use solana_signer::Signer;
use std::fs;

fn amount(value: &Value) -> u128 {
    value.as_str().unwrap().parse().unwrap()
}

fn steps(plan: &Value) -> &Vec<Value> {
    plan["steps"].as_array().unwrap()
}

#[test]
fn first_a_plan_then_apply_then_nothing_then_verify_and_status() {
    let cluster = Cluster::start();
    let workplace = Workplace::at(&cluster);
    let plan = workplace.plan(&["--json"]).assert_done().json();
    let before = cluster.balance(&deployer().pubkey());

    let applied = workplace.apply(&["--json"]).assert_done().json();
    assert_eq!(steps(&plan).len(), steps(&applied).len());
    let mut spent = 0;
    for (planned, landed) in std::iter::zip(steps(&plan), steps(&applied)) {
        assert_eq!(planned["id"], landed["id"]);
        assert_eq!(planned["address"], landed["address"]);
        let cost = amount(&landed["landing"]["cost"]);
        assert!(
            cost > 0 && cost <= amount(&planned["cost"]),
            "{planned} {landed}"
        );
        spent += cost;
    }
    let after = cluster.balance(&deployer().pubkey());
    assert_eq!(u128::from(before - after), spent);
    // Not a lamport more than what keeps them for ever.
    let program = program_key().pubkey();
    assert_eq!(cluster.balance(&program), cluster.rent(36));
    let data = cluster.balance(&program_data());
    assert_eq!(data, cluster.rent(45 + built().len()));
    assert_deployed(&cluster, &workplace);
}

/// The steps are those of the loader: one buffer, a write for each piece, the program; then ours.
#[test]
fn a_plan_names_every_step_and_its_address() {
    let cluster = Cluster::start();
    let plan = Workplace::at(&cluster)
        .plan(&["--json"])
        .assert_done()
        .json();
    let ids: Vec<&str> = steps(&plan)
        .iter()
        .map(|step| step["id"].as_str().unwrap())
        .collect();
    let writes = built().len().div_ceil(960);
    assert_eq!(ids.len(), writes + 3);
    assert_eq!(ids[..2], ["buffer", "buffer-write-0001"]);
    assert_eq!(ids[writes], format!("buffer-write-{writes:04}"));
    assert_eq!(ids[writes + 1..], ["program", "registry"]);
    let at = |id| steps(&plan).iter().find(|step| step["id"] == id).unwrap()["address"].clone();
    assert_eq!(at("program"), program_key().pubkey().to_string());
    assert_eq!(at("registry"), registry().to_string());
    assert_eq!(at("buffer"), at("buffer-write-0001"));
}

#[test]
fn a_plan_sends_nothing_and_adds_up() {
    let cluster = Cluster::start();
    let proxy = FaultProxy::start(cluster.port(), |_| FaultAction::Forward);
    let workplace = Workplace::at_url(&proxy.url());
    let plan = workplace.plan(&["--json"]).assert_done().json();
    assert_eq!(proxy.times("sendTransaction"), 0);
    assert_eq!(proxy.times("simulateTransaction"), 1);
    cluster.assert_nothing_was_sent();
    assert!(!workplace.run_file().exists());
    let mut left = amount(&plan["balance"]);
    for step in steps(&plan) {
        left -= amount(&step["cost"]);
        assert_eq!(amount(&step["balanceAfter"]), left, "{step}");
    }
    assert_eq!(amount(&plan["balance"]) - amount(&plan["total"]), left);
}

/// What cannot be seen in the table: what built the program, and for which runtime.
#[test]
fn the_table_folds_the_writes_and_the_notes_name_toolchain_and_sbpf_version() {
    let cluster = Cluster::start();
    let text = Workplace::at(&cluster)
        .plan(&[])
        .assert_done()
        .stdout
        .clone();
    let build = json_file(&clone_root().join("target/deploy/agent_registry.build.json"));
    let version = built()[48]; // e_flags
    let writes = built().len().div_ceil(960);
    for words in [
        format!("buffer-write-0001 to buffer-write-{writes:04}"),
        format!("{writes} × (3000 + 0)"),
        format!("SHA-256 0x{}", build["sha256"].as_str().unwrap()),
        format!("sBPF version {version}"),
        build["toolchain"].as_str().unwrap().to_owned(),
        "the deployer stays its upgrade authority".to_owned(),
    ] {
        assert!(text.contains(&words), "{words} is not in {text}");
    }
    assert_eq!(
        text.lines()
            .filter(|line| line.starts_with("buffer-write"))
            .count(),
        1
    );
}

#[test]
fn the_address_book_keeps_to_its_schema() {
    let cluster = Cluster::start();
    let workplace = Workplace::at(&cluster);
    workplace.apply(&[]).assert_done();
    let schema = json_file(&clone_root().join("deployments/addresses.schema.json"));
    let book = json_file(&workplace.deployments().join("addresses.json"));
    assert!(jsonschema::is_valid(&schema, &book), "{book}");
    let explorer = workplace
        .deployments()
        .join("explorer/solana-localnet/AgentRegistry.json");
    assert_eq!(json_file(&explorer)["bytes"], built().len());
}

/// Somebody sends lamports to an address before anything stands there: the account cannot be
/// created whole any more, but it can be opened.
#[test]
fn lamports_at_an_address_do_not_keep_a_program_from_it() {
    let cluster = Cluster::start();
    let workplace = Workplace::at(&cluster);
    let plan = workplace.plan(&["--json"]).assert_done().json();
    for step in steps(&plan) {
        if ["buffer", "program", "registry"].contains(&step["id"].as_str().unwrap()) {
            let airdrop = json!([step["address"], 1_000_000]);
            cluster.ask("requestAirdrop", airdrop);
        }
    }
    let before = cluster.signatures().len();
    assert_eq!(before, 0);
    workplace.apply(&[]).assert_done();
    assert_deployed(&cluster, &workplace);
}

/// The address book with one value changed.
fn tamper(workplace: &Workplace, pointer: &str, value: &Value) {
    let path = workplace.deployments().join("addresses.json");
    let mut book = json_file(&path);
    let chain = &mut book["chains"][LOCALNET];
    *chain.pointer_mut(pointer).unwrap() = value.clone();
    fs::write(path, book.to_string()).unwrap();
}

/// What `verify` finds to be another than it should, and every drift that `status` shows.
fn differing(workplace: &Workplace) -> (Vec<String>, Vec<String>) {
    let [verified, status] = ["verify", "status"].map(|command| {
        let answer = workplace.run(&[command, "--json"]);
        assert_eq!(answer.code, Some(1), "{}", answer.stderr);
        answer.json().as_array().unwrap().clone()
    });
    let checks = verified
        .iter()
        .filter(|check| check["expected"] != check["found"])
        .filter(|check| !check["subject"].as_str().unwrap().contains('/')); // a scenario that was played
    let facts = checks.map(|check| format!("{} {}", check["subject"], check["fact"]));
    let drifts = status.iter().filter(|row| !row["drift"].is_null());
    let drifts = drifts.map(|row| format!("{}: {}", row["title"], row["drift"]));
    let plain = |text: String| text.replace('"', "");
    (facts.map(plain).collect(), drifts.map(plain).collect())
}

#[test]
fn verify_and_status_see_what_the_book_has_otherwise() {
    let cluster = Cluster::start();
    let workplace = Workplace::at(&cluster);
    workplace.apply(&[]).assert_done();
    let good = workplace.recorded();
    let another = Keypair::new_from_array([8; 32]).pubkey();

    let pointer = "/contracts/AgentRegistry/settings/registry";
    for value in [json!(another.to_string()), json!(true)] {
        tamper(&workplace, pointer, &value);
        let (facts, drifts) = differing(&workplace);
        assert_eq!(facts, ["registry account address"]);
        assert_eq!(drifts, ["registry account: another address on record"]);
    }
    tamper(&workplace, "/contracts/AgentRegistry/settings", &json!({}));
    let (facts, drifts) = differing(&workplace);
    assert_eq!(facts, ["registry account address"]);
    assert_eq!(drifts, ["registry account: not on record"]);
    tamper(&workplace, "", &good);

    // It was handed over behind the book's back.
    let give = loader::set_upgrade_authority(
        &program_key().pubkey(),
        &deployer().pubkey(),
        Some(&another),
    );
    cluster.carry_out(&[give], &[]);
    cluster.ask("local_advance", json!([64])); // and that is final
    let words = "AgentRegistry: another upgrade authority than on record";
    let (facts, drifts) = differing(&workplace);
    assert_eq!(facts, ["AgentRegistry upgrade authority"]);
    assert_eq!(drifts, [words]);
    tamper(&workplace, "/settings/upgradeAuthority", &json!("none"));
    assert_eq!(differing(&workplace).1, [words]);
    tamper(
        &workplace,
        "/settings/upgradeAuthority",
        &json!(another.to_string()),
    );
    for command in ["verify", "status"] {
        workplace.run(&[command]).assert_done();
    }
}

/// The upgrade authority can close the program. Then there is no code, and the id cannot be used again.
#[test]
fn verify_and_status_see_that_the_program_was_closed() {
    let cluster = Cluster::start();
    let workplace = Workplace::at(&cluster);
    workplace.apply(&[]).assert_done();
    let (program, payer) = (program_key().pubkey(), deployer().pubkey());
    let close = loader::close_any(&program_data(), &payer, Some(&payer), Some(&program), false);
    cluster.carry_out(&[close], &[]);
    cluster.ask("local_advance", json!([64])); // and that is final
    let (facts, drifts) = differing(&workplace);
    let expected = ["code hash", "code", "upgrade authority"];
    assert_eq!(facts, expected.map(|fact| format!("AgentRegistry {fact}")));
    let words = "AgentRegistry: no program, and the address is taken";
    assert_eq!(drifts, [words]);
    let shown = workplace.run(&["verify"]);
    let words = "no program with its bytes at";
    assert!(shown.stdout.contains(words), "{}", shown.stdout);
    let refused = workplace.apply(&[]);
    refused.assert_refused(2, &format!("program: other code is at {program}"));
}

fn ask(port: u16, method: &str, params: &Value) -> Value {
    let question = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let answer = post(port, question.to_string().as_bytes());
    serde_json::from_slice::<Value>(&answer).unwrap()["result"].clone()
}

/// The account at the registry's address is of the program, and does not decode.
#[test]
fn verify_and_status_see_a_registry_that_does_not_decode() {
    let cluster = Cluster::start();
    let workplace = Workplace::at(&cluster);
    workplace.apply(&[]).assert_done();
    let port = cluster.port();
    let proxy = FaultProxy::start(port, move |question| {
        let keys = question.params[0].as_array();
        let at = keys.and_then(|it| it.iter().position(|key| *key == registry().to_string()));
        let ("getMultipleAccounts", Some(at)) = (&*question.method, at) else {
            return FaultAction::Forward;
        };
        let mut accounts = ask(port, &question.method, &question.params);
        accounts["value"][at]["data"][0] = json!("AAAA"); // three zeros
        FaultAction::Answer(accounts)
    });
    let workplace = workplace.to(&proxy.url());
    let (facts, drifts) = differing(&workplace);
    let parts = [
        "chain",
        "chain word",
        "authority",
        "proposed authority",
        "payment tokens",
        "facilitators",
    ];
    assert_eq!(facts, parts.map(|part| format!("registry account {part}")));
    assert_eq!(drifts, ["registry account: it does not decode"]);
    let refused = workplace.apply(&[]);
    refused.assert_refused(2, &format!("registry: other code is at {}", registry()));
}

#[test]
fn verify_and_status_refuse_choices_that_are_none() {
    let cluster = Cluster::start();
    let workplace = Workplace::at(&cluster);
    workplace.apply(&[]).assert_done();
    let good = workplace.recorded();
    for (pointer, value) in [
        ("/settings/upgradeAuthority", json!("nobody")),
        ("/settings/upgradeAuthority", json!(true)),
        ("/settings/upgrade", json!("false")),
        ("/settings", json!({})),
    ] {
        tamper(&workplace, pointer, &value);
        for command in ["verify", "status"] {
            let words = "chains.solana:localnet.settings have no upgradeAuthority, upgrade";
            workplace.run(&[command]).assert_refused(2, words);
        }
        tamper(&workplace, "", &good);
    }
}
