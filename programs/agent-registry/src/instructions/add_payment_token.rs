use crate::{
    ConcordError, PaymentTokenListed, account_data::store, event_emission, state::Registry,
};
use anchor_lang::prelude::*;

#[derive(Accounts)]
pub struct AddPaymentToken<'info> {
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

impl AddPaymentToken<'_> {
    /// R13. Without effect and event where token is listed already.
    pub fn add_payment_token(&self, token: Pubkey) -> Result<()> {
        let mut registry = Registry::of_authority(&self.registry, self.authority.key)?;
        if !registry.add_payment_token(token)? {
            return Ok(());
        }
        store(&self.registry, &registry)?;
        event_emission::emit(
            &self.event_authority,
            &PaymentTokenListed {
                token,
                listed: true,
                timestamp: Clock::get()?.unix_timestamp,
            },
        )
    }
}
