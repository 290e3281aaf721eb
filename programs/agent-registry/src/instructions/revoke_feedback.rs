use crate::{
    FeedbackRevoked,
    account_data::store,
    error::account_mismatch,
    event_emission,
    state::{AgentIdentity, FeedbackEntry},
};
use anchor_lang::prelude::*;

#[derive(Accounts)]
pub struct RevokeFeedback<'info> {
    pub reviewer: Signer<'info>,
    /// CHECK: loaded in the handler
    #[account(mut @ account_mismatch())]
    pub agent: UncheckedAccount<'info>,
    /// CHECK: only its address is used
    pub nft_mint: UncheckedAccount<'info>,
    /// CHECK: loaded in the handler
    #[account(mut @ account_mismatch())]
    pub feedback_entry: UncheckedAccount<'info>,
    /// CHECK: signs events
    #[account(address = crate::EVENT_AUTHORITY_AND_BUMP.0 @ account_mismatch())]
    pub event_authority: UncheckedAccount<'info>,
    /// CHECK: the callee of the event self-CPI
    #[account(address = crate::ID @ account_mismatch())]
    pub program: UncheckedAccount<'info>,
}

impl RevokeFeedback<'_> {
    pub fn revoke_feedback(&self, feedback_index: u64) -> Result<()> {
        // §3a: the reviewer's own entry, no other is reachable. R8: its index is unchanged.
        let (mint, reviewer) = (self.nft_mint.key, self.reviewer.key);
        let mut entry = FeedbackEntry::of(&self.feedback_entry, mint, reviewer, feedback_index)?;
        entry.revoke()?; // §3a
        let mut agent = AgentIdentity::of(&self.agent, mint)?;
        agent.discount_feedback(entry.score, entry.has_payment_proof)?;
        store(&self.feedback_entry, &entry)?;
        agent.store(&self.agent)?;
        event_emission::emit(
            &self.event_authority,
            &FeedbackRevoked {
                nft_mint: entry.nft_mint,
                reviewer: entry.reviewer,
                feedback_index,
                timestamp: Clock::get()?.unix_timestamp,
            },
        )
    }
}
