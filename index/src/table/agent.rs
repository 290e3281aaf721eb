use crate::Place;
use borsh::{BorshDeserialize, BorshSerialize};
use concord_canonical::hash::keccak256;
use concord_registry::event::{AccountId, AgentId};

/// Names an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, BorshSerialize, BorshDeserialize)]
pub struct AgentKey {
    /// Its id.
    pub agent: AgentId,
}

/// An agent.
#[derive(Debug, Clone, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Agent {
    /// `None`: its registration was not seen, so it is incomplete (R46).
    pub owner: Option<AccountId>,
    /// Where it is paid (R3).
    pub wallet: Option<AccountId>,
    /// Where its registration file is.
    pub uri: String,
    /// E: who may act for it besides the owner.
    pub approved: Option<AccountId>,
    /// S: the key that signs its authorizations, if it is not the owner's (R7).
    pub feedback_authority: Option<AccountId>,
    /// S: the schemes that authorize feedback, if they were ever set (R10).
    pub auth_schemes: Option<u8>,
    /// Unix seconds of its first event.
    pub created_at: i64,
    /// The place of its first event.
    pub created: Place,
    /// Unix seconds of its last event.
    pub updated_at: i64,
    /// The place of its last event.
    pub updated: Place,
    /// Clients of the authorized profile.
    pub authorized_clients: u64,
    /// Clients of the open profile.
    pub open_clients: u64,
    /// Clients with authorized feedback that is not revoked.
    pub authorized_reviewers: u64,
    /// Clients with open feedback that is not revoked.
    pub open_reviewers: u64,
    /// S: clients with feedback that is not revoked and has a proven payment (R13).
    pub payers: u64,
    /// Feedback of both profiles, revoked or not.
    pub feedback_count: u64,
    /// R46: feedback indices below a client's last that were not seen.
    pub missing: u64,
    /// R46: events about feedback or requests that were not seen, and events that repeat an index.
    pub unexplained: u64,
}

impl Agent {
    /// An agent of which nothing is known but that an event at this place names it.
    pub(crate) const fn unknown(time: i64, place: Place) -> Self {
        Self {
            owner: None,
            wallet: None,
            uri: String::new(),
            approved: None,
            feedback_authority: None,
            auth_schemes: None,
            created_at: time,
            created: place,
            updated_at: time,
            updated: place,
            authorized_clients: 0,
            open_clients: 0,
            authorized_reviewers: 0,
            open_reviewers: 0,
            payers: 0,
            feedback_count: 0,
            missing: 0,
            unexplained: 0,
        }
    }

    /// R46: returns whether events about the agent are known to be missing.
    #[must_use]
    pub const fn is_incomplete(&self) -> bool {
        self.owner.is_none() || self.missing > 0 || self.unexplained > 0
    }
}

/// Names a change of an agent's wallet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, BorshSerialize, BorshDeserialize)]
pub struct WalletKey {
    /// The agent.
    pub agent: AgentId,
    /// The place of the event.
    pub place: Place,
}

/// A change of an agent's wallet: signatures are held to the wallet of their time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct WalletChange {
    /// The wallet from there on.
    pub wallet: Option<AccountId>,
}

/// Names a metadata value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, BorshSerialize, BorshDeserialize)]
pub struct MetadataKey {
    /// The agent.
    pub agent: AgentId,
    /// keccak256 of the key, which may be longer than a database's keys.
    pub id: [u8; 32],
}

impl MetadataKey {
    /// The name of what an agent has under a key.
    #[must_use]
    pub fn of(agent: AgentId, key: &str) -> Self {
        Self {
            agent,
            id: keccak256(key.as_bytes()),
        }
    }
}

/// A metadata value.
#[derive(Debug, Clone, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Metadata {
    /// The key.
    pub key: String,
    /// The value.
    pub value: Vec<u8>,
    /// Unix seconds at which it was set.
    pub updated_at: i64,
}

/// Names something that is set for a whole registry, or for every agent of an owner.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, BorshSerialize, BorshDeserialize)]
pub struct SettingKey {
    /// What is set.
    pub name: String,
    /// For whom; empty for the registry.
    pub subject: Vec<u8>,
}

/// What was set.
#[derive(Debug, Clone, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Setting {
    /// The value; an address, a version, or a chain id.
    pub value: String,
    /// Unix seconds at which it was set.
    pub updated_at: i64,
}
