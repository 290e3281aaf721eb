//! An address lookup table, by which a transaction names an account in one byte instead of 32.
use super::ledger::{Answer, check_size};
use crate::backend::{StepFault, secrets::secret_of};
use solana_account::Account;
use solana_address::Address;
use solana_address_lookup_table_interface::{
    program as address_lookup_table,
    state::{AddressLookupTable, LookupTableMeta},
};
use solana_hash::Hash;
use solana_instruction::Instruction;
use solana_message::{AddressLookupTableAccount, VersionedMessage, v0};
use std::borrow::Cow;

/// A table of every account that the instruction names.
pub fn of(instruction: &Instruction) -> AddressLookupTableAccount {
    let metas = instruction.accounts.iter();
    AddressLookupTableAccount {
        key: Address::from(secret_of("lookup table", "")),
        addresses: metas.map(|meta| meta.pubkey).collect(),
    }
}

/// The table as it is on chain: never deactivated, and every address is older than its last extension.
pub fn account(table: &AddressLookupTableAccount) -> Account {
    let meta = LookupTableMeta {
        last_extended_slot_start_index: u8::try_from(table.addresses.len()).unwrap_or(u8::MAX),
        ..LookupTableMeta::default()
    };
    let written = AddressLookupTable {
        meta,
        addresses: Cow::Borrowed(&table.addresses),
    };
    Account {
        lamports: 1_000_000_000,
        data: written.serialize_for_tests().unwrap_or_default(), // nothing in it is too large
        owner: address_lookup_table::ID,
        ..Account::default()
    }
}

/// The message of one instruction that names its accounts by the table.
///
/// # Errors
/// [`StepFault::Inexpressible`] if no packet holds it even so.
pub fn message(
    payer: &Address,
    instruction: &Instruction,
    table: &AddressLookupTableAccount,
    recent: Hash,
) -> Answer<VersionedMessage> {
    let (instructions, tables) = (
        std::slice::from_ref(instruction),
        std::slice::from_ref(table),
    );
    let message = v0::Message::try_compile(payer, instructions, tables, recent)
        .map_err(|fault| StepFault::Inexpressible(fault.to_string()))?;
    let message = VersionedMessage::V0(message);
    check_size(1, message.serialize().len())?;
    Ok(message)
}
