//! `concord file` and `concord x402 decode`.
use super::{assert_sentence, folder_with, text};
use crate::invocation::{answer, concord};
use serde_json::{Value, json};

const FEEDBACK: &str = r#"{
    "agentRegistry": "eip155:8453:0x8004A169FB4a3325136EB29fA0ceB6D2e539a432",
    "agentId": 42,
    "clientAddress": "eip155:8453:0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
    "createdAt": "2025-09-23T12:00:00Z",
    "value": 85,
    "valueDecimals": 0,
    "tag1": "starred"
}"#;
const UNKNOWN: &str = "0x0000000000000000000000000000000000000000000000000000000000000001";

#[test]
fn a_file_is_checked_hashed_and_converted() {
    let (_folder, file) = folder_with("feedback.json", FEEDBACK.as_bytes());
    let file = text(&file);
    let checked = answer(&mut concord(&["file", "check", file, "--json"]));
    assert_eq!(checked.code, 0, "{checked:?}");
    let report: Value = serde_json::from_str(&checked.stdout).unwrap();
    assert_eq!(report["dialect"], "best-practices");
    assert_eq!(report["isCanonical"], false);
    let hash = answer(&mut concord(&["file", "hash", file]));
    assert_eq!(hash.stdout.trim(), report["hash"]);
    let converted = answer(&mut concord(&["file", "convert", file]));
    let written: Value = serde_json::from_str(&converted.stdout).unwrap();
    assert_eq!(written, serde_json::from_str::<Value>(FEEDBACK).unwrap());
    assert!(
        converted
            .stdout
            .starts_with(r#"{"agentId":42,"agentRegistry":"#),
        "RFC 8785"
    );
    let own = answer(&mut concord(&[
        "file",
        "check",
        file,
        "--hash",
        hash.stdout.trim(),
    ]));
    assert_eq!(own.code, 0, "{own:?}");
    let other = answer(&mut concord(&["file", "check", file, "--hash", UNKNOWN]));
    assert_eq!(other.code, 1, "{other:?}");
}

#[test]
fn a_file_that_breaks_a_rule_is_one_sentence_with_path_value_and_limit() {
    let broken = FEEDBACK.replace("85", "1.5");
    let (_folder, file) = folder_with("feedback.json", broken.as_bytes());
    let refused = answer(&mut concord(&["file", "check", text(&file)]));
    assert_sentence(&refused, 1, "$.value");
    let missing = answer(&mut concord(&["file", "check", "no-such-file"]));
    assert_sentence(&missing, 2, "no-such-file");
}

#[test]
fn a_new_registration_file_is_in_the_current_form() {
    let registration = "eip155:84532:0x8004A818BFB912233c491871b3d84c89A494BD9e=42";
    let made = answer(&mut concord(&[
        "file",
        "new",
        "--name",
        "Weather",
        "--service",
        "web=https://agent.example/?a=b",
        "--registration",
        registration,
    ]));
    assert_eq!(made.code, 0, "{made:?}");
    let made: Value = serde_json::from_str(&made.stdout).unwrap();
    assert_eq!(
        made["services"][0]["endpoint"],
        "https://agent.example/?a=b"
    );
    let listed = json!([{ "agentId": "42", "agentRegistry": registration.split('=').next() }]);
    assert_eq!(made["registrations"], listed, "R37, R42");
    let wrong = answer(&mut concord(&[
        "file",
        "new",
        "--name",
        "W",
        "--registration",
        "x=1",
    ]));
    assert_sentence(&wrong, 2, "--registration: ");
}

#[test]
fn a_header_is_decoded() {
    let decoded = answer(&mut concord(&[
        "x402",
        "decode",
        "eyJzdWNjZXNzIjp0cnVlfQ==",
    ]));
    assert_eq!(decoded.code, 0, "{decoded:?}");
    let value: Value = serde_json::from_str(&decoded.stdout).unwrap();
    assert_eq!(value, json!({ "success": true }));
    let refused = answer(&mut concord(&["x402", "decode", "not base64!"]));
    assert_sentence(&refused, 2, "the header");
}

#[test]
fn a_configuration_that_is_wrong_is_named_with_file_path_and_value() {
    let (_folder, file) = folder_with("buyer.json", br#"{"chains":{"eip155":{"rpc":"x"}}}"#);
    let config = ["--config", text(&file)];
    let arguments = ["x402", "pay", "http://127.0.0.1:1/", "--id", "a"];
    let refused = answer(&mut concord(&[&arguments[..], &config].concat()));
    assert_sentence(&refused, 2, "buyer.json: chains");
    let missing = [
        "x402",
        "pay",
        "http://127.0.0.1:1/",
        "--id",
        "a",
        "--config",
        "none.json",
    ];
    assert_sentence(&answer(&mut concord(&missing)), 2, "none.json");
}
