//! Questions that cannot be answered.
use crate::client::{Client, still};
use serde_json::{Value, json};

const ADDRESS: &str = "11111111111111111111111111111111";

fn refused(client: &mut Client, method: &str, params: Value, code: i64, names: &str) {
    let error = client.error(method, params);
    assert_eq!(error["code"], code, "{error}");
    let message = error["message"].as_str().unwrap();
    assert!(
        message.contains(names),
        "{message:?} does not name {names:?}"
    );
}

#[test]
fn refuses_an_unknown_method() {
    let client = &mut Client::new(still());
    refused(client, "getNothing", json!([]), -32601, "getNothing");
}

#[test]
fn refuses_parameters_that_cannot_be_read_by_name() {
    let client = &mut Client::new(still());
    let mut params = |method, params, names| refused(client, method, params, -32602, names);
    params("getBalance", json!([]), "pubkey: missing");
    params("getBalance", json!(["0"]), "pubkey");
    params("getBalance", json!([ADDRESS, 1]), "config");
    params(
        "getBalance",
        json!([ADDRESS, {"commitment": "sure"}]),
        "commitment",
    );
    params("getBalance", json!({}), "params");
    params(
        "getAccountInfo",
        json!([ADDRESS, {"encoding": "hex"}]),
        "encoding",
    );
    params(
        "getAccountInfo",
        json!([ADDRESS, {"dataSlice": {"offset": 1}}]),
        "length",
    );
    params("getMultipleAccounts", json!([[ADDRESS, "0"]]), "pubkeys");
    params("getMultipleAccounts", json!([vec![ADDRESS; 101]]), "101");
    params(
        "getProgramAccounts",
        json!([ADDRESS, {"filters": [{}]}]),
        "filters",
    );
    let memcmp = json!({"filters": [{"memcmp": {"offset": 0, "bytes": "0"}}]});
    params("getProgramAccounts", json!([ADDRESS, memcmp]), "bytes");
    params("getSignatureStatuses", json!([["abc"]]), "signatures");
    params("getTransaction", json!(["abc"]), "signature");
    params(
        "sendTransaction",
        json!(["!", {"encoding": "base64"}]),
        "transaction",
    );
    params(
        "sendTransaction",
        json!(["AAAA", {"encoding": "base64"}]),
        "transaction",
    );
    params(
        "sendTransaction",
        json!(["", {"encoding": "hex"}]),
        "encoding",
    );
    params("isBlockhashValid", json!(["abc"]), "blockhash");
    params("getFeeForMessage", json!(["AAAA"]), "message");
    params(
        "getMinimumBalanceForRentExemption",
        json!([-1]),
        "dataLength",
    );
    params(
        "getMinimumBalanceForRentExemption",
        json!([10 * 1024 * 1024 + 1]),
        "dataLength",
    );
    params(
        "getSignaturesForAddress",
        json!([ADDRESS, {"limit": 1001}]),
        "1001",
    );
    params("requestAirdrop", json!([ADDRESS, "1"]), "lamports");
    params("requestAirdrop", json!([ADDRESS, u64::MAX]), "lamports");
    params("local_hold", json!([1]), "hold");
    params("local_advance", json!([1_000_001]), "slots");
}

#[test]
fn refuses_other_questions_with_the_codes_of_nodes() {
    let client = &mut Client::new(still());
    let signature = "1".repeat(64);
    let processed = json!([signature, {"commitment": "processed"}]);
    refused(
        client,
        "getTransaction",
        processed,
        -32602,
        "below `confirmed`",
    );
    refused(
        client,
        "getBlockTime",
        json!([u64::MAX]),
        -32004,
        "not available",
    );
    let ahead = json!([{"minContextSlot": u64::MAX}]);
    let error = client.error("getSlot", ahead);
    assert_eq!(error["code"], -32016);
    assert!(error["data"]["contextSlot"].is_u64());
    let hashes = json!(["SysvarS1otHashes111111111111111111111111111", {"encoding": "base58"}]);
    refused(client, "getAccountInfo", hashes, -32600, "128 bytes");
}

#[test]
fn refuses_what_is_no_request() {
    let mut client = Client::new(still());
    let mut code = |body: &str| {
        let answer = client.post(body);
        (answer["error"]["code"].clone(), answer["id"].clone())
    };
    assert_eq!(code("{"), (json!(-32700), Value::Null));
    assert_eq!(code("[]"), (json!(-32600), Value::Null));
    assert_eq!(code(r#"{"id": 5}"#), (json!(-32600), json!(5)));
}

#[test]
fn answers_a_batch_in_its_order() {
    let mut client = Client::new(still());
    let one = |id, method| json!({"jsonrpc": "2.0", "id": id, "method": method});
    let note = json!({"jsonrpc": "2.0", "method": "getHealth"});
    let batch = json!([one(1, "getHealth"), note, one(2, "getNothing")]);
    let answers = client.post(&batch.to_string());
    assert_eq!(answers.as_array().unwrap().len(), 2);
    assert_eq!(
        answers[0],
        json!({"jsonrpc": "2.0", "result": "ok", "id": 1})
    );
    assert_eq!(
        (&answers[1]["id"], &answers[1]["error"]["code"]),
        (&json!(2), &json!(-32601))
    );
}
