use base64::{
    Engine,
    engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE},
};
use concord_files::X402Profile;
use concord_x402::wire::{
    ExternalPrefix, HEADER_MAX, OFFERS_MAX, PaymentPayload, PaymentRequired, Settlement, WireRule,
    request_target,
};
use serde_json::{Value, json};

/// A message in x402-rs's own types, which is the other implementation here.
fn x402_rs_required() -> String {
    let requirements = x402_types::proto::v2::PaymentRequirements {
        scheme: "exact".to_owned(),
        network: "eip155:84532".parse().unwrap(),
        amount: "10000".to_owned(),
        pay_to: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8".to_owned(),
        max_timeout_seconds: 60,
        asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e".to_owned(),
        extra: Some(json!({ "name": "USDC", "version": "2" })),
    };
    let message = x402_types::proto::v2::PaymentRequired::<_> {
        x402_version: x402_types::proto::v2::X402Version2,
        error: Some("payment needed".to_owned()),
        resource: Some(x402_types::proto::v2::ResourceInfo {
            url: "https://agent.example/weather".to_owned(),
            description: None,
            mime_type: Some("application/json".to_owned()),
        }),
        accepts: vec![requirements],
        extensions: Default::default(),
    };
    serde_json::to_string(&message).unwrap()
}

