use super::*;

#[derive(Accounts)]
pub struct RevokeFeedback<'info> {
    pub reviewer: Signer<'info>,
    pub agent: AgentAccounts<'info>,
    /// CHECK: loaded in the handler
    #[account(mut @ account_mismatch())]
    pub feedback_entry: UncheckedAccount<'info>,
    pub events: EventAccounts<'info>,
}

impl RevokeFeedback<'_> {
    pub fn revoke_feedback(&self, feedback_index: u64) -> Result<()> {
        // §3a: the reviewer's own entry, no other is reachable. R8: its index is unchanged.
        let (mint, reviewer) = (self.agent.mint(), self.reviewer.key);
        let mut entry = FeedbackEntry::of(&self.feedback_entry, mint, reviewer, feedback_index)?;
        entry.revoke()?; // §3a
        let mut agent = self.agent.load()?;
        agent.discount_feedback(entry.score, entry.has_payment_proof)?;
        store(&self.feedback_entry, &entry)?;
        self.agent.store(&agent)?;
        self.events.emit(&FeedbackRevoked {
            nft_mint: entry.nft_mint,
            reviewer: entry.reviewer,
            feedback_index,
            timestamp: Clock::get()?.unix_timestamp,
        })
    }
}
