use super::AccountType;
use borsh::BorshDeserialize;
use solana_address::Address;

/// What an owner asked a validator: X84's fields, then the version (R12, R20).
#[derive(Debug, Clone, PartialEq, Eq, BorshDeserialize)]
pub struct ValidationRequest {
    /// The agent's mint.
    pub nft_mint: Address,
    /// Who was asked.
    pub validator: Address,
    /// The whole hash.
    pub request_hash: [u8; 32],
    /// Opaque (R14).
    pub tag: [u8; 32],
    /// The validator responded at least once.
    pub responded: bool,
    /// Unix seconds.
    pub created_at: i64,
    /// The bump of its address.
    pub bump: u8,
    /// The layout that the program wrote (R12).
    pub version: u8,
}

impl AccountType for ValidationRequest {
    const NAME: &'static str = "ValidationRequest";
    const DISCRIMINATOR: [u8; 8] = [130, 174, 153, 111, 74, 241, 40, 140];
    const SPACE: usize = 147;
}

/// A validator's latest response: X84's fields, then ours after `bump` (R12, R20).
#[derive(Debug, Clone, PartialEq, Eq, BorshDeserialize)]
pub struct ValidationResponse {
    /// The agent's mint.
    pub nft_mint: Address,
    /// Who responded.
    pub validator: Address,
    /// The request's whole hash.
    pub request_hash: [u8; 32],
    /// 0 to 100.
    pub score: u8,
    /// Opaque (R14).
    pub tag: [u8; 32],
    /// When the validator responded first, in Unix seconds.
    pub created_at: i64,
    /// The bump of its address.
    pub bump: u8,
    /// The layout that the program wrote (R12).
    pub version: u8,
    /// Hash of the evidence file; opaque (R21).
    pub evidence_hash: [u8; 32],
    /// When the validator responded last, in Unix seconds.
    pub last_update: i64,
    /// How often the validator responded.
    pub response_count: u64,
}

impl ValidationResponse {
    /// Whether it responds to `request`.
    pub fn answers(&self, request: &ValidationRequest) -> bool {
        self.nft_mint == request.nft_mint
            && self.validator == request.validator
            && self.request_hash == request.request_hash
    }
}

impl AccountType for ValidationResponse {
    const NAME: &'static str = "ValidationResponse";
    const DISCRIMINATOR: [u8; 8] = [146, 167, 252, 222, 192, 143, 244, 20];
    const SPACE: usize = 195;
}
