use crate::{
    AgentWalletSet, ConcordError, account_data::store, event_emission, state::AgentIdentity,
};
use anchor_lang::prelude::*;

#[derive(Accounts)]
pub struct UnsetAgentWallet<'info> {
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

impl UnsetAgentWallet<'_> {
    pub fn unset_agent_wallet(&self) -> Result<()> {
        let mut agent = AgentIdentity::of_owner(&self.agent, self.nft_mint.key, self.owner.key)?;
        let now = Clock::get()?.unix_timestamp;
        agent.set_wallet(Pubkey::default(), now); // R3
        store(&self.agent, &agent)?;
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
