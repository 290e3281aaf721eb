use crate::{
    ConcordError, RegistryAuthorityAccepted, account_data::store, event_emission, state::Registry,
};
use anchor_lang::prelude::*;

#[derive(Accounts)]
pub struct AcceptRegistryAuthority<'info> {
    pub successor: Signer<'info>,
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

impl AcceptRegistryAuthority<'_> {
    pub fn accept_registry_authority(&self) -> Result<()> {
        let mut registry = Registry::of(&self.registry)?;
        let from = registry.accept_authority(self.successor.key())?;
        store(&self.registry, &registry)?;
        event_emission::emit(
            &self.event_authority,
            &RegistryAuthorityAccepted {
                from,
                to: registry.authority,
                timestamp: Clock::get()?.unix_timestamp,
            },
        )
    }
}
