//! Creating accounts inside handlers, after the checks (R25).
use crate::error::require;
use anchor_lang::{
    prelude::*,
    solana_program::program::{invoke, invoke_signed},
    system_program,
};
use solana_system_interface::instruction::{allocate, assign, create_account, transfer};

/// Whether nobody has created `account` yet. Lamports that someone sent there do not count.
pub fn is_vacant(account: &AccountInfo) -> bool {
    account.owner == &system_program::ID && account.data_is_empty()
}

/// Creates the program's own account at the PDA of `seeds` (bump included), rent-exempt.
pub fn create_pda<'info>(
    payer: &AccountInfo<'info>,
    account: &AccountInfo<'info>,
    space: usize,
    seeds: &[&[u8]],
) -> Result<()> {
    let lamports = Rent::get()?.minimum_balance(space);
    create(payer, account, space, lamports, &crate::ID, &[seeds])
}

/// Creates `account` with `space` bytes, `lamports` and `owner`. The system program's own
/// `create_account` refuses an address that holds lamports, so anyone could block an account
/// by sending some there: then the missing rest is added and the account assigned by hand.
pub fn create<'info>(
    payer: &AccountInfo<'info>,
    account: &AccountInfo<'info>,
    space: usize,
    lamports: u64,
    owner: &Pubkey,
    signer: &[&[&[u8]]],
) -> Result<()> {
    require!(account.is_writable, AccountMismatch);
    let (key, space) = (account.key, space as u64);
    if account.lamports() == 0 {
        let create = create_account(payer.key, key, lamports, space, owner);
        let accounts = [payer.clone(), account.clone()];
        return Ok(invoke_signed(&create, &accounts, signer)?);
    }
    top_up(payer, account, lamports)?;
    let accounts = [account.clone()];
    invoke_signed(&allocate(key, space), &accounts, signer)?;
    Ok(invoke_signed(&assign(key, owner), &accounts, signer)?)
}

/// Brings `account` to at least `lamports`. What it holds beyond them stays there.
pub fn top_up<'info>(
    payer: &AccountInfo<'info>,
    account: &AccountInfo<'info>,
    lamports: u64,
) -> Result<()> {
    let missing = lamports.saturating_sub(account.lamports());
    if missing == 0 {
        return Ok(());
    }
    let send = transfer(payer.key, account.key, missing);
    Ok(invoke(&send, &[payer.clone(), account.clone()])?)
}
