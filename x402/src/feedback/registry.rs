use async_trait::async_trait;
use concord_canonical::Word;
use concord_chain::{
    Amount,
    submission::{Landing, SignedTx, TxRecord},
};
use concord_client::{Feedback, FeedbackAuth, Operation, Rating, Response, Revocation};
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

    fn rating(&self) -> Rating {
        match self.clone() {
            Self::Open {
                value,
                decimals,
                endpoint,
            } => Rating::Open {
                value,
                decimals,
                endpoint,
            },
            Self::Authorized { score, grant } => Rating::Authorized {
                score,
                auth: FeedbackAuth {
                    index_limit: grant.index_limit,
                    expiry: grant.expiry,
                    authorization: grant.authorization,
                },
            },
        }
    }
}

impl Submission {
    /// The feedback that is sent.
    ///
    /// # Errors
    /// [`FeedbackError::Registry`] if the record was edited.
    pub(super) fn feedback(&self, network: &str) -> Result<Feedback, FeedbackError> {
        let digits = self.hash.strip_prefix("0x");
        let hash = digits.and_then(|it| hex::decode(it).ok()?.try_into().ok());
        let hash = hash.ok_or_else(|| FeedbackError::Registry {
            network: network.to_owned(),
            reason: "the file's hash is not 32 bytes".to_owned(),
        })?;
        Ok(Feedback {
            agent: self.agent_id.clone(),
            tag1: self.tag1.clone(),
            tag2: self.tag2.clone(),
            rating: self.content.rating(),
            uri: self.uri.clone(),
            hash,
        })
    }

    /// The operation that sends it.
    ///
    /// # Errors
    /// As [`Self::feedback`].
    pub(super) fn operation(&self, network: &str) -> Result<Operation, FeedbackError> {
        self.feedback(network).map(Operation::Give)
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

impl RevocationJob<'_> {
    /// The operation that revokes it.
    pub(super) fn operation(&self) -> Operation {
        Operation::Revoke(Revocation {
            kind: Kind::Open,
            agent: self.agent_id.to_owned(),
            index: self.index,
        })
    }
}

/// A response to an open feedback of this account that is on record (R19).
#[derive(Clone, Copy, Debug)]
pub struct ResponseJob<'a> {
    /// Unique in the record of transactions.
    pub id: &'a str,
    /// The agent's id at the registry.
    pub agent_id: &'a str,
    /// The feedback's: counts from 1, per agent and client.
    pub index: u64,
    /// Where the response file is.
    pub uri: &'a str,
    /// The hash of the response file (R21).
    pub hash: Word,
}

impl ResponseJob<'_> {
    /// The operation that appends it. `account`, CAIP-10, gave the feedback.
    pub(super) fn operation(&self, account: &str) -> Operation {
        let client = account.rsplit(':').next().unwrap_or_default().to_owned();
        Operation::Respond(Response {
            kind: Kind::Open,
            agent: self.agent_id.to_owned(),
            client,
            index: self.index,
            uri: self.uri.to_owned(),
            hash: self.hash,
        })
    }
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

    /// Responds to an open feedback of this account once, however often this is called with the same record, and
    /// waits until that is final. The registry knows this account as the responder.
    ///
    /// # Errors
    /// As [`Self::submit`].
    async fn respond(
        &mut self,
        job: ResponseJob<'_>,
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
