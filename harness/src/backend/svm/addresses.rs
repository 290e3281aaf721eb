//! Every address the backend needs: programs by name, accounts by derivation.
use anchor_lang::prelude::Pubkey;
use concord_canonical::pda::Account;
use solana_address::Address;

pub const TOKEN_2022: Address =
    Address::from_str_const("TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb");
pub const ASSOCIATED_TOKEN: Address =
    Address::from_str_const("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL");
pub const ED25519: Address = Address::from_str_const("Ed25519SigVerify111111111111111111111111111");
pub const INSTRUCTIONS_SYSVAR: Address =
    Address::from_str_const("Sysvar1nstructions1111111111111111111111111");
/// All zero: also what the program takes for "nobody".
pub const SYSTEM: Address = Address::from_str_const("11111111111111111111111111111111");

pub fn program() -> Address {
    address(agent_registry::ID)
}

pub fn event_authority() -> Address {
    address(agent_registry::EVENT_AUTHORITY_AND_BUMP.0)
}

/// A PDA of the program, derived by the canonical crate.
fn derived(account: Account<'_>) -> Address {
    account.find(&program().to_bytes()).0.into()
}

pub fn registry() -> Address {
    address(agent_registry::Registry::ADDRESS)
}

pub fn identity(mint: &Address) -> Address {
    derived(Account::Agent {
        mint: mint.to_bytes(),
    })
}

pub fn metadata_entry(mint: &Address, key: &str) -> Address {
    derived(Account::Metadata {
        mint: mint.to_bytes(),
        key,
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

pub fn open_client_index(mint: &Address, client: &Address) -> Address {
    derived(Account::OpenClient {
        mint: mint.to_bytes(),
        client: client.to_bytes(),
    })
}

pub fn open_feedback(mint: &Address, client: &Address, index: u64) -> Address {
    derived(Account::OpenFeedback {
        mint: mint.to_bytes(),
        client: client.to_bytes(),
        index,
    })
}

pub fn validation_request(mint: &Address, validator: &Address, hash: &[u8; 32]) -> Address {
    derived(Account::ValRequest {
        mint: mint.to_bytes(),
        validator: validator.to_bytes(),
        request_hash: *hash,
    })
}

pub fn validation_response(mint: &Address, validator: &Address, hash: &[u8; 32]) -> Address {
    derived(Account::ValResponse {
        mint: mint.to_bytes(),
        validator: validator.to_bytes(),
        request_hash: *hash,
    })
}

pub fn spent_payment(task_ref_hash: &[u8; 32]) -> Address {
    derived(Account::Spent {
        hash: *task_ref_hash,
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

/// Anchor's key type may be of another version of the same crate.
pub fn address(key: Pubkey) -> Address {
    Address::from(key.to_bytes())
}

pub fn key(address: Address) -> Pubkey {
    Pubkey::from(address.to_bytes())
}
