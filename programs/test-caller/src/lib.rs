//! A stranger's program, for tests: it calls other programs, and it is the transfer hook of a
//! stranger's mint. Whatever else it is sent, it accepts.
use anchor_lang::{
    AnchorDeserialize, AnchorSerialize,
    solana_program::{
        account_info::AccountInfo,
        entrypoint::ProgramResult,
        instruction::{AccountMeta, Instruction},
        program::{invoke_signed_unchecked, invoke_unchecked},
        program_error::ProgramError,
        pubkey::Pubkey,
    },
};
#[cfg(target_os = "solana")]
use sbf_rt as _;

/// Instruction data that begins with this holds a `Vec<Call>`.
pub const RELAY: [u8; 8] = *b"relay/v1";
/// sha256("spl-transfer-hook-interface:execute")[..8]
const EXECUTE: [u8; 8] = [105, 37, 101, 197, 75, 251, 102, 26];

/// The seed of the address that a relay signs for.
pub const WALLET: &[u8] = b"wallet";

/// One call: the callee's place among the relay's own accounts, what it gets of them, the data.
#[derive(AnchorSerialize, AnchorDeserialize)]
pub struct Call {
    pub program: u8,
    pub accounts: Vec<Passed>,
    pub data: Vec<u8>,
}

/// An account by its place among the relay's own, with the rights that it is passed on with.
#[derive(AnchorSerialize, AnchorDeserialize)]
pub struct Passed {
    pub place: u8,
    pub is_signer: bool,
    pub is_writable: bool,
}

#[cfg(not(feature = "no-entrypoint"))]
anchor_lang::solana_program::entrypoint!(process);

pub fn process(program: &Pubkey, accounts: &[AccountInfo], data: &[u8]) -> ProgramResult {
    match data.split_first_chunk::<8>() {
        Some((&RELAY, calls)) => relay(program, accounts, calls),
        Some((&EXECUTE, amount)) => call_the_other_hook(accounts, amount),
        _ => Ok(()),
    }
}

fn relay(ourselves: &Pubkey, accounts: &[AccountInfo], calls: &[u8]) -> ProgramResult {
    let (_, bump) = Pubkey::find_program_address(&[WALLET], ourselves);
    let wallet: &[&[u8]] = &[WALLET, &[bump]];
    for call in Vec::<Call>::try_from_slice(calls)? {
        let metas = call.accounts.iter().map(|passed| AccountMeta {
            pubkey: *accounts[usize::from(passed.place)].key,
            is_signer: passed.is_signer,
            is_writable: passed.is_writable,
        });
        let instruction = Instruction {
            program_id: *accounts[usize::from(call.program)].key,
            accounts: metas.collect(),
            data: call.data,
        };
        invoke_signed_unchecked(&instruction, accounts, &[wallet])?;
    }
    Ok(())
}

/// In the middle of a transfer of the stranger's mint: calls a victim's hook with the token
/// accounts of this transfer, whose flags are really set. An amount of 1 names the victim's
/// mint, any other the stranger's own.
///
/// Accounts: source, mint, destination, authority, list, victim program, victim's mint,
/// victim's identity, victim's event authority.
fn call_the_other_hook(accounts: &[AccountInfo], amount: &[u8]) -> ProgramResult {
    let [
        source,
        mint,
        destination,
        authority,
        list,
        program,
        victim,
        identity,
        events,
    ] = accounts
    else {
        return Err(ProgramError::NotEnoughAccountKeys);
    };
    let named = if amount == 1u64.to_le_bytes() {
        victim
    } else {
        mint
    };
    let passed = [
        source,
        named,
        destination,
        authority,
        list,
        identity,
        events,
        program,
    ];
    let instruction = Instruction {
        program_id: *program.key,
        accounts: passed.into_iter().map(meta).collect(),
        data: [EXECUTE, 1u64.to_le_bytes()].concat(),
    };
    invoke_unchecked(&instruction, accounts)
}

fn meta(account: &AccountInfo) -> AccountMeta {
    AccountMeta {
        pubkey: *account.key,
        is_signer: account.is_signer,
        is_writable: account.is_writable,
    }
}
