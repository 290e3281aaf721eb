use crate::server::paywall::*;
use alloy::primitives::{B256, keccak256};
use axum::{
    Router,
    routing::{get, post},
};
use concord_canonical::sign::{ed25519_verify, secp256k1_verify};
use concord_x402::{
    server::{InteractionLayer, Options, SigningKey, SigningKeys},
    wire::ExternalPrefix,
};
use serde_json::{Value, json};
use std::sync::Arc;

const TARGET: &str = "/weather?city=London&units=metric";
const BODY: &str = r#"{"tempC":11}"#;

fn weather() -> Router {
    Router::new().route("/weather", get(|| async { BODY }))
}

fn hex_bytes(value: &Value) -> Vec<u8> {
    hex::decode(value.as_str().unwrap().strip_prefix("0x").unwrap()).unwrap()
}

/// X402 §1, with alloy's Keccak.
fn expected_data_hash(request: &[u8], response: &[u8]) -> B256 {
    let length = u32::try_from(request.len()).unwrap().to_be_bytes();
    keccak256([&length, request, response].concat())
}

fn assert_hash(interaction: &Value, request: &str, response: &str) {
    let expected = expected_data_hash(request.as_bytes(), response.as_bytes());
    assert_eq!(interaction["dataHash"], expected.to_string());
}

#[tokio::test]
async fn x402_equals_the_data_that_noble_signed() {
    let router = settled(weather()).layer(layer(options()).await);
    let answer = ask(router, paid("GET", TARGET, "")).await;
    let expected = json!({
        "agentRegistry": "eip155:84532:0x8004A818BFB912233c491871b3d84c89A494BD9e",
        "agentId": "42",
        "taskRef": format!("{NETWORK}:{TRANSACTION}"),
        "dataHash": "0x621b98ca8048a4feaacac8799e067d05a6953bdce546103cd4f5ea3ab92a7654",
        "interactionHash": "0xeef75b68b38ad4d5b826779940c68c7586013336817a7dfd51ac75abaa3523b8",
        "agentSignerPublicKey": "0x0256b328b30c8bf5839e24058747879408bdb36241dc9c2e7c619faa12b2920967",
        "agentSignature": "0xc70a59219956dfb1af6844c5f13ee0feff3e8781fe05257df12c657cc65657fc532cdcc5d119be73cc30514c6f0a95b2e193335dcb34df341caeb2718b410b7d00",
        "agentSignatureAlgorithm": "secp256k1",
    });
    assert_eq!(answer.interaction(), expected);
    assert_eq!(answer.body, BODY.as_bytes());
    assert_eq!(answer.headers["cache-control"], "private");
}

#[tokio::test]
async fn r26_signs_each_profile_over_its_own_hash() {
    let router = settled(weather()).layer(layer(options()).await);
    let answer = ask(router, paid("GET", TARGET, "")).await;
    let extensions = &answer.json("payment-response")["extensions"];
    for (key, prefix) in [
        ("8004-reputation", "x402:8004-reputation:v1"),
        ("reputation", "x402:reputation:v1"),
    ] {
        let data = &extensions[key];
        let task_ref = data["taskRef"].as_str().unwrap();
        let data_hash = hex_bytes(&data["dataHash"]);
        let hash = keccak256([prefix.as_bytes(), task_ref.as_bytes(), &data_hash].concat());
        assert_eq!(data["interactionHash"], hash.to_string());
        let key = hex_bytes(&data["agentSignerPublicKey"]);
        secp256k1_verify(&key, &hash.0, &hex_bytes(&data["agentSignature"])).unwrap();
    }
    assert_eq!(extensions.as_object().unwrap().len(), 2);
}

#[tokio::test]
async fn unknown_members_of_the_settlement_survive() {
    let router = settled(weather()).layer(layer(options()).await);
    let mut found = ask(router, paid("GET", TARGET, ""))
        .await
        .json("payment-response");
    found.as_object_mut().unwrap().remove("extensions");
    assert_eq!(found, settlement());
}

#[tokio::test]
async fn signs_with_ed25519() {
    let keys = SigningKeys::new(vec![SigningKey::new(ed25519(), 0)])
        .await
        .unwrap();
    let layer = InteractionLayer::with_options(agent(), Arc::new(keys), options());
    let data = ask(settled(weather()).layer(layer), paid("GET", TARGET, ""))
        .await
        .interaction();
    assert_eq!(data["agentSignatureAlgorithm"], "ed25519");
    let hash = hex_bytes(&data["interactionHash"]);
    let key = hex_bytes(&data["agentSignerPublicKey"]);
    ed25519_verify(&key, &hash, &hex_bytes(&data["agentSignature"])).unwrap();
}

#[tokio::test]
async fn hashes_the_request_s_body_if_there_is_one() {
    let echo = Router::new().route("/echo", post(|body: String| async move { body }));
    let router = settled(echo).layer(layer(options()).await);
    let answer = ask(router, paid("POST", "/echo?a=1", "question")).await;
    assert_eq!(answer.body, b"question", "the handler reads the same body");
    assert_hash(&answer.interaction(), "question", "question");
}

#[tokio::test]
async fn hashes_a_body_that_the_handler_does_not_read() {
    let deaf = Router::new().route("/deaf", post(|| async { "done" }));
    let router = settled(deaf).layer(layer(options()).await);
    let answer = ask(router, paid("POST", "/deaf", "question")).await;
    assert_hash(&answer.interaction(), "question", "done");
}

#[tokio::test]
async fn r33_target_is_what_the_outermost_hop_received() {
    let with_layer = settled(weather()).layer(layer(options()).await);
    let nested = Router::new().nest("/v1", with_layer);
    let answer = ask(nested.clone(), paid("GET", "/v1/weather?q=%20a", "")).await;
    assert_hash(&answer.interaction(), "/v1/weather?q=%20a", BODY);

    let absolute = ask(
        nested,
        paid("GET", "https://agent.example/v1/weather?q", ""),
    )
    .await;
    assert_hash(&absolute.interaction(), "/v1/weather?q", BODY);

    let external_prefix = ExternalPrefix::new("/api").unwrap();
    let options = Options {
        external_prefix,
        ..options()
    };
    let router = settled(weather()).layer(layer(options).await);
    let answer = ask(router, paid("GET", "/weather", "")).await;
    assert_hash(&answer.interaction(), "/api/weather", BODY);
}

#[tokio::test]
async fn r33_head_has_an_empty_body() {
    let router = settled(weather()).layer(layer(options()).await);
    let answer = ask(router, paid("HEAD", TARGET, "")).await;
    assert_hash(&answer.interaction(), TARGET, "");
}

#[tokio::test]
async fn a_layer_adds_nothing_to_free_answers() {
    let router = weather().layer(layer(options()).await);
    let answer = ask(router, paid("GET", TARGET, "")).await;
    assert_eq!(answer.body, BODY.as_bytes());
    assert!(!answer.headers.contains_key("payment-response"));
    assert!(!answer.headers.contains_key("cache-control"));
}
