use crate::{
    ConcordError, FeedbackRevoked,
    account_data::{absent, load, store},
    event_emission,
    state::{AgentIdentity, FeedbackEntry},
};
use anchor_lang::prelude::*;

#[derive(Accounts)]
pub struct RevokeFeedback<'info> {
    pub reviewer: Signer<'info>,
    /// CHECK: loaded in the handler
    #[account(mut @ ConcordError::AccountMismatch)]
    pub agent: UncheckedAccount<'info>,
    /// CHECK: only its address is used
    pub nft_mint: UncheckedAccount<'info>,
    /// CHECK: loaded in the handler
    #[account(mut @ ConcordError::AccountMismatch)]
    pub feedback_entry: UncheckedAccount<'info>,
    /// CHECK: signs events
    #[account(address = crate::EVENT_AUTHORITY_AND_BUMP.0 @ ConcordError::AccountMismatch)]
    pub event_authority: UncheckedAccount<'info>,
    /// CHECK: the callee of the event self-CPI
    #[account(address = crate::ID @ ConcordError::AccountMismatch)]
    pub program: UncheckedAccount<'info>,
}

impl RevokeFeedback<'_> {
    pub fn revoke_feedback(&self, feedback_index: u64) -> Result<()> {
        let mut entry = self.load_entry(feedback_index)?;
        entry.revoke()?;
        let mut agent = self.load_agent()?;
        agent.discount_feedback(entry.score, entry.has_payment_proof)?;
        store(&self.feedback_entry, &entry)?;
        store(&self.agent, &agent)?;
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

    /// The reviewer's own entry: no other is reachable.
    fn load_entry(&self, feedback_index: u64) -> Result<FeedbackEntry> {
        let (mint, reviewer) = (self.nft_mint.key, self.reviewer.key);
        let Some(entry) = load::<FeedbackEntry>(&self.feedback_entry)? else {
            let (derived, _) = FeedbackEntry::find(mint, reviewer, feedback_index);
            return Err(absent(
                &self.feedback_entry,
                derived,
                ConcordError::FeedbackNotFound,
            ));
        };
        require!(
            entry.nft_mint == *mint
                && entry.reviewer == *reviewer
                && entry.feedback_index == feedback_index,
            ConcordError::AccountMismatch
        );
        Ok(entry)
    }

    fn load_agent(&self) -> Result<AgentIdentity> {
        match load::<AgentIdentity>(&self.agent)? {
            Some(agent) if agent.nft_mint == *self.nft_mint.key => Ok(agent),
            _ => err!(ConcordError::AccountMismatch),
        }
    }
}
