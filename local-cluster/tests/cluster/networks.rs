//! What networks do, on demand.
use crate::client::{Client, SOL, sending, still};
use serde_json::{Value, json};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_signer::Signer;
use solana_system_interface::instruction::transfer;

const FRIEND: Address = Address::new_from_array([3; 32]);

fn pay(client: &Client, lamports: u64) -> Instruction {
    transfer(&client.payer.pubkey(), &FRIEND, lamports)
}

#[test]
fn a_rollback_takes_back_everything_since_the_checkpoint() {
    let mut client = Client::new(still());
    let kept = pay(&client, SOL);
    let kept = client.carry_out(&[], &[kept]);
    let before = client.block_hash();
    client.result("local_checkpoint", json!([]));
    client.advance(1);
    let call = pay(&client, 2 * SOL);
    let lost = client.signed(&[], &[call]);
    let signature = client.send(&lost);
    assert_eq!(client.balance(&FRIEND), 3 * SOL);
    let height = client.result("getBlockHeight", json!([{"commitment": "processed"}]));
    client.result("local_rollback", json!([]));
    assert_eq!(client.balance(&FRIEND), SOL);
    assert_eq!(client.status(&signature), Value::Null);
    assert_eq!(client.status(&kept)["err"], Value::Null);
    let after = client.result("getBlockHeight", json!([{"commitment": "processed"}]));
    assert_eq!(after.as_u64(), height.as_u64().map(|height| height + 1));
    // Its block hash was of the fork that lost.
    let error = client.error("sendTransaction", sending(&lost, false));
    assert_eq!(error["data"]["err"], "BlockhashNotFound");
    let params = json!([before.to_string(), {"commitment": "processed"}]);
    assert_eq!(client.value("isBlockhashValid", params), true);
    assert_eq!(client.error("local_rollback", json!([]))["code"], -32600);
}

#[test]
fn a_transaction_taken_back_can_land_again() {
    let mut client = Client::new(still());
    let call = pay(&client, SOL);
    let transaction = client.signed(&[], &[call]);
    client.result("local_checkpoint", json!([]));
    let signature = client.send(&transaction);
    client.result("local_rollback", json!([]));
    assert_eq!(client.balance(&FRIEND), 0);
    assert_eq!(client.send(&transaction), signature);
    assert_eq!(client.balance(&FRIEND), SOL);
}

#[test]
fn block_hashes_expire_at_once() {
    let mut client = Client::new(still());
    let latest = client.value("getLatestBlockhash", json!([{"commitment": "processed"}]));
    let call = pay(&client, SOL);
    let transaction = client.signed(&[], &[call]);
    client.result("local_expire_blockhashes", json!([]));
    let height = client.result("getBlockHeight", json!([{"commitment": "processed"}]));
    assert!(height.as_u64() > latest["lastValidBlockHeight"].as_u64());
    let error = client.error("sendTransaction", sending(&transaction, false));
    assert_eq!(error["data"]["err"], "BlockhashNotFound");
    let call = pay(&client, SOL);
    client.carry_out(&[], &[call]);
}

#[test]
fn a_transaction_held_lands_when_it_is_let_go() {
    let mut client = Client::new(still());
    client.result("local_hold", json!([true]));
    let call = pay(&client, SOL);
    let transaction = client.signed(&[], &[call]);
    let signature = client.send(&transaction);
    assert_eq!(client.status(&signature), Value::Null);
    client.advance(3);
    client.result("local_hold", json!([false]));
    assert_eq!(client.status(&signature)["confirmationStatus"], "processed");
    assert_eq!(client.balance(&FRIEND), SOL);
}

#[test]
fn a_transaction_held_too_long_is_dropped() {
    let mut client = Client::new(still());
    client.result("local_hold", json!([true]));
    let call = pay(&client, SOL);
    let transaction = client.signed(&[], &[call]);
    let signature = client.send(&transaction);
    client.result("local_expire_blockhashes", json!([]));
    client.result("local_hold", json!([false]));
    assert_eq!(client.status(&signature), Value::Null);
    assert_eq!(client.balance(&FRIEND), 0);
}
