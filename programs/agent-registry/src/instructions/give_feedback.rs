use super::*;
use crate::{
    ed25519::VerifiedMessage,
    state::agent_identity::{AUTH_SCHEME_BOUNDED, AUTH_SCHEME_X84},
};
use concord_canonical::auth::{SvmFeedbackAuth, x84_message};

/// How the agent authorized the feedback.
#[derive(AnchorSerialize, AnchorDeserialize, Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeedbackAuthorization {
    /// The 56-byte message of R9: good while `last_index < index_limit` and `now < expiry`
    /// (seconds).
    Bounded { index_limit: u64, expiry: u64 },
    /// X84's 64-byte message, which has no bounds and no domain: only for an agent whose owner
    /// opted in (R10).
    X84,
}

impl FeedbackAuthorization {
    /// The scheme's number, of `AUTH_SCHEME_*`.
    pub fn scheme(&self) -> u8 {
        match self {
            Self::Bounded { .. } => AUTH_SCHEME_BOUNDED,
            Self::X84 => AUTH_SCHEME_X84,
        }
    }
}

/// The arguments of `give_feedback`.
pub struct Feedback {
    pub feedback_index: u64,
    pub score: u8,
    pub tag1: [u8; 32],
    pub tag2: [u8; 32],
    pub detail_uri: String,
    pub detail_hash: [u8; 32],
    pub auth: FeedbackAuthorization,
}

#[derive(Accounts)]
pub struct GiveFeedback<'info> {
    pub reviewer: Signer<'info>,
    /// Pays for the entry, and for the index of a new client.
    #[account(mut)]
    pub payer: Signer<'info>,
    /// CHECK: only its chain word is read
    #[account(address = Registry::ADDRESS @ account_mismatch())]
    pub registry: UncheckedAccount<'info>,
    pub agent: AgentAccounts<'info>,
    /// CHECK: loaded or created in the handler
    #[account(mut @ account_mismatch())]
    pub client_index: UncheckedAccount<'info>,
    /// CHECK: created in the handler
    #[account(mut @ account_mismatch())]
    pub feedback_entry: UncheckedAccount<'info>,
    /// CHECK: read through the sysvar's own functions
    #[account(address = solana_instructions_sysvar::ID @ account_mismatch())]
    pub instructions_sysvar: UncheckedAccount<'info>,
    pub system_program: Program<'info, System>,
    pub events: EventAccounts<'info>,
}

impl GiveFeedback<'_> {
    pub fn give_feedback(&self, feedback: Feedback) -> Result<()> {
        require!(feedback.score <= SCORE_MAX, ScoreOutOfRange);
        let mut agent = self.agent.load()?;
        // R18
        require!(!agent.is_operated_by(self.reviewer.key), SelfFeedback);
        require_portable(&feedback.detail_uri, URI_MAX)?; // R17
        let (account, mint, reviewer) = (&self.client_index, self.agent.mint(), self.reviewer.key);
        let mut index = ClientIndex::before(account, mint, reviewer, feedback.feedback_index)?;
        let now = Clock::get()?.unix_timestamp;
        let signature = self.authorize(&agent, index.last_index, now, feedback.auth)?;

        index.advance(account, &self.payer, &mut agent.client_count)?;
        agent.count_feedback(feedback.score)?;
        self.agent.store(&agent)?;
        self.record_entry(&feedback, &agent, now)?;
        self.report(feedback, signature, now)
    }

    /// The signature that authorizes this feedback.
    fn authorize(
        &self,
        agent: &AgentIdentity,
        last_index: u64,
        now: i64,
        auth: FeedbackAuthorization,
    ) -> Result<[u8; 64]> {
        let signature = match auth {
            FeedbackAuthorization::Bounded {
                index_limit,
                expiry,
            } => self.authorize_bounded(agent, last_index, now, index_limit, expiry)?,
            FeedbackAuthorization::X84 => self.authorize_x84(agent)?,
        };
        // R10: to an agent without this scheme, its messages are not authorizations
        require!(agent.accepts(auth.scheme()), AuthWrongMessage);
        Ok(signature)
    }

    fn authorize_bounded(
        &self,
        agent: &AgentIdentity,
        last_index: u64,
        now: i64,
        index_limit: u64,
        expiry: u64,
    ) -> Result<[u8; 64]> {
        let verified = VerifiedMessage::preceding(&self.instructions_sysvar)?; // R11
        let now = u64::try_from(now).unwrap_or(0); // R9: a negative clock counts as 0
        require!(now < expiry, AuthExpired); // R8
        require!(last_index < index_limit, AuthIndexLimit); // R8
        let signer = agent.authorization_signer(); // R7
        let message = SvmFeedbackAuth {
            agent_mint: agent.nft_mint.to_bytes(),
            client: self.reviewer.key().to_bytes(),
            index_limit,
            expiry,
            chain: Registry::chain_hash_of(&self.registry)?,
            program_id: crate::ID_CONST.to_bytes(),
            signer: signer.to_bytes(),
        }
        .message(); // R5, R9
        verified.signature_over(signer, &message)
    }

    /// R10: good for ever and for any number of entries, until the owner opts out or sells.
    fn authorize_x84(&self, agent: &AgentIdentity) -> Result<[u8; 64]> {
        let verified = VerifiedMessage::preceding(&self.instructions_sysvar)?; // R11
        let reviewer = self.reviewer.key().to_bytes();
        let message = x84_message(&reviewer, &agent.nft_mint.to_bytes());
        verified.signature_over(agent.authorization_signer(), &message) // R7
    }

    fn record_entry(&self, feedback: &Feedback, agent: &AgentIdentity, now: i64) -> Result<()> {
        let (account, reviewer) = (&self.feedback_entry, self.reviewer.key);
        let place = FeedbackEntry::place_of(&agent.nft_mint, reviewer, feedback.feedback_index);
        let derived = Derived::at(account, &place)?;
        let entry = FeedbackEntry {
            nft_mint: agent.nft_mint,
            reviewer: *reviewer,
            score: feedback.score,
            tag1: feedback.tag1,
            tag2: feedback.tag2,
            auth_verified: true,
            has_payment_proof: false,
            payment_amount: 0,
            payment_token: Pubkey::default(),
            revoked: false,
            created_at: now,
            bump: derived.bump(),
            version: VERSION,
            feedback_index: feedback.feedback_index,
            auth_scheme: feedback.auth.scheme(),
            response_count: 0,
            by_stranger: agent.is_stranger(reviewer),
        };
        derived.create(&self.payer, account, &entry)
    }

    fn report(&self, feedback: Feedback, signature: [u8; 64], now: i64) -> Result<()> {
        self.events.emit(&FeedbackGiven {
            nft_mint: *self.agent.mint(),
            reviewer: self.reviewer.key(),
            score: feedback.score,
            tag1: feedback.tag1,
            tag2: feedback.tag2,
            has_payment_proof: false,
            payment_amount: 0,
            detail_uri: feedback.detail_uri,
            detail_hash: feedback.detail_hash,
            feedback_auth: signature,
            timestamp: now,
            feedback_index: feedback.feedback_index,
            auth_scheme: feedback.auth.scheme(),
        })
    }
}
