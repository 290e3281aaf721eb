use super::raised;
use crate::{
    ConcordError,
    account_data::{absent, load},
    error::require,
};
use anchor_lang::prelude::*;
use concord_canonical::{limits::TAG_MAX, pda::OPEN_FEEDBACK};

/// One open feedback, `["open_feedback", mint, client, feedback_index u64 LE]`. The fields of
/// fixed width come first, so that an RPC filter can compare them at constant offsets.
#[account]
#[derive(InitSpace, Debug)]
pub struct OpenFeedback {
    pub nft_mint: Pubkey,
    pub client: Pubkey,
    /// 1-based, per agent and client.
    pub feedback_index: u64,
    /// At most 1e38 in magnitude (R16). It means `value / 10^value_decimals`.
    pub value: i128,
    /// 0 to 18.
    pub value_decimals: u8,
    pub revoked: bool,
    /// The cluster's clock, seconds.
    pub created_at: i64,
    pub response_count: u64,
    pub bump: u8,
    pub version: u8,
    /// R14: raw text, at most 32 bytes of UTF-8 without NUL; may be empty.
    #[max_len(TAG_MAX)]
    pub tag1: String,
    #[max_len(TAG_MAX)]
    pub tag2: String,
}

impl OpenFeedback {
    /// Bytes of this entry's account. Tags never change, so it holds these and no longer ones.
    pub fn space(&self) -> usize {
        let unused = 2 * TAG_MAX - self.tag1.len() - self.tag2.len();
        Self::DISCRIMINATOR.len() + Self::INIT_SPACE - unused
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

    /// `client`'s entry number `feedback_index` about the agent of `mint`, in `account`.
    /// Errors: `FeedbackNotFound`, `AccountMismatch`.
    pub fn of(
        account: &AccountInfo,
        mint: &Pubkey,
        client: &Pubkey,
        feedback_index: u64,
    ) -> Result<Self> {
        let Some(entry) = load::<Self>(account)? else {
            let (derived, _) = Self::find(mint, client, feedback_index);
            return Err(absent(account, derived, ConcordError::FeedbackNotFound));
        };
        require!(
            entry.is(mint, client, feedback_index),
            ConcordError::AccountMismatch
        );
        Ok(entry)
    }

    /// Whether this is entry number `feedback_index` of `client` about the agent of `mint`.
    pub fn is(&self, mint: &Pubkey, client: &Pubkey, feedback_index: u64) -> bool {
        self.nft_mint == *mint && self.client == *client && self.feedback_index == feedback_index
    }

    /// R16: revoked entries stay out; the empty tag matches all.
    pub fn matches(&self, tag1: &str, tag2: &str) -> bool {
        let tag_matches = |wanted: &str, tag: &str| wanted.is_empty() || wanted == tag;
        !self.revoked && tag_matches(tag1, &self.tag1) && tag_matches(tag2, &self.tag2)
    }

    /// `["open_feedback", mint, client, index]`.
    pub fn find(mint: &Pubkey, client: &Pubkey, feedback_index: u64) -> (Pubkey, u8) {
        let index = feedback_index.to_le_bytes();
        Pubkey::find_program_address(
            &[OPEN_FEEDBACK, mint.as_ref(), client.as_ref(), &index],
            &crate::ID,
        )
    }
}
