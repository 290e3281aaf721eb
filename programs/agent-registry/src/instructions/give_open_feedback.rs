use super::*;
use concord_canonical::{error::Error as CanonicalError, value::Value};

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
    pub agent: AgentAccounts<'info>,
    /// CHECK: loaded or created in the handler
    #[account(mut @ account_mismatch())]
    pub open_client_index: UncheckedAccount<'info>,
    /// CHECK: created in the handler
    #[account(mut @ account_mismatch())]
    pub open_feedback: UncheckedAccount<'info>,
    pub system_program: Program<'info, System>,
    pub events: EventAccounts<'info>,
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
        let mut agent = self.agent.load()?;
        // R18
        require!(!agent.is_operated_by(self.client.key), SelfFeedback);
        feedback.require_portable_texts()?;
        let (account, mint, client) = (&self.open_client_index, self.agent.mint(), self.client.key);
        let mut index = OpenClientIndex::before(account, mint, client, feedback.feedback_index)?;
        index.advance(account, &self.payer, &mut agent.open_client_count)?;
        if index.last_index == 1 {
            self.agent.store(&agent)?; // one client more
        }
        let now = Clock::get()?.unix_timestamp;
        self.record_entry(&feedback, now)?;
        self.report(feedback, now)
    }

    fn record_entry(&self, feedback: &OpenFeedbackArguments, now: i64) -> Result<()> {
        let (account, mint, client) = (&self.open_feedback, self.agent.mint(), self.client.key);
        let place = OpenFeedback::place_of(mint, client, feedback.feedback_index);
        let derived = Derived::at(account, &place)?;
        let entry = OpenFeedback {
            nft_mint: *mint,
            client: *client,
            feedback_index: feedback.feedback_index,
            value: feedback.value,
            value_decimals: feedback.value_decimals,
            revoked: false,
            created_at: now,
            response_count: 0,
            bump: derived.bump(),
            version: VERSION,
            tag1: feedback.tag1.clone(),
            tag2: feedback.tag2.clone(),
        };
        derived.create(&self.payer, account, &entry)
    }

    fn report(&self, feedback: OpenFeedbackArguments, now: i64) -> Result<()> {
        self.events.emit(&OpenFeedbackGiven {
            nft_mint: *self.agent.mint(),
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
        })
    }
}
