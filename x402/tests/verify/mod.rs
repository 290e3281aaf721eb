//! The checks after a payment, over `tests/vectors/x402/purchase.json`: hashes and signatures are @noble's
//! and viem's, the expected states are written by hand.
mod caches;
mod purchase;
mod token_changes;

use concord_files::{RegistrationId, parse_info};
use concord_x402::verify::{Class, State, Step};
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

fn registrations_of(purchase: &Value) -> Vec<RegistrationId> {
    let info = purchase["announced"]["8004-reputation"]["info"].to_string();
    parse_info(info.as_bytes())
        .unwrap()
        .into_view()
        .registrations
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

/// R28: of the others that a seller announces, nothing was checked: neither their registry, nor their file, nor their wallet.
#[tokio::test]
async fn s5_r28_only_the_agent_that_was_checked_may_sign() {
    let mut crossed = inputs("typical");
    let registrations = &mut crossed["announced"]["8004-reputation"]["info"]["registrations"];
    let unlisted = format!("eip155:84532:0x{}", "e1".repeat(20));
    for (registry, id) in [
        (&*unlisted, "1"),
        (
            "eip155:84532:0x8004A818BFB912233c491871b3d84c89A494BD9e",
            "43",
        ),
    ] {
        let other = json!({ "agentRegistry": registry, "agentId": id });
        registrations.as_array_mut().unwrap().push(other);
    }
    let signing = Purchase::of(&crossed);
    assert!(verify(&signing).await.is_verified());
    let announced = registrations_of(&crossed);
    for checked in &announced[1..] {
        let mut other = Purchase::of(&crossed);
        other.checked = checked.clone();
        let report = verify(&other).await;
        assert_eq!(report.refused_for(), Some(Class::IdentityChanged));
        let s5 = report.step(Step::S5).unwrap();
        assert_eq!(s5.state, State::Refuted);
        assert!(s5.detail.contains("agent 42 of"), "{}", s5.detail);
        assert!(s5.detail.contains(&checked.agent_registry), "{}", s5.detail);
    }
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
