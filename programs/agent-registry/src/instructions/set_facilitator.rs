use super::*;

impl RegistryChange<'_> {
    /// R13. Without effect and event where nothing changes.
    pub fn set_facilitator(&self, facilitator: Pubkey, listed: bool) -> Result<()> {
        let mut registry = Registry::of_authority(&self.registry, self.authority.key)?;
        if !registry.set_facilitator(facilitator, listed)? {
            return Ok(());
        }
        store(&self.registry, &registry)?;
        self.events.emit(&FacilitatorListed {
            facilitator,
            listed,
            timestamp: Clock::get()?.unix_timestamp,
        })
    }
}
