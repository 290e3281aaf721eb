use crate::{
    FeedbackAuthoritySet, event_emission, instructions::OwnerSetting, state::AgentIdentity,
};
use anchor_lang::prelude::*;

impl OwnerSetting<'_> {
    pub fn set_feedback_authority(&self, authority: Pubkey) -> Result<()> {
        let mut agent = AgentIdentity::of_owner(&self.agent, self.nft_mint.key, self.owner.key)?;
        let now = Clock::get()?.unix_timestamp;
        agent.set_feedback_authority(authority, now); // R7
        agent.store(&self.agent)?;
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
