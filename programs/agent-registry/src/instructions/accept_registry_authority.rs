use super::*;

impl RegistryChange<'_> {
    pub fn accept_registry_authority(&self) -> Result<()> {
        let mut registry = Registry::of(&self.registry)?;
        let from = registry.accept_authority(self.authority.key())?;
        store(&self.registry, &registry)?;
        self.events.emit(&RegistryAuthorityAccepted {
            from,
            to: registry.authority,
            timestamp: Clock::get()?.unix_timestamp,
        })
    }
}
