//! New heads and logs over WebSocket.
use alloy::{
    primitives::{Address, B256, Bytes, U256, bytes},
    rpc::types::Filter,
};
use concord_chain::{
    Blocking, ChainError, EndpointOptions,
    evm::{Client, FeeLimit, Node, TxCall},
};
use concord_testkit::anvil::{TIMEOUT, key, start};
use serde_json::json;
use std::time::Duration;

/// PUSH1 7, PUSH0, PUSH0, LOG1, STOP: logs the topic 7 without data.
const LOGGER: Bytes = bytes!("60075f5fa100");

async fn put_logger(node: &Node, at: Address) {
    let set: () = node
        .endpoint()
        .expect("anvil_setCode", json!([at, LOGGER]))
        .await
        .unwrap();
    set
}

async fn call_logger(node: &Node, signer: &alloy::signers::local::PrivateKeySigner, at: Address) {
    let mut client = Client::at(node.clone(), 31_337, FeeLimit::default(), TIMEOUT)
        .await
        .unwrap();
    let call = TxCall {
        to: at,
        value: U256::ZERO,
        gas: 100_000,
        input: Bytes::new(),
    };
    let hash = client.send(signer, call).await.unwrap();
    client.landed(hash).await.unwrap();
}

#[test]
fn heads_and_logs_arrive_over_a_websocket() {
    let anvil = start(&[]);
    let blocking = Blocking::new().unwrap();
    blocking.wait(async {
        let node = Node::connect_ws(&anvil.ws_endpoint(), TIMEOUT)
            .await
            .unwrap();
        let at = Address::repeat_byte(0x11);
        put_logger(&node, at).await;
        let mut heads = node.subscribe_heads().await.unwrap();
        let mut logs = node
            .subscribe_logs(&Filter::new().address(at))
            .await
            .unwrap();
        call_logger(&node, &key(&anvil, 0), at).await;

        let head = tokio::time::timeout(TIMEOUT, heads.recv());
        assert_eq!(head.await.unwrap().unwrap().number, 1);
        let log = tokio::time::timeout(TIMEOUT, logs.recv());
        let log = log.await.unwrap().unwrap();
        assert_eq!(log.address(), at);
        assert_eq!(log.topics(), [B256::with_last_byte(7)]);
        assert_eq!(log.block_number, Some(1));
        let filter = Filter::new().address(at);
        assert_eq!(node.logs(&filter).await.unwrap().len(), 1);
    });
}

#[test]
fn http_cannot_subscribe_and_says_so() {
    let anvil = start(&[]);
    let node = Node::new(&EndpointOptions::new(anvil.endpoint())).unwrap();
    let blocking = Blocking::new().unwrap();
    let refused = blocking.wait(node.subscribe_heads()).unwrap_err();
    let words = refused.to_string();
    assert!(words.contains("need a WebSocket URL"), "{words}");
}

#[test]
fn a_websocket_that_is_not_there_is_named_by_its_host() {
    let blocking = Blocking::new().unwrap();
    let url = "ws://127.0.0.1:1/secret-key-of-the-provider";
    let error = blocking.wait(Node::connect_ws(url, Duration::from_secs(5)));
    let words = error.unwrap_err().to_string();
    assert!(words.contains("127.0.0.1:1"), "{words}");
    assert!(!words.contains("secret-key"), "{words}");
    let error = blocking.wait(Node::connect_ws("http://127.0.0.1:1", TIMEOUT));
    assert!(matches!(error, Err(ChainError::WebSocketUrlMalformed)));
}
