//! Creating accounts inside handlers, after the checks (R25).
use crate::ConcordError;
use anchor_lang::{
    prelude::*,
    system_program::{self, Allocate, Assign, CreateAccount, Transfer},
};

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
    require!(account.is_writable, ConcordError::AccountMismatch);
    let space = space as u64;
    if account.lamports() == 0 {
        let accounts = CreateAccount {
            from: payer.clone(),
            to: account.clone(),
        };
        let context = CpiContext::new_with_signer(system_program::ID, accounts, signer);
        return system_program::create_account(context, lamports, space, owner);
    }
    top_up(payer, account, lamports)?;
    let accounts = Allocate {
        account_to_allocate: account.clone(),
    };
    let context = CpiContext::new_with_signer(system_program::ID, accounts, signer);
    system_program::allocate(context, space)?;
    let accounts = Assign {
        account_to_assign: account.clone(),
    };
    let context = CpiContext::new_with_signer(system_program::ID, accounts, signer);
    system_program::assign(context, owner)
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
    let accounts = Transfer {
        from: payer.clone(),
        to: account.clone(),
    };
    system_program::transfer(CpiContext::new(system_program::ID, accounts), missing)
}
