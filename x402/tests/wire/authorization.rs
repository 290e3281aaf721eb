//! What a buyer signs, over `tests/vectors/x402/transfer_authorization.json`, which viem hashed and signed.
use alloy::{primitives::B256, signers::local::PrivateKeySigner};
use concord_x402::{
    pay::{EvmPayer, TransferAuthorization},
    wire::{Offer, PaymentRequired},
};
use serde_json::{Value, json};

fn vectors() -> Vec<Value> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../tests/vectors/x402/transfer_authorization.json"
    );
    let file: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let vectors = file["vectors"].as_array().unwrap().clone();
    assert!(vectors.len() >= 17, "the file has shrunk");
    vectors
}

fn offer(vector: &Value) -> Offer {
    let required = json!({ "x402Version": 2, "accepts": [vector["offer"]] });
    let mut required = PaymentRequired::parse(&required.to_string()).unwrap();
    required.accepts.remove(0)
}

#[tokio::test]
async fn every_authorization_is_viem_s() {
    for vector in vectors() {
        let (id, transfer) = (&vector["id"], &vector["transfer"]);
        let key: PrivateKeySigner = transfer["secret"].as_str().unwrap().parse().unwrap();
        let nonce: B256 = transfer["nonce"].as_str().unwrap().parse().unwrap();
        let now = transfer["now"].as_u64().unwrap();
        let made =
            TransferAuthorization::new(&offer(transfer), EvmPayer::address(&key), nonce, now);
        let Some(ok) = vector.get("ok") else {
            let refused = made.unwrap_err();
            assert_eq!(refused.field(), vector["error"]["field"], "{id}: {refused}");
            continue;
        };
        let made = made.unwrap();
        assert_eq!(made.digest().to_string(), ok["digest"], "{id}");
        let signature = EvmPayer::sign(&key, &made).await.unwrap();
        let payload: Value =
            serde_json::from_str(made.payload(&signature).unwrap().as_str()).unwrap();
        assert_eq!(payload, ok["payload"], "{id}");
        let kept: TransferAuthorization =
            serde_json::from_str(&serde_json::to_string(&made).unwrap()).unwrap();
        assert_eq!(kept, made, "{id}");
    }
}

#[test]
fn a_payment_echoes_the_offer_the_resource_and_the_extensions() {
    let vector = &vectors()[0];
    let required = json!({
        "x402Version": 2,
        "resource": { "url": "https://agent.example/weather", "later": [1, 2.5] },
        "accepts": [vector["transfer"]["offer"]],
        "extensions": { "other": { "info": null } },
        "error": "a payment is required",
    });
    let read = PaymentRequired::parse(&required.to_string()).unwrap();
    let payload = concord_files::RawJson::parse(&vector["ok"]["payload"].to_string()).unwrap();
    let payment = read.payment(&read.accepts[0], payload);
    let written: Value = serde_json::from_str(&payment.to_json()).unwrap();
    let expected = json!({
        "x402Version": 2,
        "accepted": required["accepts"][0],
        "payload": vector["ok"]["payload"],
        "resource": required["resource"],
        "extensions": required["extensions"],
    });
    assert_eq!(written, expected);
}
