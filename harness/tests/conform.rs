//! The main job: every committed scenario on anvil, in litesvm and on the model. Needs what
//! `scripts/build` makes, and anvil on PATH or in CONCORD_ANVIL.
mod invocation;

use invocation::{answer, clone_root, concord};
use serde_json::Value;
use std::fs;

const PARTICIPANTS: [&str; 3] = ["model", "evm-anvil", "svm-litesvm"];

fn committed_scenarios() -> usize {
    fs::read_dir(clone_root().join("tests/scenarios"))
        .expect("the clone has scenarios")
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".json") && name != "schema.json")
        .count()
}

#[test]
fn every_participant_passes_every_step_of_every_scenario() {
    let answer = answer(&mut concord(&["conform", "--json"]));
    assert_eq!(answer.code, 0, "{}\n{}", answer.stderr, answer.stdout);
    let report: Value = serde_json::from_str(&answer.stdout).expect("stdout is one JSON value");
    assert_eq!(report["agree"], true);
    assert_eq!(report["participants"], serde_json::json!(PARTICIPANTS));
    assert_eq!(report["failures"], serde_json::json!([]));
    let scenarios = report["scenarios"].as_array().unwrap();
    assert_eq!(scenarios.len(), committed_scenarios());
    let steps = &report["totals"]["model"]["passed"];
    assert!(steps.as_u64().unwrap() > 100);
    for participant in PARTICIPANTS {
        let total = &report["totals"][participant];
        assert_eq!(
            (&total["passed"], &total["failed"]),
            (steps, &Value::from(0))
        );
        assert_eq!(total["not_reached"], 0);
    }
}

#[test]
fn the_matrix_prints_each_declared_variance_that_was_used() {
    let arguments = [
        "conform",
        "--scenario",
        "corrupted-signature",
        "--scenario",
        "register",
    ];
    let answer = answer(&mut concord(&arguments));
    assert_eq!(answer.code, 0, "{}", answer.stderr);
    let report = answer.stdout;
    assert!(report.starts_with("rule           model     evm-anvil   svm-litesvm\n"));
    let printed = "declared variance 1: corrupted-signature step 4: \
                   svm-litesvm comes to AuthNotGranted, elsewhere ScoreOutOfRange";
    assert!(report.contains(printed), "{report}");
    assert!(report.ends_with("2 scenarios: model, evm-anvil, svm-litesvm agree\n"));
}
