//! The conformance kit: our aggregator passes, and each aggregator that is deliberately wrong fails by name.
use crate::world::{Running, World, network};
use alloy::transports::http::reqwest::{Client, Url};
use axum::{
    Router,
    body::Bytes,
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::post,
};
use concord_aggregator::check::Kit;
use concord_canonical::sign::PreparedKey;
use serde_json::{Value, json};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::net::TcpListener;

/// How an aggregator is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// It is not; it only has no receipts, which X402 does not know.
    NoReceipts,
    AcceptsEverything,
    OtherCodes,
    NoMessages,
    NewAnswerEachTime,
    DuplicatesAreUnavailable,
    OnlyPraise,
    OtherChain,
    NoTransaction,
}

/// What our aggregator answers, changed.
fn changed(
    fault: Fault,
    sent: &Value,
    (status, mut body): (u16, Value),
    count: u64,
) -> (u16, Value) {
    let is_taken = matches!(status, 200 | 202);
    let submitted = json!({
        "status": "submitted", "settlementRegistry": format!("{}:0x00", network()),
        "txRef": format!("{}:0x00", network()), "feedbackURI": "ipfs://",
    });
    match fault {
        Fault::NoReceipts => drop(body.as_object_mut().unwrap().remove("receipt")),
        Fault::AcceptsEverything if !is_taken => return (200, submitted),
        Fault::OtherCodes if !is_taken => body["code"] = json!("BAD_REQUEST"),
        Fault::NoMessages if !is_taken => body["message"] = json!(""),
        Fault::NewAnswerEachTime if is_taken => body["receipt"] = json!(count),
        Fault::DuplicatesAreUnavailable if status == 409 => return (503, body),
        Fault::OnlyPraise if sent["review"]["value"].as_i64().is_some_and(|it| it < 0) => {
            let body = json!({ "status": "error", "code": "INVALID_PAYLOAD", "message": "no" });
            return (400, body);
        }
        Fault::OtherChain if is_taken => body["settlementRegistry"] = json!("eip155:1:0x00"),
        Fault::NoTransaction if is_taken => drop(body.as_object_mut().unwrap().remove("txRef")),
        _ => {}
    }
    (status, body)
}

/// An aggregator in front of ours, which is wrong in one way.
async fn start(fault: Fault, ours: String) -> Url {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/feedback", listener.local_addr().unwrap());
    let (client, count) = (Client::new(), Arc::new(AtomicU64::new(0)));
    let submit = move |sent: Bytes| {
        let request = client.post(format!("{ours}/feedback")).body(sent.clone());
        let count = count.fetch_add(1, Ordering::SeqCst);
        async move {
            let answer = request.send().await.unwrap();
            let status = answer.status().as_u16();
            let body: Value = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
            let sent = serde_json::from_slice(&sent).unwrap_or(Value::Null);
            let (status, body) = changed(fault, &sent, (status, body), count);
            let status = StatusCode::from_u16(status).unwrap();
            (status, body.to_string()).into_response() as Response
        }
    };
    let routes = Router::new().route("/feedback", post(submit));
    tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
    url.parse().unwrap()
}

/// The names of the cases that fail, and how many there are.
async fn failures(world: &World, url: Url) -> (Vec<&'static str>, usize) {
    let mut payments = Vec::new();
    for _ in 0..3 {
        payments.push(format!("{}:{}", network(), world.pay(1).await));
    }
    let kit = Kit {
        url,
        client: Client::new(),
        agent_registry: world.chain.registry_account(),
        agent_id: world.chain.agent_id.to_string(),
        agent_key: world.chain.signer.clone(),
        reviewer_key: PreparedKey::secp256k1(&world.chain.payer.to_bytes().0).unwrap(),
        payments: payments.try_into().unwrap(),
        patience: Duration::from_secs(60),
    };
    let results = kit.run().await.unwrap();
    let failed = results.iter().filter(|it| it.failure.is_some());
    let failed: Vec<&str> = failed.map(|it| it.name).collect();
    println!("{results:#?}");
    (failed, results.len())
}

const REFUSED: [&str; 14] = [
    "not-json",
    "a-member-twice",
    "no-review",
    "no-interaction",
    "no-value",
    "decimals-out-of-range",
    "another-interaction-hash",
    "malformed-task-ref",
    "another-key-signed-the-review",
    "another-value-was-signed",
    "the-registry-is-unknown",
    "the-agent-is-unknown",
    "another-key-signed-the-interaction",
    "nobody-paid",
];
const POSITIVE: &str = "positive-review-is-accepted";
const NEGATIVE: &str = "negative-review-is-accepted";
const SAME: &str = "same-payload-has-the-same-answer";
const DUPLICATE: &str = "other-review-of-a-payment";
const UNCHANGED: &str = "a-duplicate-changes-nothing";
const AT_ONCE: &str = "one-submission-of-many-at-once";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_kit_passes_ours_and_names_what_others_do_wrong() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(&world, folder.path()).await;
    let ours = running.origin.clone();
    let url = format!("{ours}/feedback").parse().unwrap();
    assert_eq!(failures(&world, url).await, (vec![], REFUSED.len() + 6));
    assert_eq!(world.feedbacks().await, 3);

    let all_refused = [&REFUSED[..], &[DUPLICATE, AT_ONCE]].concat();
    for (fault, expected) in [
        (Fault::NoReceipts, vec![]),
        (Fault::AcceptsEverything, all_refused.clone()),
        (Fault::OtherCodes, all_refused),
        (Fault::NoMessages, [&REFUSED[..], &[DUPLICATE]].concat()),
        (Fault::NewAnswerEachTime, vec![SAME, UNCHANGED, AT_ONCE]),
        (Fault::DuplicatesAreUnavailable, vec![DUPLICATE, AT_ONCE]),
        (Fault::OnlyPraise, vec![NEGATIVE]),
        (Fault::OtherChain, vec![POSITIVE, NEGATIVE]),
        (Fault::NoTransaction, vec![POSITIVE, NEGATIVE]),
    ] {
        let url = start(fault, ours.clone()).await;
        let (failed, _) = failures(&world, url).await;
        assert_eq!(failed, expected, "{fault:?}");
    }
    running.stop().await;
}
