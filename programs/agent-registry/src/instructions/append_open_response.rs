use super::*;

#[derive(Accounts)]
pub struct AppendOpenResponse<'info> {
    pub responder: Signer<'info>,
    /// CHECK: only its address is used
    pub nft_mint: UncheckedAccount<'info>,
    /// CHECK: loaded in the handler
    #[account(mut @ account_mismatch())]
    pub open_feedback: UncheckedAccount<'info>,
    pub events: EventAccounts<'info>,
}

impl AppendOpenResponse<'_> {
    pub fn append_open_response(
        &self,
        client: Pubkey,
        feedback_index: u64,
        response_uri: String,
        response_hash: [u8; 32],
    ) -> Result<()> {
        require_index_and_uri(feedback_index, &response_uri)?;
        let mut entry = OpenFeedback::of(
            &self.open_feedback,
            self.nft_mint.key,
            &client,
            feedback_index,
        )?;
        require_portable(&response_uri, URI_MAX)?; // R17
        entry.count_response()?;
        store(&self.open_feedback, &entry)?;
        self.events.emit(&OpenResponseAppended {
            nft_mint: entry.nft_mint,
            client: entry.client,
            feedback_index: entry.feedback_index,
            responder: self.responder.key(),
            response_uri,
            response_hash,
            timestamp: Clock::get()?.unix_timestamp,
        })
    }
}
