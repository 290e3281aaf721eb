//! What can be read of the registries without a key.

use async_trait::async_trait;
use concord_canonical::{score::Tally, summary::Summary};
use concord_registry::event::AccountId;

use crate::{ClientError, Kind};

/// The registries of one deployment, as anyone can read them.
#[async_trait]
pub trait Registries: Send + Sync {
    /// The chain, CAIP-2.
    fn network(&self) -> &str;

    /// The identity registry, CAIP-10.
    fn registry(&self) -> String;

    /// An agent; `None` if there is none.
    ///
    /// # Errors
    /// [`ClientError`] if the chain does not answer.
    async fn agent(&self, agent: &str) -> Result<Option<Agent>, ClientError>;

    /// One feedback; `None` if there is none. `index` counts from 1 (R44).
    ///
    /// # Errors
    /// [`ClientError`] if the chain does not answer.
    async fn feedback(
        &self,
        kind: Kind,
        agent: &str,
        client: &str,
        index: u64,
    ) -> Result<Option<FeedbackState>, ClientError>;

    /// The summary of open feedback, as the registry's `getSummary` computes it (R16). `None`: of everyone who gave
    /// any. One who is listed twice counts twice.
    ///
    /// # Errors
    /// [`ClientError`] if the chain does not answer.
    async fn open_summary(
        &self,
        agent: &str,
        reviewers: Option<&[AccountId]>,
        tags: Tags<'_>,
    ) -> Result<Summary, ClientError>;

    /// Counts and sums of authorized feedback (R15).
    ///
    /// # Errors
    /// [`ClientError`] if the chain does not answer.
    async fn tallies(
        &self,
        agent: &str,
        reviewers: Option<&[AccountId]>,
        tags: Tags<'_>,
    ) -> Result<Tallies, ClientError>;
}

/// The tags to match; an empty one matches all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tags<'a> {
    /// First tag.
    pub tag1: &'a str,
    /// Second tag.
    pub tag2: &'a str,
}

/// An agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    /// Its owner.
    pub owner: AccountId,
    /// Where it is paid (R3).
    pub wallet: Option<AccountId>,
    /// Where its registration file is.
    pub uri: String,
}

/// A feedback that the chain stores. Its endpoint and its file are in its event only: an index has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedbackState {
    /// What it says.
    pub rating: StoredRating,
    /// The client revoked it.
    pub is_revoked: bool,
}

/// A stored rating.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoredRating {
    /// Anyone's.
    Open {
        /// It means `value / 10^decimals`.
        value: i128,
        /// 0 to 18.
        decimals: u8,
        /// First tag.
        tag1: String,
        /// Second tag.
        tag2: String,
    },
    /// With the agent's authorization.
    Authorized {
        /// 0 to 100.
        score: u8,
        /// Opaque (R14).
        tag1: [u8; 32],
        /// Opaque (R14).
        tag2: [u8; 32],
        /// Whether a facilitator proved its payment (R13). Never on EVM, which has no such proofs.
        has_payment_proof: bool,
    },
}

/// Authorized feedback that is not revoked, by whether its payment was proven.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tallies {
    /// With a payment proof (R13).
    pub verified: Tally,
    /// Without.
    pub unverified: Tally,
}
