//! A scenario file, as it stands on disk. `tests/scenarios/schema.json` describes the same shape
//! for editors and for other languages.
use super::Rule;
use crate::model::{Actor, Agent, Bytes32, Chain, Event, Summary, Verdict};
use serde::{Deserialize, Serialize};

/// One story, told once, that every chain must end the same way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    pub title: String,
    /// What the scenario shows; every step that cites no rule of its own counts for these.
    pub rules: Vec<Rule>,
    /// Where the story comes from, such as `FS-021`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// Unix seconds. Every other time in the file is counted from here.
    pub start: u64,
    pub actors: Vec<Actor>,
    pub steps: Vec<Step>,
}

/// One thing that somebody does, and what must come of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<Rule>,
    /// The chain's time for this transaction; one second after the one before where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<u64>,
    #[serde(rename = "do")]
    pub action: Action,
    /// Absent for `authorize` only, which happens off chain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<Expectation>,
    /// Where a chain is declared to differ from `expect` (specification §3a).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variance: Vec<Variance>,
}

/// What somebody does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Action {
    /// Off chain: makes the authorization `name`, for later steps to send.
    Authorize(Authorize),
    Register {
        agent: Agent,
        by: Actor,
        uri: String,
    },
    Transfer {
        agent: Agent,
        by: Actor,
        to: Actor,
    },
    GiveFeedback(GiveFeedback),
    RevokeFeedback {
        agent: Agent,
        by: Actor,
        index: u64,
    },
    Summary {
        agent: Agent,
    },
}

/// The fields of R5, with what is done to the signed bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Authorize {
    pub name: String,
    pub signer: Actor,
    pub agent: Agent,
    pub client: Actor,
    pub index_limit: u64,
    /// Seconds after `start`.
    pub expiry: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tamper: Option<Tamper>,
}

/// How an authorization is spoilt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Tamper {
    /// The signed text names another chain.
    WrongChain,
    /// The signed text names another registry.
    WrongRegistry,
    /// One bit of the signature is flipped.
    CorruptSignature,
    /// Another actor's key signs the text that names `signer`.
    SignedBy(Actor),
    /// Nothing is sent.
    Empty,
    /// The last byte is cut off.
    Truncated,
    /// A zero byte is appended.
    Extended,
}

/// The arguments of authorized feedback.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GiveFeedback {
    pub agent: Agent,
    pub by: Actor,
    pub score: u8,
    /// At most 32 UTF-8 bytes (R14).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tag1: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tag2: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub uri: String,
    /// The feedback file, beside the scenario file. Its RFC 8785 hash must be `hash`, and its
    /// score and tags those of the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<Bytes32>,
    /// Solana's explicit index (R12), where it is not to be the client's last plus one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<u64>,
    /// The name of an authorization made earlier; none is sent where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authorization: Option<String>,
}

/// What must come of a step. `outcome` and `summary` are written by hand; `concord conform
/// --bless` writes `events` and `digest` from the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    pub outcome: Verdict,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<Summary>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<Vec<Event>>,
    /// keccak256 of the canonical state after the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Bytes32>,
}

/// One chain's declared difference at one step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variance {
    /// The number in the specification's list of declared variances, 1 to 7.
    pub kind: u8,
    pub chain: Chain,
    pub reason: String,
    pub expect: Expectation,
}

impl Step {
    /// What the step must come to on `chain`.
    pub fn expectation(&self, chain: Chain) -> Option<&Expectation> {
        self.variance
            .iter()
            .find(|variance| variance.chain == chain)
            .map(|variance| &variance.expect)
            .or(self.expect.as_ref())
    }

    /// The place in this step of what [`Self::expectation`] answers.
    pub fn expectation_path(&self, chain: Chain) -> String {
        self.variance
            .iter()
            .position(|variance| variance.chain == chain)
            .map_or("expect".to_owned(), |at| format!("variance[{at}].expect"))
    }
}
