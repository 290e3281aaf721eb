use crate::{PaymentTokenListed, event_emission, instructions::RegistryChange, state::Registry};
use anchor_lang::prelude::*;

impl RegistryChange<'_> {
    /// R13. Without effect and event where `token` is not listed.
    pub fn remove_payment_token(&self, token: Pubkey) -> Result<()> {
        let mut registry = Registry::of_authority(&self.registry, self.authority.key)?;
        if !registry.remove_payment_token(&token) {
            return Ok(());
        }
        registry.store(&self.registry)?;
        event_emission::emit(
            &self.event_authority,
            &PaymentTokenListed {
                token,
                listed: false,
                timestamp: Clock::get()?.unix_timestamp,
            },
        )
    }
}
