//! A server whose paywall settled: it puts the settlement of the published vector on every answer, so that
//! each shape of a response can be asked for. `tests/settled.rs` has x402-axum with a real facilitator.
use axum::{Router, body::Body, extract::Request, middleware, response::Response};
use base64::{Engine, engine::general_purpose::STANDARD};
use concord_canonical::sign::PreparedKey;
use concord_files::{ReputationInfo, X402Profile, parse_info};
use concord_x402::server::{
    Agent, InteractionLayer, LocalSigner, Options, SigningKey, SigningKeys,
};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use std::sync::Arc;
use tower::ServiceExt;

/// The payment of the vector that @noble signed.
pub const TRANSACTION: &str = "0xeee928fc956e4399e2fe18ea303bed895b44f653b8cb2216c1d4ae1ff7a6610c";
pub const NETWORK: &str = "eip155:84532";
pub const NOW: u64 = 1_800_000_000;

pub fn settlement() -> Value {
    json!({
        "success": true,
        "payer": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
        "transaction": TRANSACTION,
        "network": NETWORK,
        "kept": { "as": 1.50, "it": "is" },
    })
}

pub fn info() -> ReputationInfo {
    let text = json!({
        "version": "1.0.0",
        "registrations": [{
            "agentRegistry": "eip155:84532:0x8004A818BFB912233c491871b3d84c89A494BD9e",
            "agentId": "42",
        }],
    });
    parse_info(text.to_string().as_bytes()).unwrap().into_view()
}

pub fn agent() -> Agent {
    Agent::new(info(), &X402Profile::ALL).unwrap()
}

/// The vector's key.
pub fn secp256k1() -> Arc<LocalSigner> {
    Arc::new(LocalSigner::new(PreparedKey::secp256k1(&[9; 32]).unwrap()))
}

pub fn ed25519() -> Arc<LocalSigner> {
    Arc::new(LocalSigner::new(PreparedKey::ed25519(&[9; 32])))
}

pub fn options() -> Options {
    Options {
        clock: || NOW,
        ..Options::default()
    }
}

pub async fn layer(options: Options) -> InteractionLayer {
    let key = SigningKey::new(secp256k1(), 0);
    let keys = SigningKeys::new(vec![key]).await.unwrap();
    InteractionLayer::with_options(agent(), Arc::new(keys), options)
}

pub fn header(content: &Value) -> String {
    STANDARD.encode(content.to_string())
}

async fn settle(request: Request, next: middleware::Next) -> Response {
    let mut response = next.run(request).await;
    let value = header(&settlement()).parse().unwrap();
    let headers = response.headers_mut();
    if !headers.contains_key("payment-response") {
        headers.insert("payment-response", value);
    }
    response
}

/// The router behind a paywall that settles each request.
pub fn settled(router: Router) -> Router {
    router.layer(middleware::from_fn(settle))
}

pub struct Answer {
    pub status: u16,
    pub headers: http::HeaderMap,
    pub body: Vec<u8>,
}

impl Answer {
    /// A header's JSON.
    pub fn json(&self, name: &str) -> Value {
        let text = STANDARD.decode(&self.headers[name]).unwrap();
        serde_json::from_slice(&text).unwrap()
    }

    pub fn interaction(&self) -> Value {
        self.json("payment-response")["extensions"]["8004-reputation"].clone()
    }

    /// Whether the paywall's header is as the paywall wrote it.
    pub fn is_unsigned(&self) -> bool {
        self.headers["payment-response"] == header(&settlement())
    }
}

pub async fn ask(router: Router, request: Request<Body>) -> Answer {
    let (parts, body) = router.oneshot(request).await.unwrap().into_parts();
    let body = body.collect().await.unwrap().to_bytes().to_vec();
    Answer {
        status: parts.status.as_u16(),
        headers: parts.headers,
        body,
    }
}

pub fn paid(method: &str, uri: &str, body: impl Into<Body>) -> Request<Body> {
    Request::builder()
        .method(method)
        .uri(uri)
        .header("payment-signature", "e30=")
        .body(body.into())
        .unwrap()
}
