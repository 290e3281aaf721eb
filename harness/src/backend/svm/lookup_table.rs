//! An address lookup table, by which a transaction names an account in one byte instead of 32.
use crate::backend::secrets::secret_of;
use solana_account::Account;
use solana_address::Address;
use solana_instruction::Instruction;
use solana_message::AddressLookupTableAccount;

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
