//! Which registries count (R28), and the words of draft ERC-8478.
use crate::quote::{
    edited,
    market::{Market, OTHER, REGISTRY},
};
use concord_x402::quote::KnownRegistries;
use serde_json::{Value, json};

const BASE: &str = "eip155:8453:0x8004A169FB4a3325136EB29fA0ceB6D2e539a432";

#[test]
fn r28_the_canonical_registries_are_known_on_their_chains_only() {
    let known = KnownRegistries::canonical();
    assert!(known.has(REGISTRY) && known.has(&REGISTRY.to_lowercase()) && known.has(BASE));
    // X402's example has the testnets' registry on Base
    let elsewhere = REGISTRY.replace("84532", "8453");
    for other in [&*elsewhere, &BASE.replace("8453", "31337"), "0x8004", ""] {
        assert!(!known.has(other), "{other}");
    }
    // Where a proxy at the canonical address was never upgraded, as reported.
    for chain in ["38833", "677"] {
        assert!(!known.has(&BASE.replace("8453", chain)), "{chain}");
    }
    assert!(!KnownRegistries::default().has(REGISTRY));
}

fn book(address: &str) -> Value {
    json!({
        "$schema": "addresses.schema.json",
        "chains": {
            "eip155:31337": {
                "contracts": {
                    "IdentityRegistry": { "address": address },
                    "ValidationRegistry": { "address": "0x8004Cb1BF31DAf7788923b405b754f57acEB4272" },
                },
                "others": [{ "contract": "IdentityRegistry", "address": "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC" }],
            },
            "solana:localnet": {
                "contracts": { "AgentRegistry": { "address": "4dqu3YHQaBRRG7MPP4KRapDWK2XoAcHuAjTRwTuZCxbB" } },
            },
        },
    })
}

#[test]
fn r28_the_registries_in_use_of_an_address_book_are_known() {
    let mut known = KnownRegistries::default();
    known.trust_address_book(&book(OTHER).to_string()).unwrap();
    for it in [
        &*format!("eip155:31337:{OTHER}"),
        "solana:localnet:4dqu3YHQaBRRG7MPP4KRapDWK2XoAcHuAjTRwTuZCxbB",
    ] {
        assert!(known.has(it), "{it}");
    }
    for it in [
        "eip155:31337:0x8004Cb1BF31DAf7788923b405b754f57acEB4272",
        "eip155:31337:0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
        &*format!("eip155:84532:{OTHER}"),
    ] {
        assert!(!known.has(it), "{it}");
    }
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/../deployments/addresses.json");
    let own = std::fs::read_to_string(own).unwrap();
    known.trust_address_book(&own).unwrap();
}

#[test]
fn r28_of_a_malformed_address_book_nothing_is_known() {
    let mut known = KnownRegistries::default();
    let error = known
        .trust_address_book(&book("0x12").to_string())
        .unwrap_err();
    let path = "$.chains.eip155:31337.contracts.IdentityRegistry.address";
    assert!(error.to_string().contains(path), "{error}");
    for text in ["", "{}", r#"{"chains":[]}"#, r#"{"chains":{},"chains":{}}"#] {
        assert!(known.trust_address_book(text).is_err(), "{text}");
    }
    assert_eq!(known, KnownRegistries::default());
}

#[tokio::test]
async fn outcomes_have_the_words_of_draft_erc_8478() {
    let quote = Market::honest().quote().await.unwrap();
    assert_eq!(quote.erc8478_outcome(), Some("verified-wallet"));
    let unbound = edited(|it| {
        it.record()["uri"] = json!("https://files.example/agent.json");
        it.proof = json!("unavailable");
    });
    let quote = unbound.quote().await.unwrap();
    assert_eq!(quote.erc8478_outcome(), Some("endpoint-unlisted"));
    type Edit = fn(&mut Market);
    let cases: [(Edit, Option<&str>); 6] = [
        (|it| it.header = None, None),
        (|it| it.agent = Some(Value::Null), Some("no-identity")),
        (|it| it.agent = None, Some("not-read")),
        (|it| it.file = json!("mismatch"), Some("not-read")),
        (
            |it| it.record()["wallet"] = Value::Null,
            Some("no-agent-wallet"),
        ),
        (|it| it.record()["wallet"] = json!(OTHER), Some("mismatch")),
    ];
    for (edit, expected) in cases {
        let refusal = edited(edit).quote().await.unwrap_err();
        assert_eq!(refusal.erc8478_outcome(), expected, "{refusal}");
    }
}
