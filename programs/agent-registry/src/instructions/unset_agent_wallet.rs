use crate::{AgentWalletSet, event_emission, instructions::OwnerSetting, state::AgentIdentity};
use anchor_lang::prelude::*;

impl OwnerSetting<'_> {
    pub fn unset_agent_wallet(&self) -> Result<()> {
        let mut agent = AgentIdentity::of_owner(&self.agent, self.nft_mint.key, self.owner.key)?;
        let now = Clock::get()?.unix_timestamp;
        agent.set_wallet(Pubkey::default(), now); // R3
        agent.store(&self.agent)?;
        event_emission::emit(
            &self.event_authority,
            &AgentWalletSet {
                nft_mint: agent.nft_mint,
                owner: agent.owner,
                agent_wallet: agent.agent_wallet,
                timestamp: now,
            },
        )
    }
}
