//! R36: an audit of transactions that only OP-stack chains have.
use crate::{
    audit::{GRACE, audit, problems, publish},
    world::{Running, World, network, node},
};
use alloy::transports::http::reqwest;
use axum::{Router, body::Bytes, extract::State, routing::post};
use concord_aggregator::audit::Settlement;
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// A node's answer, but that this transaction is a deposit of an OP-stack chain.
async fn with_a_deposit(State(node): State<String>, body: Bytes) -> Vec<u8> {
    let request: Value = serde_json::from_slice(&body).unwrap();
    let asked = request["method"] == "eth_getTransactionReceipt";
    if asked && request["params"][0] == deposit() {
        let text = |byte: &str, length: usize| format!("0x{}", byte.repeat(length));
        let receipt = json!({
            "type": "0x7e", "status": "0x1", "transactionHash": deposit(), "transactionIndex": "0x0",
            "blockHash": text("22", 32), "blockNumber": "0x1", "from": text("de", 20),
            "to": text("42", 20), "contractAddress": null, "cumulativeGasUsed": "0xb44c",
            "gasUsed": "0xb44c", "effectiveGasPrice": "0x0", "logs": [],
            "logsBloom": text("00", 256), "depositNonce": "0x1", "depositReceiptVersion": "0x1",
        });
        let answer = json!({ "jsonrpc": "2.0", "id": request["id"], "result": receipt });
        return answer.to_string().into_bytes();
    }
    let request = reqwest::Client::new().post(node).body(body);
    let request = request.header("content-type", "application/json");
    let answer = request.send().await.unwrap().bytes().await.unwrap();
    answer.to_vec()
}

fn deposit() -> String {
    format!("0x{}", "de".repeat(32))
}

/// The first transaction of each block of Base is one. Its receipt is of a type that Ethereum does not have.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r36_a_deposit_for_a_transaction_is_one_finding_and_the_audit_goes_on() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(&world, folder.path()).await;
    for _ in 0..2 {
        let draft = world.review(&world.pay(1).await);
        assert_eq!(running.submit(&draft).await.status, 200);
    }
    let page = running.get("/receipts").await;
    let mut receipts = page.body["receipts"].as_array().unwrap().clone();
    receipts[0]["txRef"] = json!(format!("{}:{}", network(), deposit()));
    let now = receipts[1]["receipt"]["acceptedAt"].as_u64().unwrap() + GRACE;
    let origin = publish(receipts, &folder.path().join("files")).await;

    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let routes = Router::new().route("/", post(with_a_deposit));
    let routes = routes.with_state(world.chain.url.clone());
    tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
    let mut audit = audit(&world, &origin);
    let settlement = Settlement::Evm {
        node: node(&url),
        identity: world.chain.registry,
        reputation: world.open,
    };
    audit.settlements.insert(network(), settlement);
    let report = audit.run(&[], now).await.unwrap();
    assert_eq!(problems(&report), [(1, "differs".to_owned())]);
    assert_eq!(report.published, 1);
    running.stop().await;
}
