//! The JSON Schema of the configuration is generated from its types. `CONCORD_BLESS=1` writes it again.
use concord_aggregator::cli::Config;
use serde_json::{Value, json};
use std::{env, fs, path::PathBuf};

#[test]
fn the_committed_schema_is_that_of_the_types() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("config.schema.json");
    let text = Config::schema();
    if env::var_os("CONCORD_BLESS").is_some() {
        fs::write(&path, &text).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap();
    assert_eq!(
        committed, text,
        "run with CONCORD_BLESS=1 and read the difference"
    );
}

/// The configuration of docs/AGGREGATOR.md.
fn documented() -> Value {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/AGGREGATOR.md");
    let page = fs::read_to_string(path).unwrap();
    let (_, rest) = page.split_once("```json\n").unwrap();
    let (example, _) = rest.split_once("```").unwrap();
    serde_json::from_str(example).unwrap()
}

fn with(pointer: &str, key: &str, value: Value) -> Value {
    let mut config = documented();
    config.pointer_mut(pointer).unwrap()[key] = value;
    config
}

fn without(key: &str) -> Value {
    let mut config = documented();
    config.as_object_mut().unwrap().remove(key).unwrap();
    config
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
