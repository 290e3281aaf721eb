use crate::{
    AuthSchemesSet, ConcordError, account_data::store, event_emission, state::AgentIdentity,
};
use anchor_lang::prelude::*;

#[derive(Accounts)]
pub struct SetAuthSchemes<'info> {
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

impl SetAuthSchemes<'_> {
    pub fn set_auth_schemes(&self, schemes: u8) -> Result<()> {
        let mut agent = AgentIdentity::of_owner(&self.agent, self.nft_mint.key, self.owner.key)?;
        let now = Clock::get()?.unix_timestamp;
        agent.set_auth_schemes(schemes, now)?; // R10
        store(&self.agent, &agent)?;
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
