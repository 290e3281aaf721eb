//! Every address of the program: others by name, accounts by derivation.
use agent_registry::Registry;
use anchor_lang::prelude::Pubkey;
use concord_canonical::pda::Account;
use solana_address::Address;

pub const TOKEN_2022: Address =
    Address::from_str_const("TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb");
pub const ASSOCIATED_TOKEN: Address =
    Address::from_str_const("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL");
pub const ED25519: Address = Address::from_str_const("Ed25519SigVerify111111111111111111111111111");
pub const COMPUTE_BUDGET: Address =
    Address::from_str_const("ComputeBudget111111111111111111111111111111");
pub const INSTRUCTIONS_SYSVAR: Address =
    Address::from_str_const("Sysvar1nstructions1111111111111111111111111");

/// Anchor's type for the same 32 bytes.
pub fn key(address: Address) -> Pubkey {
    Pubkey::new_from_array(address.to_bytes())
}

/// The rest of Solana's type for the same 32 bytes.
pub fn address(key: Pubkey) -> Address {
    Address::new_from_array(key.to_bytes())
}

/// The program that this crate was built for.
pub fn program() -> Address {
    address(agent_registry::ID)
}

pub fn event_authority() -> Address {
    address(agent_registry::EVENT_AUTHORITY_AND_BUMP.0)
}

pub fn registry() -> Address {
    address(Registry::ADDRESS)
}

/// A PDA of the program, derived by the canonical crate.
fn derived(account: Account<'_>) -> Address {
    account.find(&program().to_bytes()).0.into()
}

pub fn identity(mint: &Address) -> Address {
    derived(Account::Agent {
        mint: mint.to_bytes(),
    })
}

pub fn client_index(mint: &Address, client: &Address) -> Address {
    derived(Account::Client {
        mint: mint.to_bytes(),
        client: client.to_bytes(),
    })
}

pub fn feedback_entry(mint: &Address, client: &Address, index: u64) -> Address {
    derived(Account::Feedback {
        mint: mint.to_bytes(),
        client: client.to_bytes(),
        index,
    })
}

/// The list of accounts that Token-2022 hands to the transfer hook (R4).
pub fn extra_account_metas(mint: &Address) -> Address {
    Address::find_program_address(&[b"extra-account-metas", mint.as_ref()], &program()).0
}

pub fn token_account(owner: &Address, mint: &Address) -> Address {
    let seeds = &[owner.as_ref(), TOKEN_2022.as_ref(), mint.as_ref()];
    Address::find_program_address(seeds, &ASSOCIATED_TOKEN).0
}
