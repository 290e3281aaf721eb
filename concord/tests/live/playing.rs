use crate::invocation::{self, Answer, clone_root};
use crate::live::deployed::{
    CHAIN, Deployed, ETHER, LIVE, address_in, assert_nothing_secret, funder,
};
use alloy::primitives::Address;
use concord_harness::{
    backend::{RunSecret, evm::Keyring},
    live::Record,
    model::{Chain, Verdict},
    scenario::{self, Flag, Scenario},
};
use serde_json::{Value, json};
use std::{collections::BTreeSet, fs};

const FEW: &[&str] = &[
    "--scenario",
    "identity/transfer-by-stranger",
    "--scenario",
    "validation/by-others",
];

fn report(answer: &Answer) -> Value {
    serde_json::from_str(&answer.stdout).expect(&answer.stderr)
}

fn assert_agrees(answer: &Answer, scenarios: usize) {
    assert_eq!(answer.code, 0, "{}{}", answer.stdout, answer.stderr);
    let report = report(answer);
    assert_eq!(report["agree"], true);
    assert_eq!(report["participants"], json!(["model", "evm-live"]));
    let told = report["scenarios"].as_array().unwrap().len();
    assert_eq!(told, scenarios, "{report:#}");
    let passed = |name: &str| report["totals"][name]["passed"].as_u64().unwrap();
    assert_eq!(passed("evm-live"), passed("model"));
}

/// The accounts of a run, by its record and the funder's key.
fn accounts(record: &Record) -> Vec<Address> {
    let secret = RunSecret::of_run(
        funder().to_bytes().as_slice(),
        &record.chain.to_string(),
        &record.nonce.0,
    );
    let keys = Keyring::Derived(secret);
    let of_actor = |actor| keys.key(actor).address();
    record.actors.iter().map(of_actor).collect()
}

/// What they have together, in wei.
fn left(deployed: &Deployed, record: &Record) -> u128 {
    let accounts = accounts(record).into_iter();
    accounts.map(|account| deployed.balance(account)).sum()
}

fn record(deployed: &Deployed) -> Record {
    let text = fs::read_to_string(deployed.record()).unwrap();
    assert_nothing_secret(&text);
    serde_json::from_str(&text).unwrap()
}

fn flagged() -> Vec<Scenario> {
    let files = scenario::find_files(&clone_root().join("tests/scenarios")).unwrap();
    let scenarios = files.iter().map(|file| scenario::load(file).unwrap());
    scenarios
        .filter(|it| it.flags.contains(&Flag::Live))
        .filter(|it| it.chains().any(|chain| chain == Chain::Evm))
        .collect()
}

/// How much is accepted, and how many accounts send any of it: each gets a gift and returns it.
fn transactions(scenarios: &[Scenario]) -> (usize, usize) {
    let senders: Vec<_> = scenarios
        .iter()
        .flat_map(|scenario| &scenario.steps)
        .filter(|it| it.source.expectation(Chain::Evm).unwrap().outcome == Verdict::Ok)
        .filter_map(|it| it.operation.by())
        .collect();
    let accounts: BTreeSet<_> = senders.iter().collect();
    (senders.len(), accounts.len())
}

#[test]
fn every_live_scenario_agrees_on_a_deployment_by_questions_that_every_node_answers() {
    let deployed = Deployed::start(&[]);
    let before = deployed.balance(funder().address());
    let sent = deployed.recorder.sends();
    let scenarios = flagged();
    let played = deployed.live(&["--json"]);
    assert_agrees(&played, scenarios.len());
    let (accepted, accounts) = transactions(&scenarios);
    assert_eq!(deployed.recorder.sends() - sent, accepted + 2 * accounts);
    for method in deployed.recorder.methods() {
        assert!(method.starts_with("eth_"), "{method}");
    }
    assert!(!deployed.record().exists());
    let spent = before - deployed.balance(funder().address());
    assert!(spent < ETHER / 50, "{spent} wei");
    assert_nothing_secret(&played.stdout);
    assert_nothing_secret(&played.stderr);
    // What the first run left does not matter to the second.
    assert_agrees(&deployed.live(&[FEW, &["--json"]].concat()), 2);
}

#[test]
fn scenarios_agree_where_blocks_take_their_time() {
    let deployed = Deployed::start(&["--block-time", "1"]);
    assert_agrees(&deployed.live(&[FEW, &["--json"]].concat()), 2);
    assert!(!deployed.record().exists());
}

/// A reputation registry that asks another identity registry: to it, our agents do not exist.
#[test]
fn a_registry_that_differs_is_named() {
    let deployed = Deployed::start(&[]);
    let elsewhere = tempfile::tempdir().unwrap();
    let applied = invocation::answer(
        deployed
            .command(&["deploy", "apply", "--chain", CHAIN, "--yes"])
            .args(["--confirmations", "1", "--salt", "elsewhere"])
            .env("CONCORD_DEPLOYMENTS", elsewhere.path()),
    );
    assert_eq!(applied.code, 0, "{}", applied.stderr);
    let other = address_in(elsewhere.path(), "ReputationRegistry");
    let code = deployed.ask("eth_getCode", json!([other, "latest"]));
    let registry = deployed.address("ReputationRegistry");
    deployed.ask("anvil_setCode", json!([registry, code]));

    let played = deployed.live(&["--json", "--scenario", "open/summary-does-not-wrap"]);
    assert_eq!(played.code, 1, "{}", played.stderr);
    let failure = &report(&played)["failures"][0];
    assert_eq!(failure["participant"], "evm-live");
    assert_eq!(failure["operation"], "give_open_feedback");
    assert_eq!(
        (&failure["expected"], &failure["actual"]),
        (&json!("ok"), &json!("AgentNotFound"))
    );
    assert!(!deployed.record().exists());
}

