use base64::{Engine, engine::general_purpose::STANDARD};
use concord_x402::{
    feedback::PaymentAttestation,
    grants::FeedbackGrant,
    wire::{PaymentPayload, PaymentRequired, Settlement, decode},
};
use proptest::prelude::*;
use serde_json::{Value, json};

/// JSON of any shape, with the names that the readers look for.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop::sample::select(vec![
            "eip155:84532",
            "2",
            "exact",
            "0x",
            "",
            "solana:localnet"
        ])
        .prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        let names = [
            "x402Version",
            "accepts",
            "resource",
            "extensions",
            "success",
            "transaction",
            "network",
            "payer",
            "8004-reputation",
            "8004-feedback-auth",
            "agentRegistry",
            "authorization",
            "indexLimit",
            "reputation",
            "info",
            "registrations",
            "taskRef",
            "payload",
            "accepted",
            "url",
        ];
        let name = prop::sample::select(names.to_vec());
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((name, inner), 0..6).prop_map(|members| members
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect()),
        ]
    })
}

fn read_all(header: &[u8]) {
    let _ = PaymentPayload::from_header(header);
    if let Ok(read) = PaymentRequired::from_header(header) {
        let _ = read.reputation();
    }
    if let Ok(read) = Settlement::from_header(header) {
        let _ = (read.task_ref(), read.interactions());
        if let Ok(Some(grant)) = FeedbackGrant::of(&read) {
            let _ = (grant.registration(), grant.authorization_bytes());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        read_all(&bytes);
        read_all(STANDARD.encode(&bytes).as_bytes());
    }

    #[test]
    fn no_json_panics(value in any_json()) {
        read_all(STANDARD.encode(value.to_string()).as_bytes());
    }

    #[test]
    fn no_cut_or_changed_byte_panics(at in 0usize..400, byte in any::<u8>(), cut in any::<bool>()) {
        let settlement = json!({
            "success": true, "payer": "p", "transaction": format!("0x{}", "ab".repeat(32)), "network": "eip155:84532",
            "extensions": { "8004-reputation": { "agentRegistry": "eip155:1:0x", "agentId": "1", "info": {} } },
        });
        let mut text = settlement.to_string().into_bytes();
        let at = at % text.len();
        if cut { text.truncate(at) } else { text[at] = byte }
        read_all(STANDARD.encode(&text).as_bytes());
    }

    #[test]
    fn no_grant_panics(members in prop::collection::btree_map(
        prop::sample::select(vec!["agentRegistry", "agentId", "clientAddress", "indexLimit", "expiry", "authorization"]),
        any_json(), 0..7,
    )) {
        let settlement = json!({
            "success": true, "transaction": "0x01", "network": "eip155:84532", "extensions": { "8004-feedback-auth": members },
        });
        read_all(STANDARD.encode(settlement.to_string()).as_bytes());
    }

    #[test]
    fn no_file_with_a_payment_attestation_panics(value in any_json()) {
        let _ = serde_json::from_value::<PaymentAttestation>(value);
    }

    #[test]
    fn decoding_reverses_encoding(text in "\\PC{0,200}") {
        let encoded = STANDARD.encode(&text);
        prop_assert_eq!(decode("PAYMENT-RESPONSE", encoded.as_bytes()).unwrap(), text);
    }
}
