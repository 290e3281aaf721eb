//! Instructions of the compute-budget program: what a transaction may use, and what it pays.
use super::programs::COMPUTE_BUDGET;
use alloc::vec::Vec;
use solana_instruction::Instruction;

/// Limits the transaction to `units` compute units.
pub fn set_unit_limit(units: u32) -> Instruction {
    const SET_UNIT_LIMIT: u8 = 2;
    of([&[SET_UNIT_LIMIT], &units.to_le_bytes()[..]].concat())
}

/// Pays `micro_lamports` for each compute unit of the limit, beside the fee for signatures.
pub fn set_unit_price(micro_lamports: u64) -> Instruction {
    const SET_UNIT_PRICE: u8 = 3;
    of([&[SET_UNIT_PRICE], &micro_lamports.to_le_bytes()[..]].concat())
}

/// Limits the accounts that the transaction loads to so many bytes together. Without it they are limited to
/// [`LOADED_DATA_MAX`], and a higher limit is as good as none.
pub fn set_loaded_data_limit(bytes: u32) -> Instruction {
    const SET_LOADED_DATA_LIMIT: u8 = 4;
    of([&[SET_LOADED_DATA_LIMIT], &bytes.to_le_bytes()[..]].concat())
}

/// The most bytes that a transaction loads: 64 MiB.
pub const LOADED_DATA_MAX: u32 = 64 << 20;

fn of(data: Vec<u8>) -> Instruction {
    Instruction {
        program_id: COMPUTE_BUDGET,
        accounts: Vec::new(),
        data,
    }
}
