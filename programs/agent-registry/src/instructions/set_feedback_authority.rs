use crate::{
    ConcordError, FeedbackAuthoritySet, account_data::store, event_emission, state::AgentIdentity,
};
use anchor_lang::prelude::*;

#[derive(Accounts)]
pub struct SetFeedbackAuthority<'info> {
    pub owner: Signer<'info>,
    /// CHECK: loaded in the handler
    #[account(mut @ ConcordError::AccountMismatch)]
    pub agent: UncheckedAccount<'info>,
    /// CHECK: only its address is used
    pub nft_mint: UncheckedAccount<'info>,
    /// CHECK: signs events
    #[account(address = crate::EVENT_AUTHORITY_AND_BUMP.0 @ ConcordError::AccountMismatch)]
    pub event_authority: UncheckedAccount<'info>,
    /// CHECK: the callee of the event self-CPI
    #[account(address = crate::ID @ ConcordError::AccountMismatch)]
    pub program: UncheckedAccount<'info>,
}

impl SetFeedbackAuthority<'_> {
    pub fn set_feedback_authority(&self, authority: Pubkey) -> Result<()> {
        let mut agent = AgentIdentity::of_owner(&self.agent, self.nft_mint.key, self.owner.key)?;
        let now = Clock::get()?.unix_timestamp;
        agent.set_feedback_authority(authority, now); // R7
        store(&self.agent, &agent)?;
        event_emission::emit(
            &self.event_authority,
            &FeedbackAuthoritySet {
                nft_mint: agent.nft_mint,
                owner: agent.owner,
                feedback_authority: authority,
                timestamp: now,
            },
        )
    }
}
