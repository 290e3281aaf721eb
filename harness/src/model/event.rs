use super::{Actor, Agent, Bytes, Bytes32, Integer, PaddedTag, Profile};
use serde::{Deserialize, Serialize};

/// A canonical event (specification §3a). Native extras have no counterpart here: Transfer,
/// Approval, MetadataUpdate, the MetadataSet that repeats the wallet at registration, and what
/// Solana reports of settings that it alone has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub enum Event {
    AgentRegistered {
        agent: Agent,
        owner: Actor,
        uri: String,
    },
    AgentUriSet {
        agent: Agent,
        /// Who set it.
        by: Actor,
        uri: String,
    },
    MetadataSet {
        agent: Agent,
        key: String,
        value: Bytes,
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
        tag1: PaddedTag,
        tag2: PaddedTag,
        uri: String,
        hash: Bytes32,
        /// Seconds after the scenario's start.
        time: u64,
    },
    OpenFeedback {
        agent: Agent,
        client: Actor,
        /// 1-based, per agent and client.
        index: u64,
        value: Integer,
        decimals: u8,
        tag1: String,
        tag2: String,
        endpoint: String,
        uri: String,
        hash: Bytes32,
    },
    FeedbackRevoked {
        profile: Profile,
        agent: Agent,
        client: Actor,
        index: u64,
    },
    ResponseAppended {
        profile: Profile,
        agent: Agent,
        client: Actor,
        index: u64,
        responder: Actor,
        uri: String,
        hash: Bytes32,
    },
    PaymentProven {
        agent: Agent,
        client: Actor,
        index: u64,
        payee: Actor,
        token: Actor,
        /// In the token's smallest unit.
        amount: u64,
        /// When it settled: seconds after the scenario's start.
        paid_at: u64,
    },
    ValidationRequested {
        agent: Agent,
        validator: Actor,
        request: Bytes32,
        uri: String,
    },
    ValidationResponded {
        agent: Agent,
        validator: Actor,
        request: Bytes32,
        score: u8,
        uri: String,
        hash: Bytes32,
        tag: PaddedTag,
    },
}
