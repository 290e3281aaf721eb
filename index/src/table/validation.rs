use crate::Place;
use borsh::{BorshDeserialize, BorshSerialize};
use concord_registry::event::{AccountId, AgentId};

/// Names a validation. On Solana several validators may be asked under one hash (variance 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, BorshSerialize, BorshDeserialize)]
pub struct ValidationKey {
    /// The agent.
    pub agent: AgentId,
    /// The request's hash.
    pub request: [u8; 32],
    /// Who was asked.
    pub validator: AccountId,
}

/// A validation (R20).
#[derive(Debug, Clone, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Validation {
    /// Where the request file is.
    pub uri: String,
    /// S: the request's tag, opaque.
    pub tag: Option<[u8; 32]>,
    /// Unix seconds of the request.
    pub requested_at: i64,
    /// The request's place.
    pub place: Place,
    /// Unix seconds of the request, or of the latest response.
    pub updated_at: i64,
    /// How many times the validator responded.
    pub responses: u64,
    /// The latest response; `None` while it is pending.
    pub answer: Option<Answer>,
}

/// A validator's latest response.
#[derive(Debug, Clone, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Answer {
    /// 0 to 100.
    pub score: u8,
    /// Where the evidence is.
    pub uri: String,
    /// Its hash (R21).
    pub hash: [u8; 32],
    /// Text; Solana's 32 bytes are written as their text, or in hex if they are not text.
    pub tag: String,
}
