use crate::{
    ConcordError, RegistryAuthorityProposed, account_data::store, event_emission, state::Registry,
};
use anchor_lang::prelude::*;

#[derive(Accounts)]
pub struct ProposeRegistryAuthority<'info> {
    pub authority: Signer<'info>,
    /// CHECK: loaded in the handler
    #[account(mut @ ConcordError::AccountMismatch, address = Registry::ADDRESS @ ConcordError::AccountMismatch)]
    pub registry: UncheckedAccount<'info>,
    /// CHECK: signs events
    #[account(address = crate::EVENT_AUTHORITY_AND_BUMP.0 @ ConcordError::AccountMismatch)]
    pub event_authority: UncheckedAccount<'info>,
    /// CHECK: the callee of the event self-CPI
    #[account(address = crate::ID @ ConcordError::AccountMismatch)]
    pub program: UncheckedAccount<'info>,
}

impl ProposeRegistryAuthority<'_> {
    pub fn propose_registry_authority(&self, successor: Pubkey) -> Result<()> {
        let mut registry = Registry::of_authority(&self.registry, self.authority.key)?;
        registry.propose_authority(successor);
        store(&self.registry, &registry)?;
        event_emission::emit(
            &self.event_authority,
            &RegistryAuthorityProposed {
                authority: registry.authority,
                proposed_authority: successor,
                timestamp: Clock::get()?.unix_timestamp,
            },
        )
    }
}
