use super::raised;
use crate::{
    ConcordError,
    account_data::{Placed, Record, require_held},
    error::require,
};
use anchor_lang::prelude::*;
use concord_canonical::pda::Account as Place;

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
    pub version: u8,
    /// 1-based, per agent and reviewer.
    pub feedback_index: u64,
    /// The scheme that authorized this entry: 1 = x84, 2 = bounded (R10).
    pub auth_scheme: u8,
    pub response_count: u64,
    /// When it was given, the reviewer was neither owner, feedback authority nor wallet of the agent. What the owner
    /// sets later does not change it (R13).
    pub by_stranger: bool,
}

impl Record for FeedbackEntry {}

impl Placed for FeedbackEntry {
    fn place(&self) -> Place<'_> {
        Self::place_of(&self.nft_mint, &self.reviewer, self.feedback_index)
    }
}

impl FeedbackEntry {
    pub fn place_of(mint: &Pubkey, reviewer: &Pubkey, index: u64) -> Place<'static> {
        let (mint, client) = (mint.to_bytes(), reviewer.to_bytes());
        Place::Feedback {
            mint,
            client,
            index,
        }
    }

    /// `reviewer`'s entry number `index` about the agent of `mint`.
    /// Errors: `FeedbackNotFound`, `AccountMismatch`.
    pub fn of(account: &AccountInfo, mint: &Pubkey, reviewer: &Pubkey, index: u64) -> Result<Self> {
        let place = Self::place_of(mint, reviewer, index);
        require_held(account, &place, ConcordError::FeedbackNotFound)
    }

    /// R13: takes the payment's token and amount. Errors: `AlreadyRevoked`,
    /// `PaymentAlreadyProven`.
    pub fn prove_payment(&mut self, token: Pubkey, amount: u64) -> Result<()> {
        require!(!self.revoked, AlreadyRevoked);
        require!(!self.has_payment_proof, PaymentAlreadyProven);
        self.has_payment_proof = true;
        self.payment_token = token;
        self.payment_amount = amount;
        Ok(())
    }

    pub fn revoke(&mut self) -> Result<()> {
        require!(!self.revoked, AlreadyRevoked);
        self.revoked = true;
        Ok(())
    }

    /// R19: revoked entries can be responded to as well.
    pub fn count_response(&mut self) -> Result<()> {
        self.response_count = raised(self.response_count, 1)?;
        Ok(())
    }
}
