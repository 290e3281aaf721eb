//! What is compared with the model: the profiles that an adapter declares.
use super::{EXAMPLE, PARTIAL, SCENARIOS, answering, conform, everything, report};
use crate::invocation::{answer, concord};
use serde_json::{Value, json};

#[test]
fn the_example_agrees_in_every_step_that_it_can_express() {
    let answer = conform(EXAMPLE, &SCENARIOS);
    assert_eq!(answer.code, 0, "{answer:?}");
    let report = report(&answer);
    assert_eq!(report["participants"], json!(["model", "identity-py"]));
    let total = &report["totals"]["identity-py"];
    assert_eq!(total["passed"], report["totals"]["model"]["passed"]);
    assert!(total["passed"].as_u64().unwrap() >= 5);
}

#[test]
fn the_command_adapter_is_conform_with_the_adapter_alone() {
    let arguments = ["adapter", "--chain", "evm", EXAMPLE, "--json"];
    let scenario = ["--scenario", SCENARIOS[0]];
    let answer = answer(&mut concord(&[&arguments[..], &scenario].concat()));
    assert_eq!(answer.code, 0, "{answer:?}");
    let participants = &report(&answer)["participants"];
    assert_eq!(participants, &json!(["model", "identity-py"]));
    let fact = |name, value| json!({"participant": "identity-py", "name": name, "value": value});
    let facts = json!([fact("chain", "evm"), fact("command", EXAMPLE)]);
    assert_eq!(report(&answer)["facts"], facts);
}

#[test]
fn a_faulty_example_is_named_with_the_place_that_differs() {
    let answer = conform(&format!("{EXAMPLE} --faulty"), &SCENARIOS[..1]);
    assert_eq!(answer.code, 1, "{answer:?}");
    let report = report(&answer);
    let failures = report["failures"].as_array().unwrap();
    assert_eq!(failures.len(), 1, "{failures:#?}");
    let failure = &failures[0];
    assert_eq!(failure["participant"], "identity-py");
    assert_eq!(failure["scenario"], "identity/transfer-clears-wallet");
    assert_eq!(failure["path"], "$.agents.desk.wallet");
    assert_eq!(failure["expected"], Value::Null);
    assert_eq!(failure["actual"], "alice");
}

#[test]
fn a_profile_that_the_adapter_does_not_declare_ends_the_scenario_apart_from_failures() {
    let answer = conform(EXAMPLE, &["authorized/no-authorization", SCENARIOS[0]]);
    assert_eq!(answer.code, 4, "{answer:?}");
    let report = report(&answer);
    assert_eq!(report["conclusion"], "not_declared");
    assert_eq!(report["agree"], false); // a part does not pass for the whole
    assert_eq!(report["failures"], json!([]));
    let undeclared = json!({"identity-py": ["open", "authorized", "validation"]});
    assert_eq!(report["not_declared"], undeclared);
    let total = &report["totals"]["identity-py"];
    assert_eq!(
        (&total["not_declared"], &total["failed"]),
        (&json!(2), &json!(0))
    );
}

#[test]
fn an_operation_of_a_declared_profile_that_is_lacking_fails_as_a_missing_capability() {
    let hello =
        r#"{"id":1,"ok":{"protocol":1,"name":"partial","operations":[],"profiles":["identity"]}}"#;
    let command = answering(hello, &[r#"{"id":2,"ok":{}}"#]);
    let answer = conform(&command, &SCENARIOS[..1]);
    assert_eq!(answer.code, 1, "{answer:?}");
    let failure = &report(&answer)["failures"][0];
    assert_eq!(failure["subject"], "capability");
    assert_eq!(failure["expected"], "register");
}

#[test]
fn the_profiles_of_the_command_line_are_all_that_is_checked() {
    let arguments = [
        "conform",
        "--json",
        "--backend",
        "none",
        "--adapter-chain",
        "evm",
    ];
    let faulty = format!("{EXAMPLE} --faulty");
    let chosen = ["--profile", "validation", "--adapter", &faulty];
    let answer = answer(&mut concord(&[&arguments[..], &chosen].concat()));
    assert_eq!(answer.code, 2, "{answer:?}"); // HARN-60
    assert_eq!(report(&answer)["conclusion"], "nothing_played");
    let total = &report(&answer)["totals"]["identity-py"];
    assert_eq!((&total["passed"], &total["failed"]), (&json!(0), &json!(0)));
}

#[test]
fn a_sound_adapter_of_one_or_two_profiles_fails_nowhere() {
    for (chain, command, name, undeclared, least) in [
        (
            "evm",
            EXAMPLE,
            "identity-py",
            json!(["open", "authorized", "validation"]),
            600,
        ),
        (
            "evm",
            PARTIAL,
            "partial-node",
            json!(["authorized", "validation"]),
            1_100,
        ),
        (
            "svm",
            PARTIAL,
            "partial-node",
            json!(["authorized", "validation"]),
            1_100,
        ),
    ] {
        let answer = everything(chain, command);
        assert_eq!(
            answer.code, 4,
            "{name}: {}\n{}",
            answer.stderr, answer.stdout
        );
        let report = report(&answer);
        assert_eq!(report["failures"], json!([]));
        assert_eq!(report["not_declared"], json!({name: undeclared}));
        let total = &report["totals"][name];
        assert!(total["passed"].as_u64().unwrap() > least, "{total}");
        assert!(total["not_declared"].as_u64().unwrap() > 0, "{total}");
        assert_eq!(
            (&total["errors"], &total["not_reached"]),
            (&json!(0), &json!(0))
        );
    }
}

/// Each fault is named by the operation that has it, and by its rule, and nothing else is.
#[test]
fn planted_faults_of_an_adapter_of_an_evm_registry_are_named() {
    assert_named(
        "evm",
        &[
            (
                "revoked-counts",
                &[
                    "open_summary",
                    "ReputationRegistry.getSummary(uint256,address[],string,string)",
                ],
                "R16",
            ),
            ("ties-to-the-most-decimals", &["open_summary"], "R16"),
            ("self-feedback", &["give_open_feedback"], "R18"),
            ("approval-survives", &["set_agent_uri", "transfer"], "R4"),
            ("consent-again", &["set_agent_wallet"], "R3"),
        ],
    );
}

#[test]
fn planted_faults_of_an_adapter_of_a_solana_registry_are_named() {
    assert_named(
        "svm",
        &[
            (
                "revoked-counts",
                &["open_summary", "instruction open_summary"],
                "R16",
            ),
            ("self-feedback", &["give_open_feedback"], "R18"),
            ("longer-tags", &["give_open_feedback"], "R17"),
            ("any-index", &["give_open_feedback"], "R12"),
            ("burned-ones-move", &["burn", "transfer"], "R4"),
        ],
    );
}

/// Each fault makes these operations fail and no other, and one failure cites the rule.
fn assert_named(chain: &str, faults: &[(&str, &[&str], &str)]) {
    for (fault, operations, rule) in faults {
        let answer = everything(chain, &format!("{PARTIAL} {fault}"));
        assert_eq!(answer.code, 1, "{fault}: {}", answer.stderr);
        let report = report(&answer);
        let failures = report["failures"].as_array().unwrap();
        let is_it = |it: &Value| operations.iter().any(|name| it["operation"] == **name);
        assert!(failures.iter().all(is_it), "{fault}: {failures:#?}");
        let cites = |it: &Value| it["rules"].as_array().unwrap().contains(&json!(rule));
        assert!(failures.iter().any(cites), "{fault}: {failures:#?}");
    }
}
