//! Every address the backend needs: programs by name, accounts by derivation.
use concord_canonical::pda::Account;
pub use concord_deploy::svm::addresses::{
    ASSOCIATED_TOKEN, ED25519, INSTRUCTIONS_SYSVAR, TOKEN_2022, address, client_index,
    event_authority, extra_account_metas, feedback_entry, identity, key, program, registry,
    token_account,
};
use solana_address::Address;

/// All zero: also what the program takes for "nobody".
pub const SYSTEM: Address = Address::from_str_const("11111111111111111111111111111111");

/// A PDA of the program, derived by the canonical crate.
fn derived(account: Account<'_>) -> Address {
    account.find(&program().to_bytes()).0.into()
}

pub fn metadata_entry(mint: &Address, key: &str) -> Address {
    derived(Account::Metadata {
        mint: mint.to_bytes(),
        key,
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
