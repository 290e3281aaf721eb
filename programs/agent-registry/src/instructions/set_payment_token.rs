use super::*;

impl RegistryChange<'_> {
    /// R13. Without effect and event where nothing changes.
    pub fn set_payment_token(&self, token: Pubkey, listed: bool) -> Result<()> {
        let mut registry = Registry::of_authority(&self.registry, self.authority.key)?;
        if !registry.set_payment_token(token, listed)? {
            return Ok(());
        }
        store(&self.registry, &registry)?;
        self.events.emit(&PaymentTokenListed {
            token,
            listed,
            timestamp: Clock::get()?.unix_timestamp,
        })
    }
}
