use crate::{
    ConcordError, FacilitatorListed, account_data::store, event_emission, state::Registry,
};
use anchor_lang::prelude::*;

#[derive(Accounts)]
pub struct RemoveFacilitator<'info> {
    pub authority: Signer<'info>,
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

impl RemoveFacilitator<'_> {
    /// R13. Without effect and event where facilitator is not listed.
    pub fn remove_facilitator(&self, facilitator: Pubkey) -> Result<()> {
        let mut registry = Registry::of_authority(&self.registry, self.authority.key)?;
        if !registry.remove_facilitator(&facilitator) {
            return Ok(());
        }
        store(&self.registry, &registry)?;
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
