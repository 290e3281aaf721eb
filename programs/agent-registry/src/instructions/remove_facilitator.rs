use crate::{FacilitatorListed, event_emission, instructions::RegistryChange, state::Registry};
use anchor_lang::prelude::*;

impl RegistryChange<'_> {
    /// R13. Without effect and event where `facilitator` is not listed.
    pub fn remove_facilitator(&self, facilitator: Pubkey) -> Result<()> {
        let mut registry = Registry::of_authority(&self.registry, self.authority.key)?;
        if !registry.remove_facilitator(&facilitator) {
            return Ok(());
        }
        registry.store(&self.registry)?;
        event_emission::emit(
            &self.event_authority,
            &FacilitatorListed {
                facilitator,
                listed: false,
                timestamp: Clock::get()?.unix_timestamp,
            },
        )
    }
}
