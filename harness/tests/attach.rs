//! Registries that stand somewhere join the matrix through `--evm-rpc`. Needs contracts/out, and anvil
//! on PATH or in CONCORD_ANVIL.
mod invocation;

use concord_harness::backend::evm::EvmAnvil;
use invocation::{Answer, answer, clone_root, concord};
use serde_json::{Value, json};

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

fn judge(standing: &EvmAnvil, more: &[&str]) -> Answer {
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
fn registries_that_stand_somewhere_are_judged() {
    let standing = standing();
    let authorized = standing.addresses().authorized_reputation.unwrap();
    for _ in 0..2 {
        let answer = judge(&standing, &["--authorized", &authorized.to_string()]);
        assert_eq!(answer.code, 0, "{}", answer.stderr);
        let report: Value = serde_json::from_str(&answer.stdout).unwrap();
        assert_eq!(report["participants"], json!(["model", "evm-rpc"]));
        let passed = |name: &str| report["totals"][name]["passed"].as_u64().unwrap();
        assert_eq!(passed("evm-rpc"), passed("model"));
    }
}

#[test]
fn a_registry_without_an_address_is_a_missing_capability() {
    let answer = judge(&standing(), &[]);
    assert_eq!(answer.code, 1, "{}", answer.stderr);
    let report: Value = serde_json::from_str(&answer.stdout).unwrap();
    let failures = report["failures"].as_array().unwrap();
    assert!(!failures.is_empty());
    for failure in failures {
        assert_eq!(failure["subject"], "capability");
        assert_eq!(failure["scenario"], "authorized/revoke");
    }
}

#[test]
fn what_cannot_be_judged_gets_one_sentence() {
    let standing = standing();
    let identity = standing.addresses().identity.to_string();
    let wrong_chain = judge(&standing, &["--chain-id", "84532"]);
    let deaf = |url: &str| {
        let arguments = ["conform", "--evm-rpc", url, "--identity", &identity];
        answer(concord(&arguments).args(["--backend", "none"]))
    };
    for (answer, code, words) in [
        (wrong_chain, 3, "chain id is 31337, not 84532"),
        (
            deaf("http://127.0.0.1:1"),
            3,
            "does not answer as an EVM node does",
        ),
        (deaf("not a URL"), 2, "is not an http:// URL"),
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
