use super::raised;
use crate::ConcordError;
use anchor_lang::prelude::*;
use concord_canonical::pda::FEEDBACK;

/// One authorized feedback, `["feedback", mint, reviewer, feedback_index u64 LE]`.
/// X84's fields in X84's order and types, then ours after `bump` (R12).
#[account]
#[derive(InitSpace, Debug)]
pub struct FeedbackEntry {
    pub nft_mint: Pubkey,
    pub reviewer: Pubkey,
    /// 0 to 100.
    pub score: u8,
    pub tag1: [u8; 32],
    pub tag2: [u8; 32],
    /// Always true: no entry exists without an authorization (R10).
    pub auth_verified: bool,
    pub has_payment_proof: bool,
    /// In the token's smallest unit; 0 without proof.
    pub payment_amount: u64,
    /// All zero without proof.
    pub payment_token: Pubkey,
    pub revoked: bool,
    /// The cluster's clock, seconds.
    pub created_at: i64,
    pub bump: u8,
    /// 1-based, per agent and reviewer.
    pub feedback_index: u64,
    /// The scheme that authorized this entry: 1 = x84, 2 = bounded (R10).
    pub auth_scheme: u8,
    pub response_count: u64,
}

impl FeedbackEntry {
    pub const SPACE: usize = Self::DISCRIMINATOR.len() + Self::INIT_SPACE;

    pub fn revoke(&mut self) -> Result<()> {
        require!(!self.revoked, ConcordError::AlreadyRevoked);
        self.revoked = true;
        Ok(())
    }

    /// R19: revoked entries can be responded to as well.
    pub fn count_response(&mut self) -> Result<()> {
        self.response_count = raised(self.response_count, 1)?;
        Ok(())
    }

    /// Whether this is entry number `feedback_index` of `reviewer` about the agent of `mint`.
    pub fn is(&self, mint: &Pubkey, reviewer: &Pubkey, feedback_index: u64) -> bool {
        self.nft_mint == *mint
            && self.reviewer == *reviewer
            && self.feedback_index == feedback_index
    }

    /// `["feedback", mint, reviewer, index]`.
    pub fn find(mint: &Pubkey, reviewer: &Pubkey, feedback_index: u64) -> (Pubkey, u8) {
        let index = feedback_index.to_le_bytes();
        Pubkey::find_program_address(
            &[FEEDBACK, mint.as_ref(), reviewer.as_ref(), &index],
            &crate::ID,
        )
    }
}