#[test]
fn reads_what_x402_rs_writes_and_the_other_way_round() {
    let text = x402_rs_required();
    let read = PaymentRequired::from_header(STANDARD.encode(&text).as_bytes()).unwrap();
    assert_eq!(read.unreadable, []);
    let [offer] = &*read.accepts else {
        panic!("{read:?}")
    };
    assert_eq!((&*offer.amount, offer.max_timeout_seconds), ("10000", 60));
    assert_eq!(
        read.resource.as_ref().unwrap().url,
        "https://agent.example/weather"
    );
    assert_eq!(read.error.as_deref(), Some("payment needed"));

    let payload = PaymentPayload {
        accepted: offer.clone(),
        payload: concord_files::RawJson::parse(r#"{"signature":"0x"}"#).unwrap(),
        resource: None,
        extensions: None,
    };
    type Theirs =
        x402_types::proto::v2::PaymentPayload<x402_types::proto::v2::PaymentRequirements, Value>;
    let theirs: Theirs = serde_json::from_str(&payload.to_json()).unwrap();
    assert_eq!(theirs.accepted.amount, "10000");
    assert_eq!(theirs.payload, json!({ "signature": "0x" }));
    let again = PaymentPayload::from_header(payload.to_header().unwrap().as_bytes());
    assert_eq!(again.unwrap(), payload);
}

fn required() -> Value {
    serde_json::from_str(&x402_rs_required()).unwrap()
}

#[track_caller]
fn refused(message: &Value, path: &str, words: &str) {
    let error = PaymentRequired::parse(&message.to_string()).unwrap_err();
    assert_eq!(
        (error.header(), error.path()),
        ("PAYMENT-REQUIRED", path),
        "{error}"
    );
    assert!(error.to_string().contains(words), "{error}");
}

#[test]
fn names_path_value_and_limit_of_what_it_refuses() {
    let edited = |key: &str, value: Value| {
        let mut message = required();
        message[key] = value;
        message
    };
    refused(
        &edited("x402Version", json!(1)),
        "$.x402Version",
        "must be 2 (found 1)",
    );
    refused(
        &edited("x402Version", json!("2")),
        "$.x402Version",
        "must be an integer from 0 to 9007199254740991 (found 2)",
    );
    refused(
        &edited("accepts", Value::Null),
        "$.accepts",
        "required and missing",
    );
    refused(
        &edited("accepts", json!({})),
        "$.accepts",
        "must be an array (found an object)",
    );
    refused(
        &edited("resource", json!("x")),
        "$.resource",
        "must be an object (found x)",
    );
    refused(
        &edited("extensions", json!([])),
        "$.extensions",
        "must be an object",
    );
    refused(&json!([]), "$", "must be an object");
    let many = vec![json!({}); OFFERS_MAX + 1];
    refused(
        &edited("accepts", json!(many)),
        "$.accepts",
        "is 65 offers, at most 64",
    );
}

#[test]
fn r22_duplicate_keys_are_refused() {
    let text = r#"{"x402Version":2,"accepts":[],"accepts":[]}"#;
    let error = PaymentRequired::parse(text).unwrap_err();
    assert!(matches!(error.rule(), WireRule::Json(_)), "{error}");
}

#[test]
fn an_offer_of_another_form_hides_no_other_offer() {
    for (key, value, path) in [
        ("amount", json!("1.5"), "$.accepts[0].amount"),
        ("amount", json!(10000), "$.accepts[0].amount"),
        ("network", json!("base"), "$.accepts[0].network"),
        ("payTo", json!("0x12"), "$.accepts[0].payTo"),
        ("asset", Value::Null, "$.accepts[0].asset"),
        (
            "maxTimeoutSeconds",
            json!(-1),
            "$.accepts[0].maxTimeoutSeconds",
        ),
        ("scheme", json!(""), "$.accepts[0].scheme"),
    ] {
        let mut message = required();
        let good = message["accepts"][0].clone();
        message["accepts"][0][key] = value;
        message["accepts"].as_array_mut().unwrap().push(good);
        let read = PaymentRequired::parse(&message.to_string()).unwrap();
        assert_eq!(read.accepts.len(), 1);
        assert_eq!(read.unreadable[0].path(), path);
    }
}

#[test]
fn headers_are_standard_base64_of_at_most_16_kib() {
    let mut text = x402_rs_required();
    while text.len().is_multiple_of(3) {
        text.push(' '); // so that padding is needed
    }
    PaymentRequired::from_header(STANDARD.encode(&text).as_bytes()).unwrap();
    PaymentRequired::from_header(STANDARD_NO_PAD.encode(&text).as_bytes()).unwrap();
    let url_safe = URL_SAFE.encode([0xfb, 0xff, 0xbf]);
    assert!(url_safe.contains(['-', '_']));
    let error = PaymentRequired::from_header(url_safe.as_bytes()).unwrap_err();
    assert_eq!(*error.rule(), WireRule::Base64);
    let error = PaymentRequired::from_header(&vec![b'A'; HEADER_MAX + 1]).unwrap_err();
    assert!(
        error.to_string().contains("is 16385 bytes, at most 16384"),
        "{error}"
    );
    let error = Settlement::from_header(STANDARD.encode([0xff]).as_bytes()).unwrap_err();
    assert_eq!(*error.rule(), WireRule::Utf8 { offset: 0 });
}

fn settlement() -> Value {
    json!({ "success": true, "payer": "p", "transaction": format!("0x{}", "ab".repeat(32)), "network": "eip155:84532" })
}

#[test]
fn r31_task_ref_is_network_and_transaction_byte_for_byte() {
    let mut message = settlement();
    message["transaction"] = json!(format!("0x{}", "aB".repeat(32)));
    let read = Settlement::parse(&message.to_string()).unwrap();
    assert_eq!(
        read.task_ref().unwrap(),
        format!("eip155:84532:0x{}", "aB".repeat(32))
    );
    message["transaction"] = json!("0xab");
    let read = Settlement::parse(&message.to_string()).unwrap();
    assert_eq!(read.task_ref().unwrap_err().path(), "$.transaction");
}

#[test]
fn a_failed_settlement_needs_no_transaction() {
    let text = r#"{"success":false,"errorReason":"insufficient_funds"}"#;
    let read = Settlement::parse(text).unwrap();
    assert_eq!(
        (read.success, read.error_reason.as_deref()),
        (false, Some("insufficient_funds"))
    );
    let error = Settlement::parse(r#"{"success":true,"network":"eip155:1"}"#).unwrap_err();
    assert_eq!(error.path(), "$.transaction");
}

#[test]
fn r35_interaction_data_is_read_there_or_under_info() {
    let vector = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../tests/vectors/files/interaction.json"
    ));
    let vectors: Value = serde_json::from_str(&vector.unwrap()).unwrap();
    let vectors = vectors["vectors"].as_array().unwrap();
    let (mut read, mut refused) = (0, 0);
    for vector in vectors {
        let mut message = settlement();
        let extensions: Value = match serde_json::from_str(vector["text"].as_str().unwrap()) {
            Ok(value @ Value::Object(_)) => value,
            _ => continue,
        };
        message["extensions"] = extensions;
        let parsed = Settlement::parse(&message.to_string())
            .unwrap()
            .interactions();
        match (&vector["ok"], parsed) {
            (Value::Array(expected), Ok(found)) => {
                let keys: Vec<_> = found.iter().map(|it| it.profile.extension_key()).collect();
                let expected: Vec<_> = expected
                    .iter()
                    .map(|it| it["profile"].as_str().unwrap())
                    .collect();
                assert_eq!(keys, expected);
                read += 1;
            }
            (Value::Null, Err(error)) => {
                let path = vector["error"]["path"].as_str().unwrap();
                assert_eq!(error.path(), path.replacen('$', "$.extensions", 1));
                refused += 1;
            }
            (_, found) => panic!("{}: {found:?}", vector["id"]),
        }
    }
    assert!(read >= 10 && refused >= 10, "{read} {refused}");
    assert_eq!(X402Profile::ALL.len(), 2);
}

#[test]
fn r33_an_absolute_form_is_reduced() {
    let none = ExternalPrefix::default();
    let target = |uri: &str| request_target(&none, &uri.parse().unwrap());
    assert_eq!(target("https://agent.example/a?b=%20c"), "/a?b=%20c");
    assert_eq!(target("/a/../b?"), "/a/../b?");
    assert_eq!(target("https://agent.example"), "/");
    assert_eq!(target("https://agent.example?q=1"), "/?q=1");
    let prefix = ExternalPrefix::new("/api/v2").unwrap();
    assert_eq!(
        request_target(&prefix, &"/a?b".parse().unwrap()),
        "/api/v2/a?b"
    );
    for malformed in ["api", "/api/", "/", "/a?b", "/a#b", "/ a"] {
        assert!(ExternalPrefix::new(malformed).is_err(), "{malformed}");
    }
}
