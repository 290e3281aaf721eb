use super::*;

#[derive(Accounts)]
pub struct AppendResponse<'info> {
    pub responder: Signer<'info>,
    /// CHECK: only its address is used
    pub nft_mint: UncheckedAccount<'info>,
    /// CHECK: loaded in the handler
    #[account(mut @ account_mismatch())]
    pub feedback_entry: UncheckedAccount<'info>,
    pub events: EventAccounts<'info>,
}

/// SPEC 3a: what is wrong whatever the entry is.
pub fn require_index_and_uri(feedback_index: u64, response_uri: &str) -> Result<()> {
    require!(feedback_index > 0, FeedbackNotFound); // R8
    require!(!response_uri.is_empty(), EmptyUri); // R19
    Ok(())
}

impl AppendResponse<'_> {
    pub fn append_response(
        &self,
        client: Pubkey,
        feedback_index: u64,
        response_uri: String,
        response_hash: [u8; 32],
    ) -> Result<()> {
        require_index_and_uri(feedback_index, &response_uri)?;
        let mut entry = FeedbackEntry::of(
            &self.feedback_entry,
            self.nft_mint.key,
            &client,
            feedback_index,
        )?;
        require_portable(&response_uri, URI_MAX)?; // R17
        entry.count_response()?;
        store(&self.feedback_entry, &entry)?;
        self.events.emit(&ResponseAppended {
            nft_mint: entry.nft_mint,
            client: entry.reviewer,
            feedback_index: entry.feedback_index,
            responder: self.responder.key(),
            response_uri,
            response_hash,
            timestamp: Clock::get()?.unix_timestamp,
        })
    }
}
