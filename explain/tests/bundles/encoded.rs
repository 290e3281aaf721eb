//! What a node answers, as the bytes that the recorder's own encoder made of it.
use crate::bundles::recorded::json;
use concord_explain::{proof_of_item, rpc};
use serde_json::{Value, json};

fn hexed(bytes: &[u8]) -> String {
    format!("0x{}", hex::encode(bytes))
}

#[test]
fn header_and_receipt_are_the_recorders() {
    let answers = json("rpc");
    let header = rpc::header(&answers["block"]).expect("a block");
    assert_eq!(Value::from(hexed(&header)), answers["header"]);
    let receipt = rpc::receipt(&answers["receipts"][0]).expect("a receipt");
    assert_eq!(Value::from(hexed(&receipt)), answers["receipt"]);
}

/// The root of a block's receipts is in its header, which anvil made.
#[test]
fn the_root_of_a_blocks_receipts_is_the_headers() {
    let answers = json("rpc");
    let receipts = answers["receipts"].as_array().expect("receipts").iter();
    let receipts: Vec<_> = receipts
        .map(|it| rpc::receipt(it).expect("a receipt"))
        .collect();
    let (root, _) = proof_of_item(&receipts, 0);
    assert_eq!(
        Value::from(root.to_string()),
        answers["block"]["receiptsRoot"]
    );
}

#[test]
fn an_answer_without_a_member_is_refused_by_its_name() {
    let mut answers = json("rpc");
    answers["block"]["stateRoot"] = json!("0xzz");
    let error = rpc::header(&answers["block"]).expect_err("no hex");
    assert_eq!(
        error.to_string(),
        "the node's answer has no readable stateRoot"
    );
    answers["receipts"][0]["logs"] = json!(null);
    let error = rpc::receipt(&answers["receipts"][0]).expect_err("no logs");
    assert_eq!(error.to_string(), "the node's answer has no readable logs");
}

/// The OP stack's transaction without a signature; the bytes are written by hand from its specification.
#[test]
fn a_deposit_is_encoded_as_its_specification_says() {
    let deposit = json!({
        "type": "0x7e", "sourceHash": format!("0x{}", "11".repeat(32)), "from": format!("0x{}", "22".repeat(20)),
        "to": format!("0x{}", "33".repeat(20)), "value": "0x0", "gas": "0xf4240", "isSystemTx": false, "input": "0x",
        "nonce": "0x5", "v": "0x0", "r": "0x0", "s": "0x0",
    });
    let expected = format!(
        "0x7ef853a0{}94{}94{}8080830f42408080",
        "11".repeat(32),
        "22".repeat(20),
        "33".repeat(20)
    );
    let encoded = rpc::transaction(&deposit).expect("a transaction");
    assert_eq!(hexed(&encoded), expected);
    let unknown = json!({ "type": "0x6a", "nonce": "0x0" });
    let error = rpc::transaction(&unknown).expect_err("a chain's own type");
    assert_eq!(error.to_string(), "the node's answer has no readable type");
}
