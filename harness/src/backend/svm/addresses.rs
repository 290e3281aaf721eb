//! Every address the backend needs: programs by name, accounts by derivation.
use crate::{
    backend::secrets::secret_of,
    model::{Actor, Agent},
};
use concord_canonical::pda::Account;
pub use concord_deploy::svm::addresses::{
    ASSOCIATED_TOKEN, ED25519, INSTRUCTIONS_SYSVAR, TOKEN_2022, address, client_index,
    event_authority, extra_account_metas, feedback_entry, identity, key, program, registry,
    token_account,
};
use solana_address::Address;
use solana_keypair::Keypair;
use solana_signer::Signer;

/// All zero: also what the program takes for "nobody".
pub const SYSTEM: Address = Address::from_str_const("11111111111111111111111111111111");

/// The public key of an actor's label; for a payment token, the address of its mint.
pub fn actor(actor: &Actor) -> Address {
    actor_key(actor).pubkey()
}

pub fn actor_key(actor: &Actor) -> Keypair {
    Keypair::new_from_array(secret_of("actor", &actor.0))
}

/// The mint that an agent's label stands for, registered or not.
pub fn mint(agent: &Agent) -> Address {
    mint_key(agent).pubkey()
}

pub fn mint_key(agent: &Agent) -> Keypair {
    Keypair::new_from_array(secret_of("agent", &agent.0))
}

/// The key of the `number`th token account that is not an associated one.
pub fn spare_account_key(number: u64) -> Keypair {
    Keypair::new_from_array(secret_of("token account", &number.to_string()))
}

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
