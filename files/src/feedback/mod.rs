//! Feedback files, in every dialect that is found (SPEC: PROFILE, BP, X402, and agent0's SDKs).

mod agent0;
mod best_practices;
mod entry;
mod portable;
mod profile;
mod x402;

pub use agent0::Agent0Feedback;
pub use best_practices::{A2aContext, BestPracticesFeedback, McpContext, OasfContext};
pub use entry::{Difference, OnChainEntry, OnChainRating};
pub use portable::{check_portable_text, published_endpoint};
pub use profile::ProfileFeedback;
pub use x402::{CommentField, ParticipationProof, ProofField, X402Feedback};

use concord_canonical::{Word, hash::keccak256};
use serde::Serialize;

use crate::{
    AgentId,
    error::{Error, Rule},
    mapping::Mappings,
    parsed::{Parsed, parse_with, write_canonical},
    reader::{Fields, Node, account_id, text, timestamp},
    reputation::X402Profile,
    timestamp::Timestamp,
};

/// Reads a feedback file of any dialect.
///
/// # Errors
/// Refuses more than 1 MiB, what is not strict JSON (R22), a file of no known dialect, and the first
/// field that breaks its form.
pub fn parse_feedback(bytes: &[u8]) -> Result<Parsed<FeedbackFile>, Error> {
    parse_with(bytes, FeedbackFile::read)
}

/// A feedback file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
#[allow(
    clippy::large_enum_variant,
    reason = "one at a time, and passed by reference"
)]
pub enum FeedbackFile {
    /// PROFILE, with or without `feedbackAuth`.
    Profile(ProfileFeedback),
    /// ERC-8004's own form, as BP describes it.
    BestPractices(BestPracticesFeedback),
    /// X402's, in either profile.
    X402(X402Feedback),
    /// As agent0's SDKs write it: BP with flat keys.
    Agent0(Agent0Feedback),
}

/// Where a file's wording comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// PROFILE with `feedbackAuth`: score and 32-byte tags.
    Profile,
    /// PROFILE 1.1 of January 2026: string tags and `endpoint`, no `feedbackAuth`.
    ProfileV1_1,
    /// BP and ERC-8004.
    BestPractices,
    /// X402, with the profile of its proof field (R26).
    X402(X402Profile),
    /// agent0-sdk.
    Agent0,
}

impl Dialect {
    /// The dialect's stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Profile => "profile",
            Self::ProfileV1_1 => "profile-1.1",
            Self::BestPractices => "best-practices",
            Self::X402(X402Profile::Reputation8004) => "x402-8004-reputation",
            Self::X402(X402Profile::Reputation) => "x402-reputation",
            Self::Agent0 => "agent0",
        }
    }
}

/// What every dialect states beside the agent and the rating.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FeedbackHead {
    /// The identity registry, CAIP-10.
    #[cfg_attr(test, schemars(schema_with = "crate::schema::account_id"))]
    pub agent_registry: String,
    /// The account that submitted the feedback on chain, CAIP-10 (R38).
    #[cfg_attr(test, schemars(schema_with = "crate::schema::account_id"))]
    pub client_address: String,
    /// When the file was made.
    pub created_at: Timestamp,
    /// First tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag1: Option<String>,
    /// Second tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag2: Option<String>,
    /// The service that was used, without query, fragment and user info (R39).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
}

impl FeedbackHead {
    fn read(
        fields: &mut Fields<'_>,
        agent_registry: String,
        notes: &mut Mappings,
    ) -> Result<Self, Error> {
        let mut plain = |key| {
            let node = fields.optional(key, notes);
            node.map(|node| text(&node)).transpose()
        };
        let [tag1, tag2, endpoint] = [plain("tag1")?, plain("tag2")?, plain("endpoint")?];
        Ok(Self {
            agent_registry,
            client_address: account_id(&fields.need("clientAddress")?)?,
            created_at: timestamp(&fields.need("createdAt")?)?,
            tag1,
            tag2,
            endpoint,
        })
    }
}

/// The rating of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rating {
    /// 0 to 100, of authorized feedback.
    Score(u8),
    /// A fixed-point value, of open feedback (R16).
    Value(concord_canonical::value::Value),
}

impl FeedbackFile {
    fn read(node: &Node<'_>, notes: &mut Mappings) -> Result<Self, Error> {
        let fields = node.fields()?;
        let has = |key: &str| fields.has(key);
        if has("score") && has("value") {
            let other = fields.path_of("score");
            return Err(Error::new(
                fields.path_of("value"),
                Rule::Exclusive { other },
            ));
        }
        if let Some(profile) = X402Profile::of_proof_in(&fields)? {
            return X402Feedback::read(fields, profile, notes).map(Self::X402);
        }
        match (has("feedbackAuth") || has("score"), has("value")) {
            (true, _) => ProfileFeedback::read(fields, notes).map(Self::Profile),
            (false, true) if agent0::KEYS.iter().any(|key| has(key)) => {
                Agent0Feedback::read(fields, notes).map(Self::Agent0)
            }
            (false, true) => BestPracticesFeedback::read(fields, notes).map(Self::BestPractices),
            (false, false) => Err(node.broken(Rule::Dialect)),
        }
    }

    /// The dialect.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        match self {
            Self::Profile(file) if file.feedback_auth.is_some() => Dialect::Profile,
            Self::Profile(_) => Dialect::ProfileV1_1,
            Self::BestPractices(_) => Dialect::BestPractices,
            Self::X402(file) => Dialect::X402(file.profile()),
            Self::Agent0(_) => Dialect::Agent0,
        }
    }

    /// What every dialect states.
    #[must_use]
    pub fn head(&self) -> &FeedbackHead {
        match self {
            Self::Profile(file) => &file.head,
            Self::BestPractices(file) => &file.head,
            Self::X402(file) => &file.head,
            Self::Agent0(file) => &file.head,
        }
    }

    /// The agent's id.
    #[must_use]
    pub fn agent_id(&self) -> &AgentId {
        match self {
            Self::Profile(file) => &file.agent_id,
            Self::BestPractices(file) => &file.agent_id,
            Self::X402(file) => &file.agent_id,
            Self::Agent0(file) => &file.agent_id,
        }
    }

    /// The rating, as it must be on chain.
    #[must_use]
    pub fn rating(&self) -> Rating {
        match self {
            Self::Profile(file) => Rating::Score(file.score),
            Self::BestPractices(file) => file.value.rating(),
            Self::X402(file) => file.value.rating(),
            Self::Agent0(file) => file.value.rating(),
        }
    }

    /// The file in its dialect's current form: RFC 8785 text to publish as it is (R21).
    ///
    /// # Errors
    /// Refuses what a reader would refuse, tags and endpoints beyond the portable limits (R17), an
    /// endpoint with query, fragment or user info (R39), and an EVM agent id above 2^53 − 1 in a
    /// dialect that writes numbers (R37).
    pub fn to_canonical(&self) -> Result<String, Error> {
        portable::check(self)?;
        let (text, read_back) = write_canonical(self, Self::read)?;
        let dialect = read_back.dialect();
        if dialect == self.dialect() {
            Ok(text)
        } else {
            let dialect = dialect.name();
            Err(Error::new("$", Rule::OtherDialect { dialect }))
        }
    }

    /// `keccak256` of [`Self::to_canonical`], to go on chain with the file's URI (R21).
    ///
    /// # Errors
    /// As [`Self::to_canonical`].
    pub fn hash(&self) -> Result<Word, Error> {
        self.to_canonical().map(|text| keccak256(text.as_bytes()))
    }
}
