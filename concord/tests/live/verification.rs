use crate::live::deployed::{CHAIN, Deployed};
use serde_json::{Value, json};

fn checks(deployed: &Deployed, code: i32) -> Vec<Value> {
    let answer = deployed.run(&["deploy", "verify", "--chain", CHAIN, "--json"]);
    assert_eq!(answer.code, code, "{}{}", answer.stdout, answer.stderr);
    serde_json::from_str(&answer.stdout).unwrap()
}

fn of_scenarios(checks: &[Value]) -> Vec<&Value> {
    let is_of_scenario = |check: &&Value| check["subject"].as_str().unwrap().contains('/');
    checks.iter().filter(is_of_scenario).collect()
}

#[test]
fn read_only_scenarios_agree_and_send_nothing() {
    let deployed = Deployed::start(&[]);
    let (sent, nonce) = (deployed.recorder.sends(), deployed.nonce());
    let checks = checks(&deployed, 0);
    let played = of_scenarios(&checks);
    let has = |subject: &str, fact: &str, found: &str| {
        played.iter().any(|check| {
            check["subject"] == subject
                && check["fact"].as_str().unwrap().ends_with(fact)
                && check["found"] == found
        })
    };
    let nothing = "lifecycle/nothing-exists";
    assert!(
        has(nothing, "set_agent_uri", "AgentNotFound"),
        "{played:#?}"
    );
    assert!(has(nothing, "validation_response", "RequestNotFound"));
    assert!(has(nothing, ", summary", "ok"));
    let first = "lifecycle/refused-before-anything-exists";
    assert!(has(first, "open_summary", "EmptyClients"));
    assert_eq!((deployed.recorder.sends(), deployed.nonce()), (sent, nonce));
}

/// STOP takes everything and says nothing: a registry that accepts what it must refuse.
#[test]
fn a_registry_that_accepts_everything_differs_in_its_own_scenarios() {
    let deployed = Deployed::start(&[]);
    let sent = deployed.recorder.sends();
    let registry = deployed.address("ValidationRegistry");
    deployed.ask("anvil_setCode", json!([registry, "0x00"]));
    let checks = checks(&deployed, 1);
    let differs = of_scenarios(&checks)
        .into_iter()
        .find(|check| check["expected"] != check["found"])
        .expect("a scenario sees it");
    assert!(
        differs["fact"]
            .as_str()
            .unwrap()
            .ends_with("validation_request")
    );
    assert_eq!(deployed.recorder.sends(), sent);
}
