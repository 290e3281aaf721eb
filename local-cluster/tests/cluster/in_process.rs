//! A cluster without HTTP.
use crate::client::{Client, SOL, still};
use concord_local_cluster::{LocalCluster, RpcError};
use serde_json::{Value, json};
use solana_signer::Signer;
use std::net::TcpStream;

#[test]
fn answers_as_over_http() {
    let mut client = Client::new(still());
    let params = json!([client.payer.pubkey().to_string()]);
    let answer = client.server.answer("getBalance", &params).unwrap();
    assert_eq!(answer["value"], 100 * SOL);
    assert_eq!(client.result("getBalance", params), answer);
}

#[test]
fn refuses_as_over_http() {
    let error = LocalCluster::new(still()).answer("getNothing", &Value::Null);
    assert_eq!(error.unwrap_err().code, RpcError::METHOD);
}

#[test]
fn a_server_is_gone_when_it_is_dropped() {
    let client = Client::new(still());
    let port = client.server.port();
    drop(client);
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
}
