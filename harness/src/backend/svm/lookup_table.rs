//! An address lookup table, by which a transaction names an account in one byte instead of 32.
use super::ledger::{Answer, check_size};
use crate::backend::{StepFault, secrets::secret_of};
use solana_account::Account;
use solana_address::Address;
use solana_hash::Hash;
use solana_instruction::Instruction;
use solana_message::{AddressLookupTableAccount, VersionedMessage, v0};

const PROGRAM: Address = Address::from_str_const("AddressLookupTab1e1111111111111111111111111");
/// Bytes before the addresses.
const META: usize = 56;

/// A table of every account that the instruction names.
pub fn of(instruction: &Instruction) -> AddressLookupTableAccount {
    let metas = instruction.accounts.iter();
    AddressLookupTableAccount {
        key: Address::from(secret_of("lookup table", "")),
        addresses: metas.map(|meta| meta.pubkey).collect(),
    }
}

/// The table as it lies on chain: u32 LE kind, u64 LE slot of its deactivation (never), u64 LE slot
/// of its last extension, u8 number of the addresses that are older, no authority; then addresses.
pub fn account(table: &AddressLookupTableAccount) -> Account {
    let older = u8::try_from(table.addresses.len()).unwrap_or(u8::MAX);
    let mut data = [
        &1u32.to_le_bytes()[..],
        &u64::MAX.to_le_bytes(),
        &0u64.to_le_bytes(),
        &[older],
    ]
    .concat();
    data.resize(META, 0);
    data.extend(table.addresses.iter().flat_map(Address::to_bytes));
    Account {
        lamports: 1_000_000_000,
        data,
        owner: PROGRAM,
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
