use crate::{
    ConcordError, FacilitatorListed, account_data::store, event_emission, state::Registry,
};
use anchor_lang::prelude::*;

#[derive(Accounts)]
pub struct AddFacilitator<'info> {
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

impl AddFacilitator<'_> {
    /// R13. Without effect and event where facilitator is listed already.
    pub fn add_facilitator(&self, facilitator: Pubkey) -> Result<()> {
        let mut registry = Registry::of_authority(&self.registry, self.authority.key)?;
        if !registry.add_facilitator(facilitator)? {
            return Ok(());
        }
        store(&self.registry, &registry)?;
        event_emission::emit(
            &self.event_authority,
            &FacilitatorListed {
                facilitator,
                listed: true,
                timestamp: Clock::get()?.unix_timestamp,
            },
        )
    }
}
