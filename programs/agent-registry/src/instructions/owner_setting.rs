use crate::error::account_mismatch;
use anchor_lang::prelude::*;

/// The accounts of an owner's instruction that writes the agent's record alone. Shared, because
/// Anchor generates some 10 KB for each such struct.
#[derive(Accounts)]
pub struct OwnerSetting<'info> {
    pub owner: Signer<'info>,
    /// CHECK: loaded in the handler
    #[account(mut @ account_mismatch())]
    pub agent: UncheckedAccount<'info>,
    /// CHECK: only its address is used
    pub nft_mint: UncheckedAccount<'info>,
    /// CHECK: signs events
    #[account(address = crate::EVENT_AUTHORITY_AND_BUMP.0 @ account_mismatch())]
    pub event_authority: UncheckedAccount<'info>,
    /// CHECK: the callee of the event self-CPI
    #[account(address = crate::ID @ account_mismatch())]
    pub program: UncheckedAccount<'info>,
}
