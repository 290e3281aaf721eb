use super::*;

/// The arguments of `append_response` and `append_open_response`.
pub struct Response {
    /// Whose feedback is responded to.
    pub client: Pubkey,
    pub feedback_index: u64,
    pub response_uri: String,
    pub response_hash: [u8; 32],
}

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

impl Response {
    /// SPEC 3a: what is wrong whatever the entry is.
    pub fn require_index_and_uri(&self) -> Result<()> {
        require!(self.feedback_index > 0, ConcordError::FeedbackNotFound); // R8
        require!(!self.response_uri.is_empty(), ConcordError::EmptyUri); // R19
        Ok(())
    }
}

impl AppendResponse<'_> {
    pub fn append_response(&self, response: Response) -> Result<()> {
        response.require_index_and_uri()?;
        let (mint, index) = (self.nft_mint.key, response.feedback_index);
        let mut entry = FeedbackEntry::of(&self.feedback_entry, mint, &response.client, index)?;
        require_portable(&response.response_uri, URI_MAX)?; // R17
        entry.count_response()?;
        store(&self.feedback_entry, &entry)?;
        self.events.emit(&ResponseAppended {
            nft_mint: entry.nft_mint,
            client: entry.reviewer,
            feedback_index: entry.feedback_index,
            responder: self.responder.key(),
            response_uri: response.response_uri,
            response_hash: response.response_hash,
            timestamp: Clock::get()?.unix_timestamp,
        })
    }
}
