use super::{
    programs::{LOADER_V3, TOKEN_2022},
    token::associated_account,
};
use concord_canonical::pda::{Account, find_address};
use solana_address::Address;

/// A deployed program: its id, and every address that the id derives.
///
/// The id is a value at run time, so that one build serves any deployment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Program {
    id: Address,
    registry: Address,
    event_authority: Address,
}

impl Program {
    /// The program with this id.
    pub fn new(id: Address) -> Self {
        let event_authority = find_address([b"__event_authority"], id.as_array());
        Self {
            id,
            registry: derived(Account::Registry, &id),
            event_authority: event_authority.0.into(),
        }
    }

    /// The program's id.
    pub const fn id(&self) -> Address {
        self.id
    }

    /// The registry account, one for each program.
    pub const fn registry(&self) -> Address {
        self.registry
    }

    /// Signs the program's calls of itself, which carry its events (Anchor's `event-cpi`).
    pub const fn event_authority(&self) -> Address {
        self.event_authority
    }

    /// The account in which the upgradeable loader keeps code and upgrade authority.
    pub fn program_data(&self) -> Address {
        let (address, _) = find_address([self.id.as_ref()], LOADER_V3.as_array());
        address.into()
    }

    /// The mint of the agent that `payer` pays for with `nonce`: its id (R4).
    pub fn agent_mint(&self, payer: &Address, nonce: u64) -> Address {
        let payer = payer.to_bytes();
        derived(Account::Mint { payer, nonce }, &self.id)
    }

    /// The agent's record.
    pub fn agent(&self, mint: &Address) -> Address {
        let mint = mint.to_bytes();
        derived(Account::Agent { mint }, &self.id)
    }

    /// The agent's metadata entry of `key`.
    pub fn metadata_entry(&self, mint: &Address, key: &str) -> Address {
        let mint = mint.to_bytes();
        derived(Account::Metadata { mint, key }, &self.id)
    }

    /// One authorized feedback; `index` counts from 1 (R12).
    pub fn feedback_entry(&self, mint: &Address, client: &Address, index: u64) -> Address {
        let (mint, client) = (mint.to_bytes(), client.to_bytes());
        let account = Account::Feedback {
            mint,
            client,
            index,
        };
        derived(account, &self.id)
    }

    /// The client's last index in the authorized profile.
    pub fn client_index(&self, mint: &Address, client: &Address) -> Address {
        let (mint, client) = (mint.to_bytes(), client.to_bytes());
        derived(Account::Client { mint, client }, &self.id)
    }

    /// One open feedback; `index` counts from 1 (R12).
    pub fn open_feedback(&self, mint: &Address, client: &Address, index: u64) -> Address {
        let (mint, client) = (mint.to_bytes(), client.to_bytes());
        let account = Account::OpenFeedback {
            mint,
            client,
            index,
        };
        derived(account, &self.id)
    }

    /// The client's last index in the open profile.
    pub fn open_client_index(&self, mint: &Address, client: &Address) -> Address {
        let (mint, client) = (mint.to_bytes(), client.to_bytes());
        derived(Account::OpenClient { mint, client }, &self.id)
    }

    /// The validator's request; only the first 8 bytes of the hash enter the address (R20).
    pub fn validation_request(
        &self,
        mint: &Address,
        validator: &Address,
        request_hash: &[u8; 32],
    ) -> Address {
        let account = Account::ValRequest {
            mint: mint.to_bytes(),
            validator: validator.to_bytes(),
            request_hash: *request_hash,
        };
        derived(account, &self.id)
    }

    /// The validator's response; only the first 8 bytes of the hash enter the address (R20).
    pub fn validation_response(
        &self,
        mint: &Address,
        validator: &Address,
        request_hash: &[u8; 32],
    ) -> Address {
        let account = Account::ValResponse {
            mint: mint.to_bytes(),
            validator: validator.to_bytes(),
            request_hash: *request_hash,
        };
        derived(account, &self.id)
    }

    /// The marker of a payment that counted (R13). `task_ref_hash` is keccak256 of the task
    /// reference's dedupe key, `payer` who paid (R32).
    pub fn spent_payment(&self, task_ref_hash: &[u8; 32], payer: &Address) -> Address {
        let (hash, payer) = (*task_ref_hash, payer.to_bytes());
        derived(Account::Spent { hash, payer }, &self.id)
    }

    /// The list of accounts that Token-2022 passes to the transfer hook (R4), at the address that
    /// `spl-transfer-hook-interface` defines.
    pub fn extra_account_metas(&self, mint: &Address) -> Address {
        let seeds = [b"extra-account-metas", mint.as_ref()];
        find_address(seeds, self.id.as_array()).0.into()
    }
}

/// The token account of `owner` that the associated-token program derives for an agent's `mint`.
pub fn associated_token_account(owner: &Address, mint: &Address) -> Address {
    associated_account(owner, mint, &TOKEN_2022)
}

fn derived(account: Account<'_>, id: &Address) -> Address {
    account.find(id.as_array()).0.into()
}
