use super::*;

impl RegistryChange<'_> {
    pub fn propose_registry_authority(&self, successor: Pubkey) -> Result<()> {
        let mut registry = Registry::of_authority(&self.registry, self.authority.key)?;
        registry.propose_authority(successor);
        store(&self.registry, &registry)?;
        self.events.emit(&RegistryAuthorityProposed {
            authority: registry.authority,
            proposed_authority: successor,
            timestamp: Clock::get()?.unix_timestamp,
        })
    }
}
