use async_trait::async_trait;
use concord_canonical::Word;
use concord_chain::{
    Amount,
    submission::{Landing, SignedTx, TxRecord},
};
use serde::{Deserialize, Serialize};

use super::{FeedbackEntry, FeedbackError, Kind, PaymentAttestation};
use crate::grants::FeedbackGrant;

/// What a registry is sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Submission {
    /// The agent's id at the registry.
    pub agent_id: String,
    /// First tag.
    pub tag1: String,
    /// Second tag.
    pub tag2: String,
    /// The rating.
    pub content: FeedbackContent,
    /// Where the feedback file is.
    pub uri: String,
    /// Its hash, hex with `0x` (R21).
    pub hash: String,
}

/// The part that depends on the registry's profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum FeedbackContent {
    /// Anyone's.
    Open {
        /// The integer, in decimal: JSON numbers are not exact.
        value: String,
        /// How many of its digits follow the point.
        decimals: u8,
        /// The service.
        endpoint: String,
    },
    /// By the agent's grant.
    Authorized {
        /// 0 to 100.
        score: u8,
        /// The grant.
        grant: FeedbackGrant,
    },
}

impl FeedbackContent {
    /// Which registry takes it.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::Open { .. } => Kind::Open,
            Self::Authorized { .. } => Kind::Authorized,
        }
    }
}

impl Submission {
    /// The hash's bytes; `None` if the record was edited.
    pub(super) fn hash_word(&self) -> Option<Word> {
        let digits = self.hash.strip_prefix("0x")?;
        hex::decode(digits).ok()?.try_into().ok()
    }
}

/// A submission under the id of its purchase.
#[derive(Clone, Copy, Debug)]
pub struct FeedbackJob<'a> {
    /// Unique in the record of transactions.
    pub id: &'a str,
    /// What is sent.
    pub submission: &'a Submission,
}

/// The withdrawal of an open feedback that is on record.
#[derive(Clone, Copy, Debug)]
pub struct RevocationJob<'a> {
    /// Unique in the record of transactions.
    pub id: &'a str,
    /// The agent's id at the registry.
    pub agent_id: &'a str,
    /// Counts from 1, per agent and client.
    pub index: u64,
}

/// A registry to which feedback is submitted, by one account.
#[async_trait]
pub trait FeedbackRegistry: Send + Sync {
    /// The identity registry, CAIP-10.
    fn registry(&self) -> String;

    /// The account that submits, CAIP-10 (R38).
    fn client(&self) -> String;

    /// The most that submitting a feedback can cost now, fee and rent together, in the chain's smallest unit.
    ///
    /// # Errors
    /// [`FeedbackError`], also if the registry would refuse the feedback.
    async fn cost(&self, submission: &Submission) -> Result<Amount, FeedbackError>;

    /// Submits a feedback once, however often this is called with the same record, and waits until it is final.
    ///
    /// # Errors
    /// [`FeedbackError`]; the record then has everything that was signed.
    async fn submit(
        &mut self,
        job: FeedbackJob<'_>,
        record: &mut (dyn TxRecord + Sync),
    ) -> Result<(), FeedbackError>;

    /// Reads the entry of a transaction that landed, from the registry's event.
    ///
    /// # Errors
    /// [`FeedbackError`] if the transaction has no such event.
    async fn entry(
        &self,
        job: FeedbackJob<'_>,
        landing: &Landing,
        signed: &SignedTx,
    ) -> Result<FeedbackEntry, FeedbackError>;

    /// Revokes an open feedback of this account once, however often this is called with the same record, and
    /// waits until that is final.
    ///
    /// # Errors
    /// As [`Self::submit`].
    async fn revoke(
        &mut self,
        job: RevocationJob<'_>,
        record: &mut (dyn TxRecord + Sync),
    ) -> Result<(), FeedbackError>;

    /// Attaches a facilitator's proof of the payment to an authorized feedback (R13), once.
    ///
    /// # Errors
    /// [`FeedbackError::Registry`] on chains without payment proofs.
    async fn attach_payment_proof(
        &mut self,
        job: FeedbackJob<'_>,
        index: u64,
        attestation: &PaymentAttestation,
        record: &mut (dyn TxRecord + Sync),
    ) -> Result<(), FeedbackError>;
}
