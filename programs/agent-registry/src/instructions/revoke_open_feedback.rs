use crate::{
    OpenFeedbackRevoked, account_data::store, error::account_mismatch, event_emission,
    state::OpenFeedback,
};
use anchor_lang::prelude::*;

#[derive(Accounts)]
pub struct RevokeOpenFeedback<'info> {
    pub client: Signer<'info>,
    /// CHECK: only its address is used
    pub nft_mint: UncheckedAccount<'info>,
    /// CHECK: loaded in the handler
    #[account(mut @ account_mismatch())]
    pub open_feedback: UncheckedAccount<'info>,
    /// CHECK: signs events
    #[account(address = crate::EVENT_AUTHORITY_AND_BUMP.0 @ account_mismatch())]
    pub event_authority: UncheckedAccount<'info>,
    /// CHECK: the callee of the event self-CPI
    #[account(address = crate::ID @ account_mismatch())]
    pub program: UncheckedAccount<'info>,
}

impl RevokeOpenFeedback<'_> {
    pub fn revoke_open_feedback(&self, feedback_index: u64) -> Result<()> {
        // §3a: the client's own entry, no other is reachable. R8: its index is unchanged.
        let (mint, client) = (self.nft_mint.key, self.client.key);
        let mut entry = OpenFeedback::of(&self.open_feedback, mint, client, feedback_index)?;
        entry.revoke()?; // §3a
        store(&self.open_feedback, &entry)?;
        event_emission::emit(
            &self.event_authority,
            &OpenFeedbackRevoked {
                nft_mint: entry.nft_mint,
                client: entry.client,
                feedback_index,
                timestamp: Clock::get()?.unix_timestamp,
            },
        )
    }
}
