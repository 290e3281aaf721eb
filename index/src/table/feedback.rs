use crate::Place;
use borsh::{BorshDeserialize, BorshSerialize};
use concord_canonical::summary::DECIMALS_COUNT;
use concord_registry::event::{AccountId, AgentId, Profile, TransactionId};

/// Names a client of an agent, in one profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, BorshSerialize, BorshDeserialize)]
pub struct ClientKey {
    /// Which kind of feedback.
    pub profile: Profile,
    /// The agent.
    pub agent: AgentId,
    /// The client.
    pub client: AccountId,
}

/// A client of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Client {
    /// Counts the agent's clients from 1, in the order of their first feedback.
    pub ordinal: u64,
    /// R44: the index of the client's last feedback, counted from 1.
    pub last_index: u64,
    /// The client's feedback that is not revoked.
    pub count: u64,
    /// S: what of it has a proven payment (R13).
    pub paid: u64,
}

/// Names a feedback.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, BorshSerialize, BorshDeserialize)]
pub struct FeedbackKey {
    /// Which kind of feedback.
    pub profile: Profile,
    /// The agent.
    pub agent: AgentId,
    /// The client.
    pub client: AccountId,
    /// R44: counts from 1.
    pub index: u64,
}

impl FeedbackKey {
    pub(crate) const fn client(&self) -> ClientKey {
        ClientKey {
            profile: self.profile,
            agent: self.agent,
            client: self.client,
        }
    }
}

/// A feedback.
#[derive(Debug, Clone, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Feedback {
    /// It means `value / 10^decimals`. An authorized score has 0 decimals.
    pub value: i128,
    /// 0 to 18.
    pub decimals: u8,
    /// An authorized feedback's 32 bytes are written as their text, or in hex if they are not text.
    pub tag1: String,
    /// Likewise.
    pub tag2: String,
    /// What was used of the agent; authorized feedback does not have it.
    pub endpoint: String,
    /// Where the feedback file is.
    pub uri: String,
    /// Its hash (R21).
    pub hash: [u8; 32],
    /// S: the scheme of its authorization: 1 is x84, 2 is bounded (R10).
    pub scheme: Option<u8>,
    /// S: the authorization's signature.
    pub signature: Option<Vec<u8>>,
    /// Unix seconds.
    pub at: i64,
    /// Its place.
    pub place: Place,
    /// Its transaction.
    pub transaction: Transaction,
    /// Unix seconds at which it was revoked.
    pub revoked_at: Option<i64>,
    /// How many responses it has.
    pub responses: u64,
    /// S: whether a payment was proven for it (R13).
    pub is_paid: bool,
}

/// A transaction's hash, or its first signature.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, BorshSerialize, BorshDeserialize)]
pub struct Transaction(pub Vec<u8>);

impl From<TransactionId> for Transaction {
    fn from(id: TransactionId) -> Self {
        match id {
            TransactionId::Evm(hash) => Self(hash.to_vec()),
            TransactionId::Svm(signature) => Self(signature.to_vec()),
        }
    }
}

/// Names a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, BorshSerialize, BorshDeserialize)]
pub struct ResponseKey {
    /// The feedback.
    pub feedback: FeedbackKey,
    /// Counts the feedback's responses from 1.
    pub number: u64,
}

/// A response to a feedback (R19).
#[derive(Debug, Clone, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Response {
    /// Who responded.
    pub responder: AccountId,
    /// Where the response file is.
    pub uri: String,
    /// Its hash (R21).
    pub hash: [u8; 32],
    /// Unix seconds.
    pub at: i64,
    /// Its place.
    pub place: Place,
    /// Its transaction.
    pub transaction: Transaction,
}

/// S: a proven payment (R13).
#[derive(Debug, Clone, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Payment {
    /// Who was paid, by the facilitator's word.
    pub payee: AccountId,
    /// The token's mint.
    pub token: AccountId,
    /// In the token's smallest unit.
    pub amount: u64,
    /// keccak256 of the task reference's dedupe key.
    pub task_ref_hash: [u8; 32],
    /// When the payment settled, in Unix seconds.
    pub paid_at: u64,
    /// The proof's expiry, in Unix seconds.
    pub expiry: u64,
    /// Who stated it.
    pub facilitator: AccountId,
    /// The facilitator's signature.
    pub signature: Vec<u8>,
    /// Unix seconds at which it was attached.
    pub at: i64,
    /// Its place.
    pub place: Place,
}

/// Names a part of a summary: feedback of one client that is not revoked, with one pair of tags.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, BorshSerialize, BorshDeserialize)]
pub struct PartKey {
    /// Which kind of feedback.
    pub profile: Profile,
    /// The agent.
    pub agent: AgentId,
    /// The client.
    pub client: AccountId,
    /// First tag.
    pub tag1: String,
    /// Second tag.
    pub tag2: String,
    /// S: with proof of payment (R13).
    pub is_paid: bool,
}

/// R47: exact parts of a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Part {
    /// How many feedbacks.
    pub count: u64,
    /// The sum of their values, each scaled to 18 decimals: an int256, big-endian.
    pub sum: [u8; 32],
    /// How many of them have 0, 1, … 18 decimals.
    pub histogram: [u64; DECIMALS_COUNT],
}

/// Names a total: all feedback about an agent that is not revoked, as a summary over everyone with
/// these tags has it. An empty tag matches all (R16).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, BorshSerialize, BorshDeserialize)]
pub struct TotalKey {
    /// Which kind of feedback.
    pub profile: Profile,
    /// The agent.
    pub agent: AgentId,
    /// First tag.
    pub tag1: String,
    /// Second tag.
    pub tag2: String,
}

/// R47: the exact parts of a summary over everyone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Total {
    /// All of it.
    pub all: Part,
    /// S: what has proof of payment (R13). Only scores can have it, so none has decimals.
    pub paid: Part,
}