/// Kills a run of a few scenarios after so many transactions.
fn killed_after(deployed: &Deployed, transactions: usize) -> Record {
    let sent = deployed.recorder.sends();
    let killed = deployed.command(&[LIVE, FEW].concat()).spawn().unwrap();
    deployed
        .recorder
        .kill_after(sent + transactions, killed.id());
    assert_eq!(killed.wait_with_output().unwrap().status.code(), None);
    record(deployed)
}

/// A run whose node takes so many transactions and no more.
fn cut_off_after(deployed: &Deployed, transactions: usize) -> Record {
    let sent = deployed.recorder.sends();
    deployed.recorder.refuse_after(sent + transactions);
    let cut_off = deployed.live(&[FEW, HASTY].concat());
    deployed.recorder.refuse_nothing();
    assert_eq!(cut_off.code, 3, "{}", cut_off.stderr);
    for words in [
        "not taken back: a gift: ",
        " is in no block after 2 seconds; the last transfer: ",
        "the node takes no transaction",
    ] {
        assert!(cut_off.stderr.contains(words), "{}", cut_off.stderr);
    }
    record(deployed)
}

const HASTY: &[&str] = &["--give-up-after", "2"];

/// HARN-58: money in flight is not forgotten, whether the run that sent it was killed or gave up.
#[test]
fn a_gift_that_lands_after_its_run_comes_back_with_the_next() {
    let deployed = Deployed::start(&[]);
    for break_off_after in [killed_after, cut_off_after] {
        deployed.ask("evm_setAutomine", json!([false]));
        let record = break_off_after(&deployed, 1);
        let early = deployed.live(&[FEW, HASTY].concat());
        let answer = (early.code, early.stdout.as_str());
        assert_eq!(answer, (3, ""), "{}", early.stderr);
        assert!(deployed.record().exists());
        assert_eq!(left(&deployed, &record), 0);

        deployed.ask("evm_setAutomine", json!([true]));
        deployed.ask("evm_mine", json!([]));
        let had = left(&deployed, &record);
        assert!(had > ETHER / 10_000, "{had} wei");
        assert_agrees(&deployed.live(&[FEW, &["--json"]].concat()), 2);
        let left = left(&deployed, &record);
        assert!(left < had / 10, "{left} of {had} wei");
        assert!(!deployed.record().exists());
    }
}

#[test]
fn what_a_killed_run_had_given_comes_back_with_the_next() {
    let deployed = Deployed::start(&[]);
    // After the first gift; and among the scenarios' own, when four accounts have been funded.
    for transactions in [1, 7] {
        let record = killed_after(&deployed, transactions);
        let had = left(&deployed, &record);
        assert!(had > ETHER / 10_000, "{had} wei");
        let next = deployed.live(&[FEW, &["--json"]].concat());
        assert_agrees(&next, 2);
        let words = "an earlier run did not end";
        assert!(next.stderr.contains(words), "{}", next.stderr);
        let left = left(&deployed, &record);
        assert!(left < had / 10, "{left} of {had} wei");
        assert!(!deployed.record().exists());
    }
}

#[test]
fn money_that_could_not_be_taken_back_is_exit_code_3_beside_the_matrix() {
    let deployed = Deployed::start(&[]);
    let sent = deployed.recorder.sends();
    let mut few = flagged();
    few.retain(|it| FEW.contains(&&*it.name));
    let (accepted, accounts) = transactions(&few);
    deployed.recorder.refuse_after(sent + accepted + accounts);
    let arguments = [FEW, &["--json", "--give-up-after", "3"]].concat();
    let played = deployed.live(&arguments);
    assert_eq!(played.code, 3, "{}", played.stderr);
    assert_eq!(report(&played)["agree"], true);
    for words in ["not taken back: ", "still have what they were given"] {
        assert!(played.stderr.contains(words), "{}", played.stderr);
    }
    assert!(deployed.record().exists());

    // Nothing new is begun before the old run's money is back.
    let refused = deployed.live(&arguments);
    let answer = (refused.code, refused.stdout.as_str());
    assert_eq!(answer, (3, ""), "{}", refused.stderr);
    deployed.recorder.refuse_nothing();
    assert_agrees(&deployed.live(&[FEW, &["--json"]].concat()), 2);
    assert!(!deployed.record().exists());
}

#[test]
fn a_report_that_cannot_be_written_is_found_before_anything_is_sent() {
    let deployed = Deployed::start(&[]);
    let sent = deployed.recorder.sends();
    let refused = deployed.live(&[FEW, &["--html", "/nonexistent/report.html"]].concat());
    assert_eq!((refused.code, refused.stdout.as_str()), (2, ""));
    assert!(refused.stderr.contains("cannot be written"), "{refused:?}");
    assert_eq!(deployed.recorder.sends(), sent);
}

#[test]
fn refuses_to_go_on_with_another_key_where_a_run_did_not_end() {
    let deployed = Deployed::start(&[]);
    killed_after(&deployed, 1);
    let sent = deployed.recorder.sends();
    let stranger = deployed
        .command(&[LIVE, FEW].concat())
        .env("CONCORD_EVM_PRIVATE_KEY", "1".repeat(64))
        .output()
        .unwrap();
    assert_eq!(stranger.status.code(), Some(2));
    let words = String::from_utf8(stranger.stderr).unwrap();
    assert!(words.contains("takes back what is left"), "{words}");
    assert_eq!(deployed.recorder.sends(), sent);
    assert!(deployed.record().exists());
}
