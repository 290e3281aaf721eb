use super::raised;
use crate::{
    ConcordError,
    account_data::{absent, load},
    error::require,
};
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

impl FeedbackEntry {
    pub const SPACE: usize = Self::DISCRIMINATOR.len() + Self::INIT_SPACE;

    /// `reviewer`'s entry number `feedback_index` about the agent of `mint`, in `account`.
    /// Errors: `FeedbackNotFound`, `AccountMismatch`.
    pub fn of(
        account: &AccountInfo,
        mint: &Pubkey,
        reviewer: &Pubkey,
        feedback_index: u64,
    ) -> Result<Self> {
        let Some(entry) = load::<Self>(account)? else {
            let (derived, _) = Self::find(mint, reviewer, feedback_index);
            return Err(absent(account, derived, ConcordError::FeedbackNotFound));
        };
        require!(
            entry.nft_mint == *mint
                && entry.reviewer == *reviewer
                && entry.feedback_index == feedback_index,
            ConcordError::AccountMismatch
        );
        Ok(entry)
    }

    /// R13: takes the payment's token and amount. Errors: `AlreadyRevoked`,
    /// `PaymentAlreadyProven`.
    pub fn prove_payment(&mut self, token: Pubkey, amount: u64) -> Result<()> {
        require!(!self.revoked, ConcordError::AlreadyRevoked);
        require!(!self.has_payment_proof, ConcordError::PaymentAlreadyProven);
        self.has_payment_proof = true;
        self.payment_token = token;
        self.payment_amount = amount;
        Ok(())
    }

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

    /// `["feedback", mint, reviewer, index]`.
    pub fn find(mint: &Pubkey, reviewer: &Pubkey, feedback_index: u64) -> (Pubkey, u8) {
        let index = feedback_index.to_le_bytes();
        Pubkey::find_program_address(
            &[FEEDBACK, mint.as_ref(), reviewer.as_ref(), &index],
            &crate::ID,
        )
    }
}
