use super::raised;
use crate::{
    ConcordError,
    account_data::{Placed, Record, require_held},
    error::require,
};
use anchor_lang::prelude::*;
use concord_canonical::{limits::TAG_MAX, pda::Account as Place};

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

impl Record for OpenFeedback {
    /// Tags never change, so the account holds these and no longer ones.
    fn space(&self) -> usize {
        let unused = 2 * TAG_MAX - self.tag1.len() - self.tag2.len();
        Self::SPACE - unused
    }
}

impl Placed for OpenFeedback {
    fn place(&self) -> Place<'_> {
        Self::place_of(&self.nft_mint, &self.client, self.feedback_index)
    }
}

impl OpenFeedback {
    pub fn place_of(mint: &Pubkey, client: &Pubkey, index: u64) -> Place<'static> {
        let (mint, client) = (mint.to_bytes(), client.to_bytes());
        Place::OpenFeedback {
            mint,
            client,
            index,
        }
    }

    /// `client`'s entry number `index` about the agent of `mint`.
    /// Errors: `FeedbackNotFound`, `AccountMismatch`.
    pub fn of(account: &AccountInfo, mint: &Pubkey, client: &Pubkey, index: u64) -> Result<Self> {
        let place = Self::place_of(mint, client, index);
        require_held(account, &place, ConcordError::FeedbackNotFound)
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

    /// R16: revoked entries stay out; the empty tag matches all.
    pub fn matches(&self, tag1: &str, tag2: &str) -> bool {
        let tag_matches = |wanted: &str, tag: &str| wanted.is_empty() || wanted == tag;
        !self.revoked && tag_matches(tag1, &self.tag1) && tag_matches(tag2, &self.tag2)
    }
}
