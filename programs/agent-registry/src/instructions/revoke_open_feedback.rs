use crate::{
    ConcordError, OpenFeedbackRevoked,
    account_data::{absent, load, store},
    event_emission,
    state::OpenFeedback,
};
use anchor_lang::prelude::*;

#[derive(Accounts)]
pub struct RevokeOpenFeedback<'info> {
    pub client: Signer<'info>,
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

impl RevokeOpenFeedback<'_> {
    pub fn revoke_open_feedback(&self, feedback_index: u64) -> Result<()> {
        let mut entry = self.load_entry(feedback_index)?;
        entry.revoke()?;
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

    /// The client's own entry: no other is reachable.
    fn load_entry(&self, feedback_index: u64) -> Result<OpenFeedback> {
        let (mint, client) = (self.nft_mint.key, self.client.key);
        match load::<OpenFeedback>(&self.open_feedback)? {
            Some(entry) if entry.is(mint, client, feedback_index) => Ok(entry),
            Some(_) => err!(ConcordError::AccountMismatch),
            None => {
                let (derived, _) = OpenFeedback::find(mint, client, feedback_index);
                Err(absent(
                    &self.open_feedback,
                    derived,
                    ConcordError::FeedbackNotFound,
                ))
            }
        }
    }
}
