use super::AccountType;
use alloc::{string::String, vec::Vec};
use borsh::BorshDeserialize;
use concord_canonical::limits::{METADATA_KEY_MAX, METADATA_VALUE_MAX};
use solana_address::Address;

/// X84's unbounded message counts for the agent (R10). Off by default.
pub const AUTH_SCHEME_X84: u8 = 1;
/// The bounded message of R9 counts for the agent. The default, alone.
pub const AUTH_SCHEME_BOUNDED: u8 = 2;

/// The registry's record of one agent. The URI lies in the mint's own metadata
/// ([`Mint`](crate::svm::token::Mint)).
#[derive(Debug, Clone, PartialEq, Eq, BorshDeserialize)]
pub struct AgentIdentity {
    /// The agent's mint: its id (R1).
    pub nft_mint: Address,
    /// The holder of the token (R4).
    pub owner: Address,
    /// 1 at registration, one more with every change of owner.
    pub owner_version: u64,
    /// The one key whose authorizations count (R7); all zero for the owner's.
    pub feedback_authority: Address,
    /// All zero for none (R3).
    pub agent_wallet: Address,
    /// The authorization schemes that count, as a sum of `AUTH_SCHEME_*` (R10).
    pub auth_schemes: u8,
    /// Unix seconds.
    pub created_at: i64,
    /// Unix seconds.
    pub updated_at: i64,
    /// Non-revoked feedback with payment proof (R13).
    pub verified_feedback_count: u64,
    /// The sum of its scores.
    pub verified_score_sum: u64,
    /// Non-revoked feedback without payment proof.
    pub unverified_feedback_count: u64,
    /// The sum of its scores.
    pub unverified_score_sum: u64,
    /// Requests that their validator answered (R20).
    pub validation_count: u64,
    /// Distinct clients that ever gave authorized feedback.
    pub client_count: u64,
    /// Distinct clients that ever gave open feedback.
    pub open_client_count: u64,
    /// The bump of its address.
    pub bump: u8,
    /// The layout that the program wrote (R12).
    pub version: u8,
    /// When the wallet was last written, by a registration, a transfer, or the owner: Unix seconds (R13).
    pub wallet_set_at: i64,
    /// Zeros, kept for the fields of later layouts (R12).
    pub reserved: [u8; 56],
}

impl AgentIdentity {
    /// Where the agent is paid; `None` if no wallet is set (R3).
    pub fn wallet(&self) -> Option<Address> {
        (self.agent_wallet != Address::default()).then_some(self.agent_wallet)
    }

    /// The one key that signs authorizations (R7).
    pub fn authorization_signer(&self) -> Address {
        if self.feedback_authority == Address::default() {
            self.owner
        } else {
            self.feedback_authority
        }
    }

    /// Count and sum of all non-revoked authorized feedback (R15); `None` beyond u64.
    pub fn totals(&self) -> Option<(u64, u64)> {
        let count = self
            .verified_feedback_count
            .checked_add(self.unverified_feedback_count);
        let sum = self
            .verified_score_sum
            .checked_add(self.unverified_score_sum);
        count.zip(sum)
    }
}

impl AccountType for AgentIdentity {
    const NAME: &'static str = "AgentIdentity";
    const DISCRIMINATOR: [u8; 8] = [11, 149, 31, 27, 186, 76, 241, 72];
    const SPACE: usize = 283;
    const FIRST_LAYOUT: usize = 227; // without the reserve
}

/// One metadata value of an agent. Never closed: a key once set stays set.
#[derive(Debug, Clone, PartialEq, Eq, BorshDeserialize)]
pub struct MetadataEntry {
    /// The agent's mint.
    pub nft_mint: Address,
    /// The bump of its address.
    pub bump: u8,
    /// The layout that the program wrote (R12).
    pub version: u8,
    /// At most 32 bytes of UTF-8 without NUL (R17).
    pub key: String,
    /// At most 256 bytes (R17).
    pub value: Vec<u8>,
}

impl AccountType for MetadataEntry {
    const NAME: &'static str = "MetadataEntry";
    const DISCRIMINATOR: [u8; 8] = [96, 126, 172, 22, 37, 180, 115, 47];
    const SPACE: usize = 50 + METADATA_KEY_MAX + METADATA_VALUE_MAX;
}
