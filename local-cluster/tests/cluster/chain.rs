//! Slots, commitment, block hashes.
use crate::client::{Client, SOL, still};
use concord_local_cluster::Options;
use serde_json::{Value, json};
use solana_address::Address;
use solana_hash::Hash;
use solana_signer::Signer;
use solana_system_interface::instruction::transfer;
use std::{thread::sleep, time::Duration};

fn number(client: &mut Client, method: &str, commitment: &str) -> u64 {
    let params = json!([{"commitment": commitment}]);
    client.result(method, params).as_u64().unwrap()
}

#[test]
fn slots_and_block_times_pass_with_wall_time() {
    let mut client = Client::new(Options {
        slot_duration: Duration::from_millis(20),
        ..Options::default()
    });
    let before = number(&mut client, "getSlot", "processed");
    let time = client.result("getBlockTime", json!([before]));
    sleep(Duration::from_millis(2000));
    let after = number(&mut client, "getSlot", "processed");
    assert!(after >= before + 100, "{before} to {after}");
    let later = client.result("getBlockTime", json!([after]));
    assert!(later.as_i64().unwrap() > time.as_i64().unwrap());
}

#[test]
fn a_commitment_is_as_many_blocks_behind_as_it_takes() {
    let mut client = Client::new(still());
    for method in ["getSlot", "getBlockHeight"] {
        let newest = number(&mut client, method, "processed");
        assert_eq!(number(&mut client, method, "confirmed"), newest - 1);
        assert_eq!(number(&mut client, method, "finalized"), newest - 32);
        assert_eq!(client.result(method, json!([])), newest - 32);
    }
    let height = number(&mut client, "getBlockHeight", "processed");
    assert_ne!(height, number(&mut client, "getSlot", "processed"));
}

#[test]
fn every_slot_since_the_start_is_kept() {
    let mut client = Client::new(still());
    let started = number(&mut client, "getSlot", "processed");
    let first = client.result("getFirstAvailableBlock", json!([]));
    assert!(first.as_u64().unwrap() <= started);
    let config = json!({"commitment": "confirmed", "transactionDetails": "none"});
    let block = client.result("getBlock", json!([first, config]));
    client.advance(400);
    assert_eq!(client.result("getFirstAvailableBlock", json!([])), first);
    assert_eq!(client.result("getBlock", json!([first, config])), block);
}

#[test]
fn a_node_that_forgets_keeps_accounts_and_no_transactions() {
    let mut client = Client::new(still());
    let address = Address::new_from_array([5; 32]).to_string();
    let airdrop = client.result("requestAirdrop", json!([address, SOL]));
    client.advance(40);
    let status = |client: &mut Client| client.value("getSignatureStatuses", json!([[airdrop]]));
    assert_ne!(status(&mut client)[0], Value::Null);
    let first = client.result("local_forget", json!([]));
    assert_eq!(status(&mut client)[0], Value::Null);
    assert_eq!(client.result("getFirstAvailableBlock", json!([])), first);
    assert_eq!(client.value("getBalance", json!([address])), SOL);
}

#[test]
fn each_slot_has_a_block_hash_that_is_valid_for_150_blocks() {
    let mut client = Client::new(still());
    let height = number(&mut client, "getBlockHeight", "processed");
    let newest = client.value("getLatestBlockhash", json!([{"commitment": "processed"}]));
    let finalized = client.value("getLatestBlockhash", json!([]));
    assert_eq!(newest["lastValidBlockHeight"], height + 150);
    assert_eq!(finalized["lastValidBlockHeight"], height - 32 + 150);
    let hash = newest["blockhash"].clone();
    let mut is_valid = |slots, commitment: &str| {
        client.advance(slots);
        client.value(
            "isBlockhashValid",
            json!([hash, {"commitment": commitment}]),
        )
    };
    assert_eq!(is_valid(0, "processed"), true);
    assert_eq!(is_valid(0, "finalized"), false); // not known there yet
    assert_eq!(is_valid(32, "finalized"), true);
    assert_eq!(is_valid(118, "processed"), true);
    assert_eq!(is_valid(1, "processed"), false);
    assert_eq!(is_valid(0, "finalized"), true);
    let now = client.value("getLatestBlockhash", json!([{"commitment": "processed"}]));
    assert_ne!(now["blockhash"], hash);
    let never = Hash::new_from_array([1; 32]).to_string();
    assert_eq!(client.value("isBlockhashValid", json!([never])), false);
}

#[test]
fn a_transaction_is_processed_then_confirmed_then_finalized() {
    let mut client = Client::new(still());
    let pay = transfer(
        &client.payer.pubkey(),
        &Address::new_from_array([3; 32]),
        SOL,
    );
    let signature = client.carry_out(&[], &[pay]);
    let slot = number(&mut client, "getSlot", "processed");
    let mut after = |slots| {
        client.advance(slots);
        let status = client.status(&signature);
        assert_eq!(status["slot"], slot);
        let seen = |client: &mut Client, commitment: &str| {
            let config = json!({"commitment": commitment});
            !client
                .result("getTransaction", json!([signature, config]))
                .is_null()
        };
        let seen = (
            seen(&mut client, "confirmed"),
            seen(&mut client, "finalized"),
        );
        (
            status["confirmationStatus"].clone(),
            status["confirmations"].clone(),
            seen,
        )
    };
    assert_eq!(after(0), (json!("processed"), json!(0), (false, false)));
    assert_eq!(after(1), (json!("confirmed"), json!(1), (true, false)));
    assert_eq!(after(30), (json!("confirmed"), json!(31), (true, false)));
    assert_eq!(after(1), (json!("finalized"), Value::Null, (true, true)));
    assert_eq!(after(268), (json!("finalized"), Value::Null, (true, true)));
    let forgotten =
        |client: &mut Client| client.value("getSignatureStatuses", json!([[signature]]));
    assert_ne!(forgotten(&mut client), json!([null]));
    client.advance(1);
    assert_eq!(forgotten(&mut client), json!([null]));
    assert_ne!(client.status(&signature), Value::Null);
}

#[test]
fn the_program_clock_is_the_clusters() {
    let mut client = Client::new(still());
    client.advance(7);
    let clock = client.data(
        &"SysvarC1ock11111111111111111111111111111111"
            .parse()
            .unwrap(),
    );
    // slot, epoch start, epoch, leader schedule's epoch, unix time: 8 bytes LE each
    let slot = number(&mut client, "getSlot", "processed");
    assert_eq!(clock[..8], slot.to_le_bytes());
    let time = client.result("getBlockTime", json!([slot]));
    assert_eq!(clock[32..], time.as_i64().unwrap().to_le_bytes());
    let epoch = client.result("getEpochInfo", json!([]))["epoch"].as_u64();
    assert_eq!(clock[16..24], epoch.unwrap().to_le_bytes());
}

#[test]
fn answers_its_genesis_hash() {
    let hash = Hash::new_from_array([5; 32]);
    let options = Options {
        genesis_hash: hash,
        ..still()
    };
    // bs58 of 32 bytes 5, cut at 32 characters, as CAIP-30 says
    assert_eq!(
        options.chain_id(),
        format!("solana:{}", &hash.to_string()[..32])
    );
    let mut client = Client::new(options);
    assert_eq!(client.result("getGenesisHash", json!([])), hash.to_string());
    assert_ne!(
        Options::default().genesis_hash.to_string(),
        "EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG" // devnet's
    );
}
