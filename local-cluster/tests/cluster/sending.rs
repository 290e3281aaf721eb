//! What becomes of a transaction that is sent.
use crate::client::{Client, SOL, sending, still, written};
use serde_json::{Value, json};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_signature::Signature;
use solana_signer::Signer;
use solana_system_interface::instruction::transfer;

const FRIEND: Address = Address::new_from_array([3; 32]);

fn pay(client: &Client, lamports: u64) -> Instruction {
    transfer(&client.payer.pubkey(), &FRIEND, lamports)
}

#[test]
fn a_transaction_sent_again_is_carried_out_once() {
    let mut client = Client::new(still());
    let call = pay(&client, SOL);
    let transaction = client.signed(&[], &[call]);
    let signature = client.send(&transaction);
    let again = client.result("sendTransaction", sending(&transaction, true));
    assert_eq!(again, json!(signature));
    assert_eq!(client.balance(&FRIEND), SOL);
    // A bank that has it says so; one that does not have it yet lets it pass.
    let error = client.error("sendTransaction", sending(&transaction, false));
    assert_eq!(error["code"], -32002);
    assert_eq!(error["data"]["err"], "AlreadyProcessed");
    client.advance(32);
    let mut params = sending(&transaction, false);
    params[1]["preflightCommitment"] = json!("finalized");
    assert_eq!(
        client.error("sendTransaction", params)["data"]["err"],
        "AlreadyProcessed"
    );
    assert_eq!(client.balance(&FRIEND), SOL);
}

#[test]
fn a_transaction_not_yet_confirmed_is_taken_again_by_a_confirmed_bank() {
    let mut client = Client::new(still());
    let call = pay(&client, SOL);
    let transaction = client.signed(&[], &[call]);
    client.advance(1);
    client.send(&transaction);
    let mut params = sending(&transaction, false);
    params[1]["preflightCommitment"] = json!("confirmed");
    client.result("sendTransaction", params);
    assert_eq!(client.balance(&FRIEND), SOL);
}

#[test]
fn refuses_a_block_hash_that_is_too_old() {
    let mut client = Client::new(still());
    let call = pay(&client, SOL);
    let transaction = client.signed(&[], &[call]);
    client.advance(150);
    client.send(&transaction);
    let call = pay(&client, SOL + 1);
    let transaction = client.signed(&[], &[call]);
    client.advance(151);
    let error = client.error("sendTransaction", sending(&transaction, false));
    assert_eq!(error["code"], -32002);
    assert_eq!(
        error["message"],
        "Transaction simulation failed: Blockhash not found"
    );
    assert_eq!(error["data"]["err"], "BlockhashNotFound");
    assert_eq!(error["data"]["logs"], json!([]));
    client.result("sendTransaction", sending(&transaction, true)); // and never lands
    assert_eq!(client.balance(&FRIEND), SOL);
    assert_eq!(
        client.status(&transaction.signatures[0].to_string()),
        Value::Null
    );
}

#[test]
fn a_finalized_bank_does_not_know_the_newest_block_hash() {
    let mut client = Client::new(still());
    let call = pay(&client, SOL);
    let transaction = client.signed(&[], &[call]);
    let params = json!([written(&transaction), {"encoding": "base64"}]);
    let error = client.error("sendTransaction", params.clone());
    assert_eq!(error["data"]["err"], "BlockhashNotFound");
    client.advance(32);
    client.result("sendTransaction", params);
    assert_eq!(client.balance(&FRIEND), SOL);
}

#[test]
fn refuses_what_fails_in_preflight_and_charges_for_it_without() {
    let mut client = Client::new(still());
    let call = pay(&client, 1000 * SOL);
    let transaction = client.signed(&[], &[call]);
    let error = client.error("sendTransaction", sending(&transaction, false));
    let failure = json!({"InstructionError": [0, {"Custom": 1}]});
    assert_eq!(error["code"], -32002);
    assert_eq!(
        error["message"],
        "Transaction simulation failed: Error processing Instruction 0: custom program error: 0x1"
    );
    assert_eq!(error["data"]["err"], failure);
    assert_eq!(error["data"]["unitsConsumed"], 150);
    let logs = error["data"]["logs"].as_array().unwrap();
    assert_eq!(
        logs[0],
        "Program 11111111111111111111111111111111 invoke [1]"
    );
    assert_eq!(client.balance(&client.payer.pubkey()), 100 * SOL);
    client.result("sendTransaction", sending(&transaction, true));
    let status = client.status(&transaction.signatures[0].to_string());
    assert_eq!(status["err"], failure);
    assert_eq!(status["status"], json!({"Err": failure}));
    assert_eq!(client.balance(&client.payer.pubkey()), 100 * SOL - 5000);
}

#[test]
fn refuses_a_wrong_signature() {
    let mut client = Client::new(still());
    let call = pay(&client, SOL);
    let mut transaction = client.signed(&[], &[call]);
    transaction.signatures[0] = Signature::from([1; 64]);
    let error = client.error("sendTransaction", sending(&transaction, false));
    assert_eq!(error["code"], -32003);
    assert_eq!(
        error["message"],
        "Transaction signature verification failure"
    );
    client.result("sendTransaction", sending(&transaction, true));
    assert_eq!(client.balance(&FRIEND), 0);
}

#[test]
fn refuses_a_payer_without_lamports() {
    let mut client = Client::new(still());
    client.payer = Keypair::new_from_array([8; 32]);
    let call = pay(&client, 1);
    assert_eq!(
        client.refused(&[], std::slice::from_ref(&call))["err"],
        "AccountNotFound"
    );
    let transaction = client.signed(&[], &[call]);
    client.result("sendTransaction", sending(&transaction, true));
    assert_eq!(
        client.status(&transaction.signatures[0].to_string()),
        Value::Null
    );
}

#[test]
fn refuses_a_transaction_larger_than_a_packet() {
    let mut client = Client::new(still());
    let mut call = pay(&client, SOL);
    call.data.resize(1232, 0);
    let transaction = client.signed(&[], &[call.clone()]);
    let size = wincode::serialize(&transaction).unwrap().len();
    let error = client.error("sendTransaction", sending(&transaction, true));
    assert_eq!(error["code"], -32602);
    let message = error["message"].as_str().unwrap();
    assert!(
        message.contains(&format!("{size} bytes (max: 1232 bytes)")),
        "{message}"
    );
    call.data.truncate(1232 - (size - 1232));
    let transaction = client.signed(&[], &[call]);
    assert_eq!(wincode::serialize(&transaction).unwrap().len(), 1232);
    client.result("sendTransaction", sending(&transaction, true));
}

#[test]
fn takes_base58_where_no_encoding_is_named() {
    let mut client = Client::new(still());
    let call = pay(&client, SOL);
    let transaction = client.signed(&[], &[call]);
    let text = bs58::encode(wincode::serialize(&transaction).unwrap()).into_string();
    client.result(
        "sendTransaction",
        json!([text, {"preflightCommitment": "processed"}]),
    );
    assert_eq!(client.balance(&FRIEND), SOL);
}

#[test]
fn an_airdrop_arrives_each_time() {
    let mut client = Client::new(still());
    let params = json!([FRIEND.to_string(), SOL]);
    let first = client.result("requestAirdrop", params.clone());
    let second = client.result("requestAirdrop", params);
    assert_ne!(first, second);
    assert_eq!(client.balance(&FRIEND), 2 * SOL);
    assert_eq!(client.status(first.as_str().unwrap())["err"], Value::Null);
}
