use crate::{AuthSchemesSet, event_emission, instructions::OwnerSetting, state::AgentIdentity};
use anchor_lang::prelude::*;

impl OwnerSetting<'_> {
    pub fn set_auth_schemes(&self, schemes: u8) -> Result<()> {
        let mut agent = AgentIdentity::of_owner(&self.agent, self.nft_mint.key, self.owner.key)?;
        let now = Clock::get()?.unix_timestamp;
        agent.set_auth_schemes(schemes, now)?; // R10
        agent.store(&self.agent)?;
        event_emission::emit(
            &self.event_authority,
            &AuthSchemesSet {
                nft_mint: agent.nft_mint,
                owner: agent.owner,
                auth_schemes: schemes,
                timestamp: now,
            },
        )
    }
}
