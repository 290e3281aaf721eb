//! `concord smoke`: one agent, one authorized feedback, one summary.
use crate::invocation::{self, Answer};
use crate::live::deployed::{CHAIN, Deployed, assert_nothing_secret};
use serde_json::{Value, json};

/// keccak256 of the first draft's `NewFeedback` event, by `cast sig-event`.
const NEW_FEEDBACK: &str = "0x54b3254e4cc01969e70376d20390cc2f6af90539d9adaa78a53ebcda17f78154";

fn smoke(deployed: &Deployed, arguments: &[&str]) -> Answer {
    deployed.run(&[&["smoke", "--chain", CHAIN], arguments].concat())
}

fn report(answer: &Answer) -> Value {
    serde_json::from_str(&answer.stdout).expect(&answer.stderr)
}

fn assert_refused(answer: &Answer, words: &str) {
    assert_eq!((answer.code, answer.stdout.as_str()), (2, ""));
    assert!(answer.stderr.contains(words), "{}", answer.stderr);
}

#[test]
fn one_agent_gets_one_feedback_and_a_summary() {
    let deployed = Deployed::start(&[]);
    let sent = deployed.recorder.sends();
    assert_refused(&smoke(&deployed, &[]), "stdin is not a terminal");
    let elsewhere = tempfile::tempdir().unwrap();
    let early = invocation::answer(
        deployed
            .command(&["smoke", "--chain", CHAIN, "--yes"])
            .env("CONCORD_DEPLOYMENTS", elsewhere.path()),
    );
    assert_refused(&early, "the address book has no deployment on eip155:84532");
    let poor = smoke(&deployed, &["--yes", "--budget", "0.000000001"]);
    assert_refused(&poor, "nothing was sent");
    assert_eq!(deployed.recorder.sends(), sent);

    for agent in 1..=2 {
        let done = smoke(&deployed, &["--yes", "--json"]);
        assert_eq!(done.code, 0, "{}", done.stderr);
        assert_nothing_secret(&done.stdout);
        assert_nothing_secret(&done.stderr);
        let report = report(&done);
        assert_eq!(report["agree"], true);
        assert!(report["spent"].as_str().unwrap().parse::<u128>().unwrap() > 0);
        assert_feedback(&deployed, &report, agent);
        assert!(!deployed.record().exists());
    }
}

/// The second step's transaction gave the agent its only feedback.
fn assert_feedback(deployed: &Deployed, report: &Value, agent: u64) {
    let step = &report["steps"][1];
    assert_eq!(step["operation"], "give_feedback");
    let transaction = step["observed"]["transaction"].as_str().unwrap();
    let link = format!("https://sepolia.basescan.org/tx/{transaction}");
    assert_eq!(step["link"], link);
    let receipt = deployed.ask("eth_getTransactionReceipt", json!([transaction]));
    let registry = deployed.address("AuthorizedReputationRegistry");
    assert_eq!(receipt["to"], registry.to_lowercase());
    let gas = step["observed"]["cost"]["gas"].as_u64().unwrap();
    assert_eq!(receipt["gasUsed"], format!("{gas:#x}"));
    assert_eq!(receipt["logs"][0]["topics"][0], NEW_FEEDBACK);
    let id = format!("0x{agent:064x}");
    assert_eq!(receipt["logs"][0]["topics"][1], id);
    // By `cast calldata 'getSummary(uint256)'`; count 1, average 87.
    let call = json!({"to": registry, "data": format!("0xaee14460{}", &id[2..])});
    let summary = deployed.ask("eth_call", json!([call, "latest"]));
    assert_eq!(summary, format!("0x{:064x}{:064x}", 1, 87));
}

#[test]
fn a_registry_that_says_something_else_is_exit_code_1() {
    let deployed = Deployed::start(&[]);
    let registry = deployed.address("AuthorizedReputationRegistry");
    // STOP: takes everything, says nothing.
    deployed.ask("anvil_setCode", json!([registry, "0x00"]));
    let wrong = smoke(&deployed, &["--yes"]);
    assert_eq!(wrong.code, 1, "{}", wrong.stderr);
    let words = "1 scenario: wrong: evm-live";
    assert!(wrong.stdout.contains(words), "{}", wrong.stdout);
    assert!(!deployed.record().exists());
}

/// After something was sent and paid for, the exit code is not that of a refusal.
#[test]
fn a_result_that_cannot_be_shown_is_exit_code_3() {
    let deployed = Deployed::start(&[]);
    let full = std::fs::File::options().write(true).open("/dev/full");
    let mut command = deployed.command(&["smoke", "--chain", CHAIN, "--yes", "--json"]);
    let unshown = command.stdout(full.unwrap()).output().unwrap();
    assert_eq!(unshown.status.code(), Some(3));
    let said = String::from_utf8(unshown.stderr).unwrap();
    assert!(said.contains("everything was sent"), "{said}");
}
