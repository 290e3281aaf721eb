//! The JSON Schema of the configuration is generated from its types. `CONCORD_BLESS=1` writes it again.
use concord_aggregator::cli::Config;
use concord_testkit::config_schema;
use serde_json::{Value, json};
use std::{collections::BTreeSet, fs};

#[test]
fn the_committed_schema_is_that_of_the_types() {
    config_schema::require_committed(&Config::schema());
}

fn documented() -> Value {
    config_schema::documented("AGGREGATOR.md")
}

fn with(pointer: &str, key: &str, value: Value) -> Value {
    config_schema::with(documented(), pointer, key, value)
}

fn without(key: &str) -> Value {
    config_schema::without(documented(), "", key)
}

/// Every member that the schema has, at any depth.
fn members(schema: &Value, found: &mut BTreeSet<String>) {
    match schema {
        Value::Object(object) => {
            if let Some(Value::Object(properties)) = object.get("properties") {
                found.extend(properties.keys().cloned());
            }
            object.values().for_each(|it| members(it, found));
        }
        Value::Array(items) => items.iter().for_each(|it| members(it, found)),
        _ => {}
    }
}

/// An operator has this page and nothing else.
#[test]
fn every_member_of_the_configuration_is_documented() {
    let page = fs::read_to_string(concord_testkit::chain::root("docs/AGGREGATOR.md")).unwrap();
    let mut all = BTreeSet::new();
    members(&serde_json::from_str(&Config::schema()).unwrap(), &mut all);
    assert!(all.len() > 40, "{all:?}");
    let is_named = |member: &&String| {
        let quoted = [
            format!("`{member}`"),
            format!(".{member}`"),
            format!("\"{member}\":"),
        ];
        quoted.iter().any(|it| page.contains(it))
    };
    let missing: Vec<&String> = all.iter().filter(|it| !is_named(it)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// What the schema takes, the program reads, and the other way round.
#[test]
fn the_schema_and_the_reader_agree() {
    let schema = serde_json::from_str(&Config::schema()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let evm = "/chains/eip155:84532/evm";
    let cluster = "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1";
    let proofs =
        json!({ "keypair": "facilitator.json", "settlers": ["11111111111111111111111111111112"] });
    let solana = |proofs: Value| {
        let program = json!({ "program": "x", "keypair": "key.json", "paymentProofs": proofs });
        json!({ "rpc": "http://127.0.0.1:8899", "solana": program })
    };
    let sponsored = |sponsored: Value| {
        let program = json!({ "program": "x", "keypair": "key.json", "sponsored": sponsored });
        json!({ "rpc": "http://127.0.0.1:8899", "solana": program })
    };
    let rate = json!({ "count": 3, "seconds": 60 });
    for (is_valid, config) in [
        (true, documented()),
        (true, with("", "addressHeader", json!("x-forwarded-for"))),
        (
            true,
            with("", "limits", json!({ "perReviewer": rate, "coolDown": 60 })),
        ),
        (
            true,
            with(
                "",
                "limits",
                json!({ "perAddress": rate, "perAgentAndDay": 9, "perDay": 10 }),
            ),
        ),
        (
            true,
            with("", "fetch", json!({ "gateway": "https://ipfs.example" })),
        ),
        (true, with(evm, "agents", json!(["42"]))),
        (
            true,
            with(
                evm,
                "settlers",
                json!(["0x036CbD53842c5426634e7929541eC2318f3dCF7e"]),
            ),
        ),
        (false, with(evm, "settlers", json!(["0x036C"]))),
        (false, with(evm, "settlers", json!("all"))),
        (true, with(evm, "keystore", json!("key.json"))),
        (true, with("/chains", cluster, solana(proofs.clone()))),
        (
            false,
            with("/chains", cluster, solana(json!({ "keypair": "key.json" }))),
        ),
        (
            true,
            with(
                "/chains",
                cluster,
                sponsored(json!({ "keypair": "s.json", "lamportsPerDay": 9 })),
            ),
        ),
        (
            false,
            with(
                "/chains",
                cluster,
                sponsored(json!({ "keypair": "s.json" })),
            ),
        ),
        (
            false,
            with(
                "/chains",
                cluster,
                sponsored(json!({ "keypair": "s.json", "lamportsPerDay": -1 })),
            ),
        ),
        (false, without("listen")),
        (false, without("receiptKey")),
        (false, without("chains")),
        (false, with("", "unknown", json!(1))),
        (false, with("", "store", json!(7))),
        (false, with("", "limits", json!({ "perHour": 5 }))),
        (false, with("", "limits", json!({ "coolDown": -1 }))),
        (
            false,
            with("", "limits", json!({ "perReviewer": { "count": 3 } })),
        ),
        (false, with(evm, "agents", json!([42]))),
        (false, with(evm, "identity", json!("0x12"))),
        (false, with(evm, "confirmations", json!(3))),
    ] {
        let read = Config::parse(&config.to_string());
        let found = (validator.is_valid(&config), read.is_ok());
        assert_eq!(found, (is_valid, is_valid), "{config:#} {:?}", read.err());
    }
}

/// The URL of a node, which may have a key in it, where its chain's configuration belongs.
#[test]
fn an_error_does_not_show_what_is_in_the_configuration() {
    let config = with(
        "/chains",
        "eip155:84532",
        json!("https://rpc.example/v2/s3cr3t"),
    );
    let error = Config::parse(&config.to_string()).unwrap_err();
    let expected = "chains.eip155:84532: invalid type, expected struct ChainConfig at line 1";
    assert!(error.starts_with(expected), "{error}");
    assert!(!error.contains("s3cr3t"), "{error}");
}
