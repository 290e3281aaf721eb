use crate::invocation::{Answer, clone_root};
use crate::live_svm::deployed::{Build, CHAIN, Deployed, LIVE, SOL, assert_nothing_secret, funder};
use concord_harness::{
    backend::{RunSecret, svm::Keyring},
    live::Record,
    model::{Chain, Verdict},
    scenario::{self, Flag, Scenario},
};
use concord_testkit::http::ask;
use serde_json::{Value, json};
use solana_address::Address;
use solana_signer::Signer;
use std::{collections::BTreeSet, fs, time::Duration};

pub const FEW: &[&str] = &[
    "--scenario",
    "identity/transfer-by-stranger",
    "--scenario",
    "validation/by-others",
];

pub fn report(answer: &Answer) -> Value {
    serde_json::from_str(&answer.stdout).expect(&answer.stderr)
}

fn assert_agrees(answer: &Answer, scenarios: usize) {
    assert_eq!(answer.code, 0, "{}{}", answer.stdout, answer.stderr);
    let report = report(answer);
    assert_eq!(report["agree"], true);
    assert_eq!(report["participants"], json!(["model", "svm-live"]));
    let told = report["scenarios"].as_array().unwrap().len();
    assert_eq!(told, scenarios, "{report:#}");
    let passed = |name: &str| report["totals"][name]["passed"].as_u64().unwrap();
    assert!(passed("svm-live") > 0);
    assert_eq!(passed("svm-live"), passed("model"));
}

/// The accounts of a run, by its record and the funder's key.
fn accounts(record: &Record) -> Vec<Address> {
    let secret = funder();
    let secret = RunSecret::of_run(secret.secret_bytes(), CHAIN, &record.nonce.0);
    let keys = Keyring::of_run(secret);
    record
        .actors
        .iter()
        .map(|actor| keys.actor(actor))
        .collect()
}

/// What they have together, in lamports.
fn left(deployed: &Deployed, record: &Record) -> u64 {
    let accounts = accounts(record).into_iter();
    accounts.map(|account| deployed.balance(&account)).sum()
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
        .filter(|it| it.chains().any(|chain| chain == Chain::Svm))
        .collect()
}

/// How much is accepted, and how many accounts do anything: each gets a gift and returns it.
fn transactions(scenarios: &[Scenario]) -> (usize, usize) {
    let steps = scenarios.iter().flat_map(|scenario| &scenario.steps);
    let doing = steps.filter(|it| it.operation.only_on() != Some(Chain::Evm));
    let doing: Vec<_> = doing.filter(|it| it.operation.by().is_some()).collect();
    let accounts: BTreeSet<_> = doing.iter().filter_map(|it| it.operation.by()).collect();
    let is_accepted = |step: &&&scenario::TimedStep| {
        let expected = step.source.expectation(Chain::Svm);
        expected.is_some_and(|it| it.outcome == Verdict::Ok)
    };
    (doing.iter().filter(is_accepted).count(), accounts.len())
}

#[test]
fn every_live_scenario_agrees_on_a_deployment() {
    let deployed = Deployed::start();
    let before = deployed.balance(&funder().pubkey());
    let sent = deployed.recorder.sends();
    let scenarios = flagged();
    let played = deployed.live(&["--json"]);
    assert_agrees(&played, scenarios.len());
    let (accepted, accounts) = transactions(&scenarios);
    assert_eq!(deployed.recorder.sends() - sent, accepted + 2 * accounts);
    for method in deployed.recorder.methods() {
        let is_standard = method.starts_with("get") || method.ends_with("Transaction");
        assert!(is_standard && method != "getProgramAccounts", "{method}");
    }
    assert!(!deployed.record().exists());
    let spent = before - deployed.balance(&funder().pubkey());
    assert!(spent < SOL / 2, "{spent} lamports");
    assert_nothing_secret(&played.stdout);
    assert_nothing_secret(&played.stderr);
    // What the first run left does not matter to the second.
    assert_agrees(&deployed.live(&[FEW, &["--json"]].concat()), 2);
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
    let words = "not taken back: a gift: ";
    assert!(cut_off.stderr.contains(words), "{}", cut_off.stderr);
    record(deployed)
}

const HASTY: &[&str] = &["--give-up-after", "1"];
/// So that a block hash is valid for longer than two runs take.
const SLOW: Duration = Duration::from_millis(300);

/// HARN-58: money in flight is not forgotten, whether the run that sent it was killed or gave up.
#[test]
fn a_gift_that_lands_after_its_run_comes_back_with_the_next() {
    let deployed = Deployed::at_rest(Build::FIRST, SLOW);
    for break_off_after in [killed_after, cut_off_after] {
        ask(deployed.port(), "local_hold", json!([true]));
        let record = break_off_after(&deployed, 1);
        let early = deployed.live(&[FEW, HASTY].concat());
        let answer = (early.code, early.stdout.as_str());
        assert_eq!(answer, (3, ""), "{}", early.stderr);
        assert!(deployed.record().exists());
        assert_eq!(left(&deployed, &record), 0);

        ask(deployed.port(), "local_hold", json!([false]));
        let had = left(&deployed, &record);
        assert!(had > SOL / 100, "{had} lamports");
        let leaping = deployed.leap();
        assert_agrees(&deployed.live(&[FEW, &["--json"]].concat()), 2);
        drop(leaping);
        assert_eq!(left(&deployed, &record), 0);
        assert!(!deployed.record().exists());
    }
}

#[test]
fn what_a_killed_run_had_given_comes_back_with_the_next() {
    let deployed = Deployed::start();
    // After the first gift; and among the scenarios' own, when all accounts have been funded.
    for transactions in [1, 8] {
        let record = killed_after(&deployed, transactions);
        let had = left(&deployed, &record);
        assert!(had > SOL / 100, "{had} lamports");
        let next = deployed.live(&[FEW, &["--json"]].concat());
        assert_agrees(&next, 2);
        let words = "an earlier run did not end";
        assert!(next.stderr.contains(words), "{}", next.stderr);
        assert_eq!(left(&deployed, &record), 0);
        assert!(!deployed.record().exists());
    }
}

/// HARN-58: behind one endpoint are nodes that have not seen the gift when others have.
#[test]
fn money_that_a_node_has_not_seen_yet_is_not_forgotten() {
    let deployed = Deployed::start();
    let record = killed_after(&deployed, 1);
    let funder = funder().pubkey().to_string();
    deployed.recorder.let_balances_lag(Some(funder));
    let early = deployed.live(FEW);
    let answer = (early.code, early.stdout.as_str());
    assert_eq!(answer, (3, ""), "{}", early.stderr);
    let words = "Minimum context slot has not been reached";
    assert!(early.stderr.contains(words), "{}", early.stderr);
    assert!(deployed.record().exists());
    let had = left(&deployed, &record);
    assert!(had > SOL / 100, "{had} lamports");

    deployed.recorder.let_balances_lag(None);
    assert_agrees(&deployed.live(&[FEW, &["--json"]].concat()), 2);
    assert_eq!(left(&deployed, &record), 0);
    assert!(!deployed.record().exists());
}

#[test]
fn money_that_could_not_be_taken_back_is_exit_code_3_beside_the_matrix() {
    let deployed = Deployed::start();
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
