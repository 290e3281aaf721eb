//! An address lookup table on a development node, for what no packet holds without one.
use super::{
    development::Development,
    ledger::{Answer, check_instructions},
    live::Live,
    lookup_table,
};
use crate::backend::StepFault;
use serde_json::json;
use solana_address::Address;
use solana_address_lookup_table_interface::instruction::{
    create_lookup_table, extend_lookup_table,
};
use solana_hash::Hash;
use solana_instruction::Instruction;
use solana_message::AddressLookupTableAccount;
use solana_signer::Signer;
use std::{
    thread,
    time::{Duration, Instant},
};

/// So many addresses of 32 bytes fit one packet beside the rest of a transaction.
const EXTENSION: usize = 25;
const SIGNATURE: [u8; 64] = [0; 64];
/// How often the slot is asked.
const POLL: Duration = Duration::from_millis(100);

/// The transaction of one instruction that a simulation takes: without a signature, paid by the
/// registry's authority, with a table that is on the node.
pub fn transaction(
    node: &Live,
    development: &Development,
    instruction: &Instruction,
) -> Answer<Vec<u8>> {
    check_instructions(1, std::slice::from_ref(instruction))?;
    let payer = development.authority().pubkey();
    let mut table = lookup_table::of(instruction);
    table.addresses.sort_unstable();
    table.addresses.dedup();
    // Whether a packet holds it even so, before anything is spent on a table.
    lookup_table::message(&payer, instruction, &table, Hash::default())?;
    if !development.put(node, &table.key, &lookup_table::account(&table))? {
        table.key = land(node, development, &payer, &table)?;
    }
    let message = lookup_table::message(&payer, instruction, &table, Hash::default())?;
    Ok([&[1][..], &SIGNATURE, &message.serialize()].concat())
}

/// Lands the table, and returns its address once transactions can use it.
fn land(
    node: &Live,
    development: &Development,
    payer: &Address,
    table: &AddressLookupTableAccount,
) -> Answer<Address> {
    let (create, address) = create_lookup_table(*payer, *payer, slot(node, "finalized")?);
    development.land(node, &[create], "a lookup table")?;
    for addresses in table.addresses.chunks(EXTENSION) {
        let extend = extend_lookup_table(address, *payer, Some(*payer), addresses.to_vec());
        development.land(node, &[extend], "a lookup table's addresses")?;
    }
    let extended = slot(node, "confirmed")?;
    let begun = Instant::now();
    while slot(node, "confirmed")? <= extended {
        if begun.elapsed() > node.patience {
            let reason = format!("no slot followed slot {extended}, in which a table was extended");
            return Err(StepFault::Unreachable(reason));
        }
        thread::sleep(POLL);
    }
    Ok(address)
}

fn slot(node: &Live, commitment: &'static str) -> Answer<u64> {
    let params = json!([{ "commitment": commitment }]);
    node.ask(node.cluster.endpoint().expect("getSlot", params))
}
