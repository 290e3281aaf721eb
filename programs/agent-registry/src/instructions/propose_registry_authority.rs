use crate::{
    RegistryAuthorityProposed, event_emission, instructions::RegistryChange, state::Registry,
};
use anchor_lang::prelude::*;

impl RegistryChange<'_> {
    pub fn propose_registry_authority(&self, successor: Pubkey) -> Result<()> {
        let mut registry = Registry::of_authority(&self.registry, self.authority.key)?;
        registry.propose_authority(successor);
        registry.store(&self.registry)?;
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
