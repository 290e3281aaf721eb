use super::{Actor, Agent, Bytes32};
use serde::{Deserialize, Serialize};

/// A canonical event (specification §3a). Native extras have no counterpart here: Transfer,
/// Approval, MetadataUpdate, and the MetadataSet that repeats the wallet at registration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Event {
    AgentRegistered {
        agent: Agent,
        owner: Actor,
        uri: String,
    },
    AgentWalletSet {
        agent: Agent,
        /// `None`: the agent has no wallet any more.
        wallet: Option<Actor>,
    },
    AuthorizedFeedback {
        agent: Agent,
        client: Actor,
        /// 1-based, per agent and client.
        index: u64,
        score: u8,
        tag1: Bytes32,
        tag2: Bytes32,
        uri: String,
        hash: Bytes32,
        /// Seconds after the scenario's start.
        time: u64,
    },
    FeedbackRevoked {
        agent: Agent,
        client: Actor,
        index: u64,
    },
}
