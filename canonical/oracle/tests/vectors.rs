//! The vector files of `tests/vectors` through the line protocol: every oracle function, and with it the
//! vectors flagged `Request`, which are about the protocol's arguments.

use std::{collections::BTreeSet, fs, path::PathBuf};

use concord_oracle as oracle;
use serde_json::{Map, Value, json};

/// Every function of the protocol, with the least number of vectors (ok, error) that it must have.
const LEAST: &[(&str, usize, usize)] = &[
    ("account_id", 15, 22),
    ("address_of_public_key", 24, 6),
    ("agent_wallet_set", 9, 2),
    ("chain_id", 21, 26),
    ("data_hash", 8, 0),
    ("eip712_domain", 7, 0),
    ("ethereum_v", 16, 10),
    ("feedback_auth", 60, 27),
    ("feedback_auth_blob", 8, 0),
    ("feedback_auth_blob_decode", 8, 12),
    ("feedback_auth_eoa_blob_decode", 1, 5),
    ("feedback_id", 8, 16),
    ("integer_field", 12, 12),
    ("interaction_hash", 10, 12),
    ("jcs", 88, 84),
    ("keccak256", 21, 2),
    ("low_s", 16, 2),
    ("payment_proof", 15, 6),
    ("pda", 38, 11),
    ("public_key", 38, 12),
    ("public_key_of_secret", 29, 5),
    ("receipt", 8, 3),
    ("recover_address", 32, 4),
    ("request_bytes", 6, 0),
    ("request_length_prefix", 8, 3),
    ("respond_message", 10, 9),
    ("reviewer_message", 12, 7),
    ("revoke_message", 8, 6),
    ("sha256", 21, 2),
    ("sign", 49, 15),
    ("standard_tag", 9, 4),
    ("standard_tag_value", 50, 30),
    ("stars_of_value", 12, 1),
    ("stars_to_value", 5, 4),
    ("summary", 65, 5),
    ("summary_merge", 71, 16),
    ("summary_part", 65, 5),
    ("tag", 42, 13),
    ("tag_decode", 21, 9),
    ("task_ref", 8, 17),
    ("validation_request_hash", 12, 7),
    ("verify", 113, 152),
    ("weighted_score", 28, 2),
    ("x402_tag", 4, 2),
];

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors")
}

fn read(name: &str) -> Value {
    let text = fs::read_to_string(folder().join(format!("{name}.json"))).expect("a vector file");
    serde_json::from_str(&text).expect("JSON")
}

fn ask(request: &Value) -> Value {
    let line = oracle::answer(&request.to_string());
    assert!(!line.contains('\n'), "one line for one request: {line}");
    serde_json::from_str(&line).expect("JSON")
}

/// What was expected and what came, where they differ.
fn judge(vector: &Map<String, Value>) -> Option<String> {
    let mut request = vector.clone();
    for field in ["comment", "flags", "ok", "error"] {
        request.remove(field);
    }
    let answer = ask(&Value::Object(request));
    let id = &vector["id"];
    let expected = match vector.get("ok") {
        Some(ok) => json!({ "id": id, "ok": ok }),
        None => json!({ "id": id, "error": { "class": vector["error"] } }),
    };
    let mut found = answer.clone();
    if let Some(error) = found.get_mut("error").and_then(Value::as_object_mut) {
        let message = error.remove("message");
        if message.is_none_or(|message| message.as_str().is_none_or(str::is_empty)) {
            return Some(format!("{id}: an error without a message: {answer}"));
        }
    }
    (found != expected).then(|| format!("{id}: expected {expected}, found {answer}"))
}

#[test]
fn every_vector_holds_through_the_oracle() {
    let mut faults = Vec::new();
    for (name, least_ok, least_error) in LEAST {
        let file = read(name);
        let vectors = file["vectors"].as_array().expect("vectors");
        let (mut ok, mut error) = (0, 0);
        for vector in vectors {
            let vector = vector.as_object().expect("an object");
            assert_eq!(vector["fn"], *name);
            ok += usize::from(vector.contains_key("ok"));
            error += usize::from(vector.contains_key("error"));
            faults.extend(judge(vector));
        }
        assert!(
            ok >= *least_ok && error >= *least_error,
            "{name}: {ok} ok, {error} error"
        );
    }
    assert!(
        faults.is_empty(),
        "{} vectors differ:\n{}",
        faults.len(),
        faults.join("\n")
    );
}

/// A function of the protocol without a file, or a file that this test does not read, proves nothing.
#[test]
fn every_function_of_the_protocol_has_a_file() {
    let schema = read("schema");
    let listed = schema["$defs"]["oracleFunction"]["enum"]
        .as_array()
        .expect("functions");
    let listed: BTreeSet<_> = listed.iter().filter_map(Value::as_str).collect();
    assert_eq!(oracle::names().collect::<BTreeSet<_>>(), listed);
    assert_eq!(
        LEAST
            .iter()
            .map(|(name, ..)| *name)
            .collect::<BTreeSet<_>>(),
        listed
    );
}

#[test]
fn writes_numbers_as_v8_does() {
    for (name, least) in [("jcs_numbers", 10_000), ("jcs_midpoints", 300)] {
        let table = read(name);
        let rows = table["rows"].as_array().expect("rows");
        assert!(rows.len() >= least, "{name}: {} rows", rows.len());
        for row in rows {
            let (given, expected) = row
                .as_str()
                .and_then(|row| row.split_once(','))
                .expect("two columns");
            let literal = match name {
                "jcs_numbers" => {
                    let bits = u64::from_str_radix(given, 16).expect("hexadecimal");
                    format!("{:.16e}", f64::from_bits(bits))
                }
                _ => given.to_owned(),
            };
            let answer = ask(&json!({ "fn": "jcs", "text": literal }));
            assert_eq!(answer["ok"]["canonical"], expected, "{name}: {given}");
        }
    }
}
