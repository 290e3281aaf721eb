//! The checks after a payment, over `tests/vectors/x402/purchase.json`: hashes and signatures are @noble's
//! and viem's, the expected states are written by hand.
mod caches;
mod purchase;
mod token_changes;

use concord_x402::verify::{State, Step};
use purchase::{Purchase, verify};
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn vectors() -> Vec<Value> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../tests/vectors/x402/purchase.json"
    );
    let file: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let vectors = file["vectors"].as_array().unwrap().clone();
    let count = |key| vectors.iter().filter(|it| !it[key].is_null()).count();
    assert_eq!(
        file["counts"],
        json!({ "ok": count("ok"), "error": count("error") })
    );
    assert!(
        count("ok") >= 27 && count("error") >= 48,
        "the file has shrunk"
    );
    vectors
}

/// The purchase of a vector.
fn purchase(name: &str) -> Purchase {
    Purchase::of(&inputs(name))
}

fn inputs(name: &str) -> Value {
    let id = format!("x402/purchase/{name}");
    let vectors = vectors();
    let found = vectors.iter().find(|it| it["id"] == *id);
    found.unwrap()["purchase"].clone()
}

#[tokio::test]
async fn every_vector_holds() {
    let mut faults = Vec::new();
    for vector in vectors() {
        let report = verify(&Purchase::of(&vector["purchase"])).await;
        assert_eq!(report.steps.len(), 11, "{}", vector["id"]);
        let steps: BTreeMap<_, _> = report
            .steps
            .iter()
            .filter(|it| it.state.name() != "verified")
            .map(|it| (it.step.to_string(), it.state.name()))
            .collect();
        let (found, expected) = match vector.get("ok") {
            Some(ok) => (
                json!({ "state": report.state().name(), "steps": steps }),
                ok,
            ),
            None => {
                let class = report.refused_for().map(|it| format!("{it:?}"));
                (json!({ "class": class, "steps": steps }), &vector["error"])
            }
        };
        if found != *expected {
            let details: Vec<_> = report.steps.iter().map(|it| &it.detail).collect();
            faults.push(format!(
                "{}\n  expected {expected}\n  found    {found}\n  {details:?}",
                vector["id"]
            ));
        }
    }
    assert!(
        faults.is_empty(),
        "{} differ:\n{}",
        faults.len(),
        faults.join("\n")
    );
}

#[tokio::test]
async fn every_class_is_shown_by_a_vector() {
    let mut classes = std::collections::BTreeSet::new();
    for vector in vectors() {
        if let Some(class) = vector["error"]["class"].as_str() {
            classes.insert(class.to_owned());
        }
    }
    let expected = [
        "DataMismatch",
        "IdentityChanged",
        "InteractionHashMismatch",
        "InteractionMalformed",
        "NotSigned",
        "PaymentMismatch",
        "PaymentNotFound",
        "SettlementFailed",
        "SettlementMismatch",
        "SettlementMissing",
        "SignatureInvalid",
        "SignerNotValid",
        "SignerUnknown",
        "TaskRefMismatch",
    ];
    assert!(classes.iter().eq(expected.iter()), "{classes:?}");
}

#[tokio::test]
async fn s7_names_both_hashes() {
    let report = verify(&purchase("response-other")).await;
    let detail = &report.steps[6].detail;
    assert!(
        detail.contains("0x621b98ca8048a4feaacac8799e067d05a6953bdce546103cd4f5ea3ab92a7654"),
        "{detail}"
    );
    assert_eq!(detail.matches("0x").count(), 2, "{detail}");
}

/// R3, R29: an account that delegated (EIP-7702) has code, and its key still signs for it. The contract is not asked.
#[tokio::test]
async fn r29_the_key_of_a_wallet_with_code_counts_first() {
    let mut delegated = inputs("wallet-signs");
    delegated["agent"]["is_contract"] = json!(true);
    let report = verify(&Purchase::of(&delegated)).await;
    assert!(report.is_verified(), "{:?}", report.steps);
    // a signature that is not the key's is the contract's to judge
    delegated["headers"] = inputs("signature-of-another")["headers"].clone();
    for (accepts, state) in [(true, State::Verified), (false, State::Refuted)] {
        delegated["contract_accepts"] = json!(accepts);
        let report = verify(&Purchase::of(&delegated)).await;
        let found = [Step::S9, Step::S10].map(|it| report.step(it).unwrap().state);
        assert_eq!(found, [State::Verified, state], "{:?}", report.steps);
    }
}
