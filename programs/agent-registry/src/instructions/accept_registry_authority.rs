use crate::{
    RegistryAuthorityAccepted, event_emission, instructions::RegistryChange, state::Registry,
};
use anchor_lang::prelude::*;

impl RegistryChange<'_> {
    pub fn accept_registry_authority(&self) -> Result<()> {
        let mut registry = Registry::of(&self.registry)?;
        let from = registry.accept_authority(self.authority.key())?;
        registry.store(&self.registry)?;
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
