use super::*;

#[derive(Accounts)]
pub struct RevokeOpenFeedback<'info> {
    pub client: Signer<'info>,
    /// CHECK: only its address is used
    pub nft_mint: UncheckedAccount<'info>,
    /// CHECK: loaded in the handler
    #[account(mut @ account_mismatch())]
    pub open_feedback: UncheckedAccount<'info>,
    pub events: EventAccounts<'info>,
}

impl RevokeOpenFeedback<'_> {
    pub fn revoke_open_feedback(&self, feedback_index: u64) -> Result<()> {
        // §3a: the client's own entry, no other is reachable. R8: its index is unchanged.
        let (mint, client) = (self.nft_mint.key, self.client.key);
        let mut entry = OpenFeedback::of(&self.open_feedback, mint, client, feedback_index)?;
        entry.revoke()?; // §3a
        store(&self.open_feedback, &entry)?;
        self.events.emit(&OpenFeedbackRevoked {
            nft_mint: entry.nft_mint,
            client: entry.client,
            feedback_index,
            timestamp: Clock::get()?.unix_timestamp,
        })
    }
}
