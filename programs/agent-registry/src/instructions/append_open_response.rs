use crate::{
    ConcordError, OpenResponseAppended,
    account_data::{absent, load, store},
    event_emission,
    instructions::append_response::Response,
    portable_text::require_portable,
    state::OpenFeedback,
};
use anchor_lang::prelude::*;
use concord_canonical::limits::URI_MAX;

#[derive(Accounts)]
pub struct AppendOpenResponse<'info> {
    pub responder: Signer<'info>,
    /// CHECK: only its address is used
    pub nft_mint: UncheckedAccount<'info>,
    /// CHECK: loaded in the handler
    #[account(mut @ ConcordError::AccountMismatch)]
    pub open_feedback: UncheckedAccount<'info>,
    /// CHECK: signs events
    #[account(address = crate::EVENT_AUTHORITY_AND_BUMP.0 @ ConcordError::AccountMismatch)]
    pub event_authority: UncheckedAccount<'info>,
    /// CHECK: the callee of the event self-CPI
    #[account(address = crate::ID @ ConcordError::AccountMismatch)]
    pub program: UncheckedAccount<'info>,
}

impl AppendOpenResponse<'_> {
    pub fn append_open_response(&self, response: Response) -> Result<()> {
        response.require_index_and_uri()?;
        let mut entry = self.load_entry(&response)?;
        require_portable(&response.response_uri, URI_MAX)?; // R17
        entry.count_response()?;
        store(&self.open_feedback, &entry)?;
        event_emission::emit(
            &self.event_authority,
            &OpenResponseAppended {
                nft_mint: entry.nft_mint,
                client: entry.client,
                feedback_index: entry.feedback_index,
                responder: self.responder.key(),
                response_uri: response.response_uri,
                response_hash: response.response_hash,
                timestamp: Clock::get()?.unix_timestamp,
            },
        )
    }

    fn load_entry(&self, response: &Response) -> Result<OpenFeedback> {
        let (mint, client, index) = (self.nft_mint.key, &response.client, response.feedback_index);
        match load::<OpenFeedback>(&self.open_feedback)? {
            Some(entry) if entry.is(mint, client, index) => Ok(entry),
            Some(_) => err!(ConcordError::AccountMismatch),
            None => {
                let (derived, _) = OpenFeedback::find(mint, client, index);
                Err(absent(
                    &self.open_feedback,
                    derived,
                    ConcordError::FeedbackNotFound,
                ))
            }
        }
    }
}
