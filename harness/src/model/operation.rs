use super::{Actor, Agent, Authorization, Bytes32};

/// One call of a registry, in labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// `by` registers a new agent and owns it.
    Register {
        agent: Agent,
        by: Actor,
        uri: String,
    },
    /// `by` sends the agent's token, which its owner holds, to `to`.
    Transfer { agent: Agent, by: Actor, to: Actor },
    /// Feedback of the authorized profile.
    GiveFeedback(Box<Feedback>),
    /// `by` withdraws its own authorized feedback of this 1-based index.
    RevokeFeedback { agent: Agent, by: Actor, index: u64 },
    /// Reads count and average of the authorized profile. Sends no transaction.
    Summary { agent: Agent },
}

/// The arguments of authorized feedback.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feedback {
    pub agent: Agent,
    pub by: Actor,
    /// 0 to 100 are accepted.
    pub score: u8,
    /// In `padded` encoding (R14) on both chains, so that both store the same 32 bytes.
    pub tag1: Bytes32,
    pub tag2: Bytes32,
    pub uri: String,
    /// keccak256 of the feedback file's RFC 8785 bytes (R21), or zeros.
    pub hash: Bytes32,
    /// What Solana's instruction is told; the client's last index plus one where it is `None`.
    pub index: Option<u64>,
    pub authorization: Option<Authorization>,
}

impl Operation {
    /// The name used in scenario files and reports.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Register { .. } => "register",
            Self::Transfer { .. } => "transfer",
            Self::GiveFeedback(_) => "give_feedback",
            Self::RevokeFeedback { .. } => "revoke_feedback",
            Self::Summary { .. } => "summary",
        }
    }

    /// A read sends no transaction, so it takes no time.
    pub fn is_read(&self) -> bool {
        matches!(self, Self::Summary { .. })
    }

    pub fn agent(&self) -> &Agent {
        match self {
            Self::Register { agent, .. }
            | Self::Transfer { agent, .. }
            | Self::RevokeFeedback { agent, .. }
            | Self::Summary { agent } => agent,
            Self::GiveFeedback(feedback) => &feedback.agent,
        }
    }
}
