//! The JSON Schema of the configuration is generated from its types. `CONCORD_BLESS=1` writes it again.
use concord_testkit::config_schema;
use concord_watchtower::cli::Config;
use serde_json::{Value, json};

#[test]
fn the_committed_schema_is_that_of_the_types() {
    config_schema::require_committed(&Config::schema());
}

fn documented() -> Value {
    config_schema::documented("WATCHTOWER.md")
}

fn with(pointer: &str, key: &str, value: Value) -> Value {
    config_schema::with(documented(), pointer, key, value)
}

fn without(pointer: &str, key: &str) -> Value {
    config_schema::without(documented(), pointer, key)
}

/// What the schema takes, the program reads, and the other way round.
#[test]
fn the_schema_and_the_reader_agree() {
    let schema = serde_json::from_str(&Config::schema()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let (chain, evm) = ("/chains/eip155:84532", "/chains/eip155:84532/evm");
    let budget = json!({ "perDay": "5000000", "perRun": "2500000" });
    let solana = |solana: Value| json!({ "rpc": "http://127.0.0.1:8899", "solana": solana, "budget": budget });
    let program =
        json!({ "program": "HsPpaqTdy2tW7pHKaF4NzZB6X5UsSYzFYgGCjSVV4VhJ", "keypair": "key.json" });
    let cluster = "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1";
    for (is_valid, config) in [
        (true, documented()),
        (true, with("", "windows", json!(["week"]))),
        (true, with("", "signals", json!(["uptime", "reachable"]))),
        (true, with("", "minSamples", json!(12))),
        (true, with("", "interval", json!(10))),
        (true, with("", "endpointsMax", json!(16))),
        (true, with("/chains", cluster, solana(program.clone()))),
        (
            true,
            with(
                "",
                "revenues",
                json!({ "source": "revenues.json", "dollars": [] }),
            ),
        ),
        (true, with(evm, "keystore", json!("key.json"))),
        (false, with("", "interval", json!(9))),
        (false, with("", "timeout", json!(61))),
        (false, with("", "timeout", json!("10"))),
        (false, with("", "endpointsMax", json!(0))),
        (false, with("", "minSamples", json!(-1))),
        (false, with("", "windows", json!(["month"]))),
        (false, with("", "signals", json!(["revenues"]))),
        (false, with("", "unknown", json!(1))),
        (
            false,
            with("", "revenues", json!({ "source": "revenues.json" })),
        ),
        (
            false,
            with("/chains", cluster, solana(json!({ "program": "x" }))),
        ),
        (
            false,
            with(chain, "budget", json!({ "perDay": 5, "perRun": "5" })),
        ),
        (
            false,
            with(chain, "budget", json!({ "perDay": "1 ETH", "perRun": "5" })),
        ),
        (false, with(evm, "identity", json!("0x12"))),
        (false, without(evm, "maxFee")),
        (false, without(chain, "budget")),
        (false, without("", "agents")),
        (false, without("", "store")),
    ] {
        let read = Config::parse(&config.to_string());
        let found = (validator.is_valid(&config), read.is_ok());
        assert_eq!(found, (is_valid, is_valid), "{config:#} {:?}", read.err());
    }
}
