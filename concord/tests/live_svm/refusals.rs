use crate::invocation::{Answer, clone_root};
use crate::live_svm::{
    deployed::{CHAIN, Deployed, LIVE, assert_nothing_secret, deployer, funder},
    playing::report,
};
use concord_local_cluster::Options;
use serde_json::{Value, json};
use solana_address::Address;
use solana_signer::Signer;
use std::fs;

fn refused(answer: &Answer, words: &str) {
    assert_eq!(answer.code, 2, "{answer:?}");
    assert!(answer.stderr.contains(words), "{}", answer.stderr);
    assert_nothing_secret(&answer.stderr);
}

fn checks(deployed: &Deployed, code: i32) -> Vec<Value> {
    let answer = deployed.run(&["deploy", "verify", "--chain", CHAIN, "--json"]);
    assert_eq!(answer.code, code, "{}{}", answer.stdout, answer.stderr);
    serde_json::from_str(&answer.stdout).unwrap()
}

fn refuses_before_anything_is_sent(deployed: &Deployed) {
    refused(
        &deployed.live(&["--budget", "0.01"]),
        "--budget allows 0.010000000 SOL: nothing was sent",
    );
    refused(
        &deployed.live(&["--budget", "0.0000000001"]),
        "not a number of SOL with at most 9 decimals",
    );
    refused(
        &deployed.live(&["--scenario", "authorized/expiry"]),
        "authorized/expiry is not flagged `live`",
    );
    let devnet = "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1";
    let elsewhere = deployed.run(&["conform", "--live", "--chain", devnet, "--yes"]);
    refused(&elsewhere, "no deployment on solana:");
    let mut command = deployed.command(LIVE);
    let without_key = command
        .env_remove("CONCORD_SOLANA_KEYPAIR")
        .output()
        .unwrap();
    assert_eq!(without_key.status.code(), Some(2));
}

/// The registry is initialized for another chain than the book says: what is signed for the one is
/// nothing to the other.
fn names_a_registry_of_another_chain(deployed: &Deployed) {
    let chain = Options::default().chain_id();
    let mut book = deployed.book();
    book["chains"][&chain] = book["chains"][CHAIN].clone();
    deployed.write_book(&book);
    let played = deployed.run(&[
        "conform",
        "--live",
        "--chain",
        &chain,
        "--yes",
        "--allow-mainnet",
        "--json",
        "--filter",
        "authorized",
    ]);
    assert_eq!(played.code, 1, "{}", played.stderr);
    let failure = &report(&played)["failures"][0];
    assert_eq!(failure["participant"], "svm-live");
    assert_eq!(failure["operation"], "give_feedback");
    assert_eq!(
        (&failure["expected"], &failure["actual"]),
        (&json!("ok"), &json!("AuthNotGranted"))
    );
}

/// The book names an account that is not a program.
fn refuses_what_is_no_program(deployed: &Deployed) {
    let mut book = deployed.book();
    let address = &mut book["chains"][CHAIN]["contracts"]["AgentRegistry"]["address"];
    *address = json!(funder().pubkey().to_string());
    deployed.write_book(&book);
    refused(
        &deployed.live(&[]),
        &format!("no code at {}", funder().pubkey()),
    );
}

#[test]
fn refusals_cost_nothing_and_faults_are_named() {
    let deployed = Deployed::start();
    let sent = deployed.recorder.sends();
    refuses_before_anything_is_sent(&deployed);
    assert_eq!(deployed.recorder.sends(), sent);
    assert!(!deployed.record().exists());
    names_a_registry_of_another_chain(&deployed);
    let sent = deployed.recorder.sends();
    refuses_what_is_no_program(&deployed);
    assert_eq!(deployed.recorder.sends(), sent);
}

/// The commands of docs/DEPLOYING.md that play on a deployment on Solana.
fn documented() -> Vec<String> {
    let document = fs::read_to_string(clone_root().join("docs/DEPLOYING.md")).unwrap();
    let is_ours =
        |line: &&str| line.starts_with("concord conform --live ") && line.contains("solana:");
    document
        .lines()
        .filter(is_ours)
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_document_s_commands_do_what_it_says() {
    let commands = documented();
    assert_eq!(commands.len(), 2, "{commands:?}");
    // The whole run has a test of its own.
    assert_eq!(commands[0], format!("concord {}", LIVE.join(" ")));
    let deployed = Deployed::start();
    for command in &commands[1..] {
        let arguments: Vec<_> = command.split(' ').skip(1).collect();
        let answer = deployed.run(&arguments);
        assert_eq!(answer.code, 0, "{command}: {answer:?}");
    }
}

#[test]
fn verify_plays_the_read_only_scenarios_and_sends_nothing() {
    let deployed = Deployed::start();
    let balance = deployed.balance(&deployer().pubkey());
    let checks = checks(&deployed, 0);
    let has = |subject: &str, fact: &str, found: &str| {
        checks.iter().any(|check| {
            check["subject"] == subject
                && check["fact"].as_str().unwrap().ends_with(fact)
                && check["found"] == found
        })
    };
    let nothing = "lifecycle/nothing-exists";
    assert!(
        has(nothing, "set_agent_uri", "AgentNotFound"),
        "{checks:#?}"
    );
    assert!(has(nothing, "validation_response", "RequestNotFound"));
    assert!(has(nothing, ", summary", "ok"));
    let first = "lifecycle/refused-before-anything-exists";
    assert!(has(first, "open_summary", "EmptyClients"));
    assert_eq!(deployed.recorder.sends(), 0);
    assert_eq!(deployed.balance(&deployer().pubkey()), balance);
}

/// A deployer without funds cannot be named as who pays for a simulated transaction, so the scenarios
/// are not examined: exit 3. A fact that differs is exit 1, whatever else could not be checked.
#[test]
fn a_drained_deployer_leaves_verify_unable_to_check() {
    let deployed = Deployed::start();
    let drained = Address::new_from_array([3; 32]);
    let mut book = deployed.book();
    let record = &mut book["chains"][CHAIN];
    record["deployer"] = json!(drained.to_string());
    deployed.write_book(&book);
    assert_cannot_examine(&deployed, 1, &drained);
    book["chains"][CHAIN]["settings"]["upgradeAuthority"] = json!(deployer().pubkey().to_string());
    deployed.write_book(&book);
    assert_cannot_examine(&deployed, 3, &drained);
    assert_eq!(deployed.recorder.sends(), 0);
}

fn assert_cannot_examine(deployed: &Deployed, code: i32, drained: &Address) {
    let verified = deployed.run(&["deploy", "verify", "--chain", CHAIN]);
    assert_eq!(verified.code, code, "{verified:?}");
    let reason = format!("the deployer on record, {drained}, has 0 lamports");
    assert!(verified.stderr.contains(&reason), "{}", verified.stderr);
    assert_nothing_secret(&verified.stderr);
}
