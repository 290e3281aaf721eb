//! What the layer adds to a paid answer and to a 402, beside the bare signature and hash. Everything runs in one
//! process, one after the other; `docs/BENCHMARKS.md` holds the ratios.

use std::{convert::Infallible, sync::Arc};

use axum::body::Body;
use base64::{Engine, engine::general_purpose::STANDARD};
use concord_canonical::{hash::keccak256, sign::PreparedKey};
use concord_files::{X402Profile, parse_info};
use concord_x402::server::{
    Agent, InteractionLayer, LocalSigner, ReplayBody, SigningKey, SigningKeys,
};
use divan::{Bencher, black_box};
use http::{HeaderValue, Request, Response};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use tower::{Layer, Service, ServiceExt, service_fn};

const LENGTHS: [usize; 2] = [1 << 10, 100 << 10];
const TARGET: &str = "/weather?city=London&units=metric";
const TRANSACTION: &str = "0xeee928fc956e4399e2fe18ea303bed895b44f653b8cb2216c1d4ae1ff7a6610c";

fn main() {
    divan::main();
}

fn runtime() -> Runtime {
    let runtime = Builder::new_current_thread().enable_time().build();
    runtime.expect("a runtime")
}

fn header(content: &Value) -> HeaderValue {
    let text = STANDARD.encode(content.to_string());
    text.parse().expect("base64")
}

fn settled() -> HeaderValue {
    header(&json!({
        "success": true, "payer": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8", "transaction": TRANSACTION,
        "network": "eip155:84532",
    }))
}

fn required() -> HeaderValue {
    header(&json!({
        "x402Version": 2,
        "resource": { "url": "https://agent.example/weather", "description": "", "mimeType": "" },
        "accepts": [{
            "scheme": "exact", "network": "eip155:84532", "amount": "10000", "maxTimeoutSeconds": 60,
            "payTo": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
            "asset": "0x036CbD53842c5426634e7929541eC2318f3dCF7e", "extra": { "name": "USDC", "version": "2" },
        }],
    }))
}

fn layer(runtime: &Runtime, key: PreparedKey) -> InteractionLayer {
    let info = json!({
        "version": "1.0.0",
        "registrations": [{
            "agentRegistry": "eip155:84532:0x8004A818BFB912233c491871b3d84c89A494BD9e", "agentId": "42",
        }],
    });
    let info = parse_info(info.to_string().as_bytes())
        .expect("info")
        .into_view();
    let agent = Agent::new(info, &[X402Profile::Reputation8004]).expect("an agent");
    let key = SigningKey::new(Arc::new(LocalSigner::new(key)), 0);
    let keys = runtime
        .block_on(SigningKeys::new(vec![key]))
        .expect("a key");
    InteractionLayer::new(agent, Arc::new(keys))
}

/// A paywall that answers at once: a body of so many bytes, and one header.
fn answer(name: &'static str, value: HeaderValue, length: usize) -> Response<Body> {
    let body = Body::from(vec![b'x'; length]);
    let response = Response::builder().header(name, value);
    response.body(body).expect("a response")
}

/// Asks a service until its whole body is there.
async fn ask<S, B>(service: &mut S) -> usize
where
    S: Service<Request<Body>, Response = Response<B>, Error = Infallible>,
    B: http_body::Body<Data = bytes::Bytes>,
    B::Error: std::fmt::Debug,
{
    let request = Request::builder()
        .uri(TARGET)
        .header("payment-signature", "e30=");
    let request = request.body(Body::empty()).expect("a request");
    let service = service.ready().await.expect("is ready");
    let response = service.call(black_box(request)).await.expect("answers");
    let body = response.into_body().collect().await.expect("a body");
    body.to_bytes().len()
}

fn prepared(algorithm: &str) -> PreparedKey {
    match algorithm {
        "secp256k1" => PreparedKey::secp256k1(&[9; 32]).expect("a key"),
        _ => PreparedKey::ed25519(&[9; 32]),
    }
}

/// The answer of a paywall that settled, without the layer.
#[divan::bench(args = LENGTHS)]
fn paid_without(bencher: Bencher, length: usize) {
    let runtime = runtime();
    let value = settled();
    let mut service = service_fn(move |_: Request<Body>| {
        let response = answer("payment-response", value.clone(), length);
        async { Ok::<_, Infallible>(response) }
    });
    bencher.bench_local(|| runtime.block_on(ask(&mut service)));
}

fn paid_with(bencher: Bencher, length: usize, algorithm: &str) {
    let runtime = runtime();
    let value = settled();
    let paywall = service_fn(move |_: Request<ReplayBody<Body>>| {
        let response = answer("payment-response", value.clone(), length);
        async { Ok::<_, Infallible>(response) }
    });
    let mut service = layer(&runtime, prepared(algorithm)).layer(paywall);
    bencher.bench_local(|| runtime.block_on(ask(&mut service)));
}

#[divan::bench(args = LENGTHS)]
fn paid_with_secp256k1(bencher: Bencher, length: usize) {
    paid_with(bencher, length, "secp256k1");
}

#[divan::bench(args = LENGTHS)]
fn paid_with_ed25519(bencher: Bencher, length: usize) {
    paid_with(bencher, length, "ed25519");
}

/// The least that a signed answer costs: one signature with a prepared key, and Keccak of the bytes.
fn bare(bencher: Bencher, length: usize, algorithm: &str) {
    let key = prepared(algorithm);
    let bytes = vec![b'x'; 4 + TARGET.len() + length];
    bencher.bench_local(|| {
        let hash = keccak256(black_box(&bytes));
        key.sign(&hash, <[u8]>::to_vec).expect("a signature")
    });
}

#[divan::bench(args = LENGTHS)]
fn bare_secp256k1(bencher: Bencher, length: usize) {
    bare(bencher, length, "secp256k1");
}

#[divan::bench(args = LENGTHS)]
fn bare_ed25519(bencher: Bencher, length: usize) {
    bare(bencher, length, "ed25519");
}

/// A 402, without the layer and with it.
#[divan::bench]
fn unpaid_without(bencher: Bencher) {
    let runtime = runtime();
    let value = required();
    let mut service = service_fn(move |_: Request<Body>| {
        let response = answer("payment-required", value.clone(), 0);
        async { Ok::<_, Infallible>(response) }
    });
    bencher.bench_local(|| runtime.block_on(ask(&mut service)));
}

#[divan::bench]
fn unpaid_with(bencher: Bencher) {
    let runtime = runtime();
    let value = required();
    let paywall = service_fn(move |_: Request<ReplayBody<Body>>| {
        let response = answer("payment-required", value.clone(), 0);
        async { Ok::<_, Infallible>(response) }
    });
    let mut service = layer(&runtime, prepared("secp256k1")).layer(paywall);
    bencher.bench_local(|| runtime.block_on(ask(&mut service)));
}
