//! Instructions of the program and of Token-2022, built for addresses.
pub mod authorized;
pub mod identity;
pub mod open;
pub mod registry;
pub mod token;
pub mod validation;

use super::addresses::{address, program};
use anchor_lang::{InstructionData, ToAccountMetas};
use solana_instruction::{AccountMeta, Instruction};

fn call(accounts: &impl ToAccountMetas, arguments: &impl InstructionData) -> Instruction {
    let metas = accounts.to_account_metas(None).into_iter();
    Instruction {
        program_id: program(),
        accounts: metas
            .map(|meta| AccountMeta {
                pubkey: address(meta.pubkey),
                is_signer: meta.is_signer,
                is_writable: meta.is_writable,
            })
            .collect(),
        data: arguments.data(),
    }
}
