//! Transactions whose accounts stand in a table.
use crate::client::{Client, SOL, still};
use serde_json::{Value, json};
use solana_address::Address;
use solana_instruction::{AccountMeta, Instruction};
use solana_message::{AddressLookupTableAccount, VersionedMessage, v0};
use solana_signer::Signer;
use solana_system_interface::instruction::transfer;
use solana_transaction::versioned::VersionedTransaction;

const TABLES: Address = Address::from_str_const("AddressLookupTab1e1111111111111111111111111");
const SYSTEM: Address = Address::from_str_const("11111111111111111111111111111111");
const FRIEND: Address = Address::new_from_array([3; 32]);

/// A table with one address, made against a finished slot.
fn table(client: &mut Client) -> Address {
    let slot = client.result("getSlot", json!([{"commitment": "confirmed"}]));
    let slot = slot.as_u64().unwrap().to_le_bytes();
    let payer = client.payer.pubkey();
    let (table, bump) = Address::find_program_address(&[payer.as_ref(), &slot], &TABLES);
    let accounts = vec![
        AccountMeta::new(table, false),
        AccountMeta::new_readonly(payer, true),
        AccountMeta::new(payer, true),
        AccountMeta::new_readonly(SYSTEM, false),
    ];
    // u32 LE 0, slot, bump; u32 LE 2, number of addresses in a u64 LE, addresses
    let creation = [&0u32.to_le_bytes()[..], &slot, &[bump]].concat();
    let extension = [
        &2u32.to_le_bytes()[..],
        &1u64.to_le_bytes(),
        FRIEND.as_ref(),
    ]
    .concat();
    let calls = [creation, extension].map(|data| Instruction {
        program_id: TABLES,
        accounts: accounts.clone(),
        data,
    });
    client.carry_out(&[], &calls);
    client.advance(1); // a new address counts from the next slot on
    table
}

#[test]
fn accounts_of_a_table_are_looked_up() {
    let mut client = Client::new(still());
    let key = table(&mut client);
    let payer = client.payer.pubkey();
    let before = client.balance(&payer);
    let addresses = vec![FRIEND];
    let tables = [AddressLookupTableAccount { key, addresses }];
    let (call, hash) = (transfer(&payer, &FRIEND, SOL), client.block_hash());
    let message = v0::Message::try_compile(&payer, &[call], &tables, hash).unwrap();
    let message = VersionedMessage::V0(message);
    let transaction = VersionedTransaction::try_new(message, &[&client.payer]).unwrap();
    let signature = client.send(&transaction);
    client.advance(1);
    let params = |known: Value| {
        let config = json!({"commitment": "confirmed", "maxSupportedTransactionVersion": known});
        json!([signature, config])
    };
    let read = client.result("getTransaction", params(json!(0)));
    assert_eq!(read["version"], 0);
    let message = &read["transaction"]["message"];
    assert_eq!(
        message["accountKeys"],
        json!([payer.to_string(), SYSTEM.to_string()])
    );
    let lookup =
        json!({"accountKey": key.to_string(), "writableIndexes": [0], "readonlyIndexes": []});
    assert_eq!(message["addressTableLookups"], json!([lookup]));
    let meta = &read["meta"];
    let loaded = json!({"writable": [FRIEND.to_string()], "readonly": []});
    assert_eq!(meta["loadedAddresses"], loaded);
    assert_eq!(meta["preBalances"], json!([before, 1, 0]));
    assert_eq!(meta["postBalances"], json!([before - SOL - 5000, 1, SOL]));
    let error = client.error("getTransaction", params(Value::Null));
    assert_eq!(error["code"], -32015);
}
