//! Who is named by an owner has consented: as wallet (R3), or as feedback authority (R7).
use crate::ed25519::require_addressable;
use anchor_lang::prelude::*;
use solana_instructions_sysvar::{load_current_index_checked, load_instruction_at_checked};

/// Whether `named` signed for what the owner does. A fee payer has signed too, but for the fee. It is always writable,
/// which tells it from an account that signed for this. The owner may pay the fee, and has asked for it.
pub fn is_given(named: &AccountInfo, owner: &Pubkey, instructions: &AccountInfo) -> Result<bool> {
    if !named.is_signer || named.key == owner {
        return Ok(named.is_signer);
    }
    Ok(!is_writable_in_message(named.key, instructions)?)
}

/// A program that calls us can pass a writable account on as one that is not, never the other way. Whatever it passes
/// on is among the accounts of the top-level instruction, with the message's flags.
fn is_writable_in_message(key: &Pubkey, instructions: &AccountInfo) -> Result<bool> {
    require_addressable(instructions)?;
    let current = load_current_index_checked(instructions)?;
    let top_level = load_instruction_at_checked(current.into(), instructions)?;
    let mut metas = top_level.accounts.iter();
    Ok(metas.any(|meta| meta.pubkey == *key && meta.is_writable))
}
