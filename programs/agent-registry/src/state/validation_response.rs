use super::{VERSION, ValidationRequest, raised};
use crate::account_data::{Placed, Record};
use anchor_lang::prelude::*;
use concord_canonical::pda::Account as Place;

/// A validator's latest word, `["val_response", mint, validator, request_hash[..8]]`.
/// X84's fields in X84's order and types, then ours after `bump` (R12).
#[account]
#[derive(InitSpace, Debug)]
pub struct ValidationResponse {
    pub nft_mint: Pubkey,
    pub validator: Pubkey,
    pub request_hash: [u8; 32],
    /// 0 to 100.
    pub score: u8,
    pub tag: [u8; 32],
    /// When the validator responded first: the cluster's clock, seconds.
    pub created_at: i64,
    pub bump: u8,
    pub version: u8,
    pub evidence_hash: [u8; 32],
    /// When the validator responded last: the cluster's clock, seconds.
    pub last_update: i64,
    /// How often the validator responded.
    pub response_count: u64,
}

impl Record for ValidationResponse {}

impl Placed for ValidationResponse {
    fn place(&self) -> Place<'_> {
        Self::place_of(&self.nft_mint, &self.validator, &self.request_hash)
    }
}

impl ValidationResponse {
    pub fn place_of(mint: &Pubkey, validator: &Pubkey, hash: &[u8; 32]) -> Place<'static> {
        Place::ValResponse {
            mint: mint.to_bytes(),
            validator: validator.to_bytes(),
            request_hash: *hash,
        }
    }

    /// The answer to `request` before the validator gave it.
    pub fn pending(request: &ValidationRequest, now: i64, bump: u8) -> Self {
        Self {
            nft_mint: request.nft_mint,
            validator: request.validator,
            request_hash: request.request_hash,
            score: 0,
            tag: [0; 32],
            created_at: now,
            bump,
            version: VERSION,
            evidence_hash: [0; 32],
            last_update: now,
            response_count: 0,
        }
    }

    /// R20: the last response stands.
    pub fn replace(
        &mut self,
        score: u8,
        tag: [u8; 32],
        evidence_hash: [u8; 32],
        now: i64,
    ) -> Result<()> {
        self.response_count = raised(self.response_count, 1)?;
        self.score = score;
        self.tag = tag;
        self.evidence_hash = evidence_hash;
        self.last_update = now;
        Ok(())
    }
}
