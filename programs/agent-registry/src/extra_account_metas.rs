//! The account that tells Token-2022 which accounts to pass to our transfer hook:
//! `["extra-account-metas", mint]`, in the format of `spl-transfer-hook-interface`.
//!
//! | offset | width | value |
//! |---|---|---|
//! | 0 | 8 | the discriminator of `execute` |
//! | 8 | 4 | bytes that follow, u32 LE |
//! | 12 | 4 | number of accounts, u32 LE |
//! | 16 + 35 i | 1 + 32 + 1 + 1 | 0 = a literal address; the address; signer; writable |
//!
//! Literal addresses, because the list is the mint's own anyway: with seeds Token-2022 would
//! search for a PDA in every transfer. The program itself is listed because the event self-CPI
//! needs it among the hook's accounts.
use crate::{ConcordError, account_creation::create_pda, error::require};
use anchor_lang::prelude::*;

/// sha256("spl-transfer-hook-interface:execute")[..8]
pub const EXECUTE: [u8; 8] = [105, 37, 101, 197, 75, 251, 102, 26];
pub const SEED: &[u8] = b"extra-account-metas";
const COUNT: usize = 3;
const META: usize = 1 + 32 + 1 + 1;
pub const SPACE: usize = EXECUTE.len() + 4 + 4 + COUNT * META;

/// Creates the list for `mint`. `AccountMismatch` where `list` is not its PDA.
pub fn create<'info>(
    payer: &AccountInfo<'info>,
    list: &AccountInfo<'info>,
    mint: &Pubkey,
    agent: &Pubkey,
) -> Result<()> {
    let (address, bump) = Pubkey::find_program_address(&[SEED, mint.as_ref()], &crate::ID);
    require!(*list.key == address, ConcordError::AccountMismatch);
    create_pda(payer, list, SPACE, &[SEED, mint.as_ref(), &[bump]])?;
    list.try_borrow_mut_data()?
        .copy_from_slice(&contents(agent));
    Ok(())
}

fn contents(agent: &Pubkey) -> [u8; SPACE] {
    let metas: [(&Pubkey, bool); COUNT] = [
        (agent, true),
        (&crate::EVENT_AUTHORITY_AND_BUMP.0, false),
        (&crate::ID, false),
    ];
    let mut bytes = [0; SPACE];
    bytes[..8].copy_from_slice(&EXECUTE);
    bytes[8..12].copy_from_slice(&((SPACE - 12) as u32).to_le_bytes());
    bytes[12..16].copy_from_slice(&(COUNT as u32).to_le_bytes());
    for (meta, (address, writable)) in bytes[16..].chunks_exact_mut(META).zip(metas) {
        meta[1..33].copy_from_slice(address.as_ref());
        meta[34] = writable.into();
    }
    bytes
}
