use crate::{FacilitatorListed, event_emission, instructions::RegistryChange, state::Registry};
use anchor_lang::prelude::*;

impl RegistryChange<'_> {
    /// R13. Without effect and event where nothing changes.
    pub fn set_facilitator(&self, facilitator: Pubkey, listed: bool) -> Result<()> {
        let mut registry = Registry::of_authority(&self.registry, self.authority.key)?;
        if !registry.set_facilitator(facilitator, listed)? {
            return Ok(());
        }
        registry.store(&self.registry)?;
        event_emission::emit(
            &self.event_authority,
            &FacilitatorListed {
                facilitator,
                listed,
                timestamp: Clock::get()?.unix_timestamp,
            },
        )
    }
}
