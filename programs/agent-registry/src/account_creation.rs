//! Creating accounts inside handlers, after the checks (R25).
use crate::{ConcordError, error::require};
use anchor_lang::{
    prelude::*,
    solana_program::{
        instruction::{AccountMeta, Instruction},
        program::invoke_signed,
    },
    system_program,
};

// The system program's instructions: a u32 LE number, then the arguments. By hand, because the
// crate that builds them brings bincode along: 20 kB of program.
const CREATE_ACCOUNT: u32 = 0; // lamports u64, space u64, owner
const ASSIGN: u32 = 1; // owner
const TRANSFER: u32 = 2; // lamports u64
const ALLOCATE: u32 = 8; // space u64
/// Bytes of the longest, CREATE_ACCOUNT.
const LONGEST: usize = 4 + 8 + 8 + 32;

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
    let space = (space as u64).to_le_bytes();
    if account.lamports() == 0 {
        let arguments = [&lamports.to_le_bytes(), &space, owner.as_ref()];
        return call_system(CREATE_ACCOUNT, &arguments, [payer, account], 2, signer);
    }
    top_up(payer, account, lamports)?;
    call_system(ALLOCATE, &[&space], [account], 1, signer)?;
    call_system(ASSIGN, &[owner.as_ref()], [account], 1, signer)
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
    let arguments = [&missing.to_le_bytes()[..]];
    call_system(TRANSFER, &arguments, [payer, account], 1, &[])
}

/// Calls the system program with writable accounts, of which the first `signing` sign.
fn call_system<const N: usize>(
    number: u32,
    arguments: &[&[u8]],
    accounts: [&AccountInfo; N],
    signing: usize,
    signer: &[&[&[u8]]],
) -> Result<()> {
    let mut data = Vec::with_capacity(LONGEST);
    data.extend_from_slice(&number.to_le_bytes());
    for argument in arguments {
        data.extend_from_slice(argument);
    }
    let meta = |(i, account): (usize, &&AccountInfo)| AccountMeta::new(*account.key, i < signing);
    let instruction = Instruction {
        program_id: system_program::ID,
        accounts: accounts.iter().enumerate().map(meta).collect(),
        data,
    };
    Ok(invoke_signed(
        &instruction,
        &accounts.map(Clone::clone),
        signer,
    )?)
}
