use crate::{
    ConcordError, OpenFeedbackGiven,
    account_creation::create_pda,
    account_data::{load, store},
    error::{account_mismatch, refusal, require},
    event_emission,
    portable_text::require_portable,
    state::{AgentIdentity, OpenClientIndex, OpenFeedback, VERSION},
};
use anchor_lang::{prelude::*, system_program};
use concord_canonical::{
    error::Error as CanonicalError,
    limits::{ENDPOINT_MAX, TAG_MAX, URI_MAX},
    pda::{OPEN_CLIENT, OPEN_FEEDBACK},
    value::Value,
};

/// The arguments of `give_open_feedback`.
pub struct OpenFeedbackArguments {
    pub feedback_index: u64,
    pub value: i128,
    pub value_decimals: u8,
    pub tag1: String,
    pub tag2: String,
    pub endpoint: String,
    pub feedback_uri: String,
    pub feedback_hash: [u8; 32],
}

#[derive(Accounts)]
pub struct GiveOpenFeedback<'info> {
    pub client: Signer<'info>,
    /// Pays for the entry, and for the index of a new client.
    #[account(mut)]
    pub payer: Signer<'info>,
    /// CHECK: loaded in the handler
    #[account(mut @ account_mismatch())]
    pub agent: UncheckedAccount<'info>,
    /// CHECK: only its address is used
    pub nft_mint: UncheckedAccount<'info>,
    /// CHECK: loaded or created in the handler
    #[account(mut @ account_mismatch())]
    pub open_client_index: UncheckedAccount<'info>,
    /// CHECK: created in the handler
    #[account(mut @ account_mismatch())]
    pub open_feedback: UncheckedAccount<'info>,
    /// CHECK: only its address is used
    #[account(address = system_program::ID @ account_mismatch())]
    pub system_program: UncheckedAccount<'info>,
    /// CHECK: signs events
    #[account(address = crate::EVENT_AUTHORITY_AND_BUMP.0 @ account_mismatch())]
    pub event_authority: UncheckedAccount<'info>,
    /// CHECK: the callee of the event self-CPI
    #[account(address = crate::ID @ account_mismatch())]
    pub program: UncheckedAccount<'info>,
}

impl OpenFeedbackArguments {
    /// R16
    fn require_value_in_range(&self) -> Result<()> {
        match Value::new(self.value, self.value_decimals) {
            Ok(_) => Ok(()),
            Err(CanonicalError::DecimalsOutOfRange { .. }) => {
                Err(refusal(ConcordError::DecimalsOutOfRange))
            }
            Err(_) => Err(refusal(ConcordError::ValueOutOfRange)),
        }
    }

    /// R17
    fn require_portable_texts(&self) -> Result<()> {
        require_portable(&self.tag1, TAG_MAX)?;
        require_portable(&self.tag2, TAG_MAX)?;
        require_portable(&self.endpoint, ENDPOINT_MAX)?;
        require_portable(&self.feedback_uri, URI_MAX)
    }
}

impl GiveOpenFeedback<'_> {
    pub fn give_open_feedback(&self, feedback: OpenFeedbackArguments) -> Result<()> {
        feedback.require_value_in_range()?;
        let agent = AgentIdentity::of(&self.agent, self.nft_mint.key)?;
        // R18
        require!(
            !agent.is_operated_by(self.client.key),
            ConcordError::SelfFeedback
        );
        feedback.require_portable_texts()?;
        let mut index = self.load_index()?;
        // R8, R12: the next index is named, so that each entry's address is known beforehand
        require!(
            feedback.feedback_index == index.next_index()?,
            ConcordError::FeedbackIndexStale
        );
        if index.last_index == 0 {
            self.admit(agent, &mut index)?;
        }
        index.advance()?;
        store(&self.open_client_index, &index)?;
        let now = Clock::get()?.unix_timestamp;
        self.record_entry(&feedback, now)?;
        self.report(feedback, now)
    }

    /// The client's index; with `last_index` 0 before the first feedback.
    fn load_index(&self) -> Result<OpenClientIndex> {
        let (agent, client) = (self.nft_mint.key(), self.client.key());
        match load::<OpenClientIndex>(&self.open_client_index)? {
            Some(index) if index.agent == agent && index.client == client => Ok(index),
            Some(_) => Err(refusal(ConcordError::AccountMismatch)),
            None => {
                let (derived, bump) = OpenClientIndex::find(&agent, &client);
                require!(
                    *self.open_client_index.key == derived,
                    ConcordError::AccountMismatch
                );
                Ok(OpenClientIndex::without_feedback(agent, client, bump))
            }
        }
    }

    /// Gives a new client an ordinal, and its index an account.
    fn admit(&self, mut agent: AgentIdentity, index: &mut OpenClientIndex) -> Result<()> {
        index.ordinal = agent.admit_open_client()?;
        agent.store(&self.agent)?;
        create_pda(
            &self.payer,
            &self.open_client_index,
            OpenClientIndex::SPACE,
            &[
                OPEN_CLIENT,
                index.agent.as_ref(),
                index.client.as_ref(),
                &[index.bump],
            ],
        )
    }

    fn record_entry(&self, feedback: &OpenFeedbackArguments, now: i64) -> Result<()> {
        let (mint, client) = (self.nft_mint.key, self.client.key);
        let feedback_index = feedback.feedback_index;
        let (address, bump) = OpenFeedback::find(mint, client, feedback_index);
        require!(
            *self.open_feedback.key == address,
            ConcordError::AccountMismatch
        );
        let entry = OpenFeedback {
            nft_mint: *mint,
            client: *client,
            feedback_index,
            value: feedback.value,
            value_decimals: feedback.value_decimals,
            revoked: false,
            created_at: now,
            response_count: 0,
            bump,
            version: VERSION,
            tag1: feedback.tag1.clone(),
            tag2: feedback.tag2.clone(),
        };
        create_pda(
            &self.payer,
            &self.open_feedback,
            entry.space(),
            &[
                OPEN_FEEDBACK,
                mint.as_ref(),
                client.as_ref(),
                &feedback_index.to_le_bytes(),
                &[bump],
            ],
        )?;
        store(&self.open_feedback, &entry)
    }

    fn report(&self, feedback: OpenFeedbackArguments, now: i64) -> Result<()> {
        event_emission::emit(
            &self.event_authority,
            &OpenFeedbackGiven {
                nft_mint: self.nft_mint.key(),
                client: self.client.key(),
                feedback_index: feedback.feedback_index,
                value: feedback.value,
                value_decimals: feedback.value_decimals,
                tag1: feedback.tag1,
                tag2: feedback.tag2,
                endpoint: feedback.endpoint,
                feedback_uri: feedback.feedback_uri,
                feedback_hash: feedback.feedback_hash,
                timestamp: now,
            },
        )
    }
}
