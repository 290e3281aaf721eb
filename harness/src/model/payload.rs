//! The arguments of each [`Operation`](super::Operation).
use super::{Actor, Agent, Authorization, Bytes, Bytes32, Consent, Integer, PaddedTag, Payment};
use serde::{Deserialize, Serialize};

/// `by` registers a new agent and owns it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Register {
    pub agent: Agent,
    pub by: Actor,
    pub uri: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metadata: Vec<Metadata>,
}

/// One metadata value of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Metadata {
    pub key: String,
    pub value: Bytes,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SetAgentUri {
    pub agent: Agent,
    pub by: Actor,
    pub uri: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SetMetadata {
    pub agent: Agent,
    pub by: Actor,
    pub key: String,
    pub value: Bytes,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SetAgentWallet {
    pub agent: Agent,
    pub by: Actor,
    /// `None`: the zero address.
    pub wallet: Option<Actor>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consent: Option<Consent>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct UnsetAgentWallet {
    pub agent: Agent,
    pub by: Actor,
}

/// `by` sends the agent's token to `to`, whoever holds it now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Transfer {
    pub agent: Agent,
    pub by: Actor,
    pub to: Actor,
    /// Into a token account whose owner could be changed later (R4). Means nothing on EVM.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub into_mutable_account: bool,
}

/// Token-2022's own burn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Burn {
    pub agent: Agent,
    pub by: Actor,
}

/// ERC-721's approval of one operator for one token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Approve {
    pub agent: Agent,
    pub by: Actor,
    pub operator: Option<Actor>,
}

/// ERC-721's approval of an operator for every token of `by`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SetOperator {
    pub by: Actor,
    pub operator: Actor,
    pub approved: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SetFeedbackAuthority {
    pub agent: Agent,
    pub by: Actor,
    /// `None`: the owner's key counts again (R7).
    pub authority: Option<Actor>,
    /// Whether the authority agrees, by its signature (R7). The owner's own key is asked for nothing.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub consents: bool,
}

const fn yes() -> bool {
    true
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde's signature
const fn is_yes(it: &bool) -> bool {
    *it
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SetAuthSchemes {
    pub agent: Agent,
    pub by: Actor,
    /// The sum of 1 (x84) and 2 (bounded) (R10).
    pub schemes: u8,
}

/// Says whether payments in `token` count (R13).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ListPaymentToken {
    pub by: Actor,
    pub token: Actor,
    pub listed: bool,
}

/// Says whether payment statements signed by `facilitator` count (R13).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ListFacilitator {
    pub by: Actor,
    pub facilitator: Actor,
    pub listed: bool,
}

/// The registry's authority names its successor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ProposeRegistryAuthority {
    pub by: Actor,
    pub successor: Actor,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AcceptRegistryAuthority {
    pub by: Actor,
}

/// The arguments of authorized feedback.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Feedback {
    pub agent: Agent,
    pub by: Actor,
    /// 0 to 100 are accepted.
    pub score: u8,
    /// Both chains store the same 32 bytes (R14).
    #[serde(default, skip_serializing_if = "PaddedTag::is_empty")]
    pub tag1: PaddedTag,
    #[serde(default, skip_serializing_if = "PaddedTag::is_empty")]
    pub tag2: PaddedTag,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub uri: String,
    /// keccak256 of the feedback file's RFC 8785 bytes (R21), or zeros.
    #[serde(default)]
    pub hash: Bytes32,
    /// The index that Solana's instruction names. `None`: the client's last index plus one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authorization: Option<Authorization>,
}

/// The arguments of open feedback.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct OpenFeedback {
    pub agent: Agent,
    pub by: Actor,
    /// At most 1e38 either way are accepted (R16).
    pub value: Integer,
    /// 0 to 18 are accepted (R16).
    #[serde(default)]
    pub decimals: u8,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tag1: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tag2: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub endpoint: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub uri: String,
    #[serde(default)]
    pub hash: Bytes32,
    /// As [`Feedback::index`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<u64>,
}

/// `by` revokes their own feedback with this 1-based index, in either profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Revocation {
    pub agent: Agent,
    pub by: Actor,
    pub index: u64,
}

/// A response to feedback, in either profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Response {
    pub agent: Agent,
    /// The responder. Anyone may respond (R19).
    pub by: Actor,
    /// The author of the feedback.
    pub client: Actor,
    pub index: u64,
    pub uri: String,
    #[serde(default)]
    pub hash: Bytes32,
}

/// `by` proves that `client` paid for the feedback (R13).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AttachPaymentProof {
    pub agent: Agent,
    pub by: Actor,
    pub client: Actor,
    pub index: u64,
    pub payment: Payment,
}

/// Reads count and average of the authorized profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SummaryQuery {
    pub agent: Agent,
}

/// Reads the open profile's summary over the listed clients (R16).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct OpenSummaryQuery {
    pub agent: Agent,
    pub clients: Vec<Actor>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tag1: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tag2: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ValidationRequest {
    pub agent: Agent,
    pub by: Actor,
    /// `None`: the zero address.
    pub validator: Option<Actor>,
    /// The request's full hash (R20).
    pub request: Bytes32,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub uri: String,
}

/// The arguments of a validation's response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ValidationAnswer {
    /// The agent and the validator of the request. An EVM registry finds it by its hash alone.
    pub agent: Agent,
    pub validator: Actor,
    pub by: Actor,
    pub request: Bytes32,
    /// 0 to 100 are accepted.
    pub score: u8,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub uri: String,
    #[serde(default)]
    pub hash: Bytes32,
    /// Text on EVM, the padded 32 bytes on Solana (R14).
    #[serde(default, skip_serializing_if = "PaddedTag::is_empty")]
    pub tag: PaddedTag,
}
