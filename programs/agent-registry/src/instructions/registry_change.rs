use crate::{error::account_mismatch, state::Registry};
use anchor_lang::prelude::*;

/// The accounts of an instruction that writes the registry's account. Shared, because Anchor
/// generates some 10 KB for each such struct.
#[derive(Accounts)]
pub struct RegistryChange<'info> {
    /// The registry's authority; of an acceptance, its successor.
    pub authority: Signer<'info>,
    /// CHECK: loaded in the handler
    #[account(mut @ account_mismatch(), address = Registry::ADDRESS @ account_mismatch())]
    pub registry: UncheckedAccount<'info>,
    /// CHECK: signs events
    #[account(address = crate::EVENT_AUTHORITY_AND_BUMP.0 @ account_mismatch())]
    pub event_authority: UncheckedAccount<'info>,
    /// CHECK: the callee of the event self-CPI
    #[account(address = crate::ID @ account_mismatch())]
    pub program: UncheckedAccount<'info>,
}
