//! `conform --svm-rpc` on a node whose clock cannot be set. `tests/surfpool/run` has one whose clock can.
use crate::invocation::Answer;
use crate::live_svm::{
    deployed::{Build, CHAIN, Deployed, assert_nothing_secret},
    playing::report,
};
use concord_testkit::http::ask;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fs;

fn program(deployed: &Deployed) -> String {
    let address = &deployed.book()["chains"][CHAIN]["contracts"]["AgentRegistry"]["address"];
    address.as_str().unwrap().to_owned()
}

fn conform(deployed: &Deployed, key: &str, arguments: &[&str]) -> Answer {
    let (program, url) = (program(deployed), deployed.recorder.url());
    let key = deployed.file(key).display().to_string();
    let node = ["conform", "--backend", "none", "--json", "--svm-rpc", &url];
    let node = [&node[..], &["--program-id", &program, "--keypair", &key]].concat();
    deployed.run(&[&node, arguments].concat())
}

/// The registry account's bytes.
fn registry(deployed: &Deployed) -> Value {
    let program = concord_registry::svm::Program::new(program(deployed).parse().unwrap());
    let params = json!([program.registry().to_string(), {"encoding": "base64"}]);
    ask(deployed.port(), "getAccountInfo", params)["value"]["data"].clone()
}

#[test]
fn scenarios_agree_on_a_node_and_the_registry_s_lists_are_put_back() {
    let deployed = Deployed::start();
    let before = registry(&deployed);
    let scenarios = [
        "--scenario",
        "payments/two-clients",
        "--scenario",
        "identity/burn-twice",
        "--scenario",
        "authorized/expiry",
    ];
    let answer = conform(&deployed, "deployer.json", &scenarios);
    assert_eq!(answer.code, 0, "{}{}", answer.stdout, answer.stderr);
    assert_nothing_secret(&answer.stderr);
    let report = report(&answer);
    assert_eq!(report["participants"], json!(["model", "svm-rpc"]));
    let passed = report["totals"]["svm-rpc"]["passed"].as_u64().unwrap();
    assert!(passed > 5, "{report:#}");
    // HARN-60
    let left_out = json!([{
        "scenario": "authorized/expiry",
        "reason": "the node's clock cannot be set",
    }]);
    assert_eq!(report["left_out"], left_out);
    let program = program(&deployed);
    let elf = fs::read(Build::FIRST.file()).unwrap();
    let tested = json!([{
        "name": "the program",
        "kind": format!("sha256 of the ELF at {program} on {CHAIN}"),
        "hash": format!("0x{}", hex::encode(Sha256::digest(elf))),
    }]);
    assert_eq!(report["artifacts"], tested);
    let fact = |name, value: &str| json!({"participant": "svm-rpc", "name": name, "value": value});
    let facts = json!([fact("chain", CHAIN), fact("program", &program)]);
    assert_eq!(report["facts"], facts);
    assert_eq!(registry(&deployed), before);
}

#[test]
fn another_authority_and_a_scenario_that_needs_the_clock_are_refused() {
    let deployed = Deployed::start();
    let refused = |key, scenario: &str, words: &str| {
        let answer = conform(&deployed, key, &["--scenario", scenario]);
        assert_eq!(answer.code, 2, "{}", answer.stderr);
        assert!(answer.stderr.contains(words), "{}", answer.stderr);
        assert_nothing_secret(&answer.stderr);
    };
    refused(
        "funder.json",
        "identity/register",
        "the registry's authority is ",
    );
    refused(
        "deployer.json",
        "authorized/expiry",
        "whose clock can be set",
    );
    assert_eq!(deployed.recorder.sends(), 0);
}
