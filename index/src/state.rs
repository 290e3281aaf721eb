//! What registries' state says, beside what their events fold to (R45, R46).
use crate::{
    query::parse_account,
    table::{Agent, Client, ClientKey},
};
use concord_registry::event::{AccountId, AgentId, Profile};

/// What is read of a registry's state at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// An agent: owner, wallet, URI, and how many clients it has.
    Agent(AgentId),
    /// A client of an agent: the index of its last feedback.
    Client(ClientKey),
}

impl Subject {
    /// Returns the agent.
    #[must_use]
    pub const fn agent(&self) -> AgentId {
        match self {
            Self::Agent(agent) => *agent,
            Self::Client(key) => key.agent,
        }
    }
}

/// Something that both the state and the events say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    /// Whose the agent is.
    Owner,
    /// Where it is paid (R3).
    Wallet,
    /// Where its registration file is.
    Uri,
    /// How many clients ever gave it feedback (R46).
    Clients(Profile),
    /// The index of a client's last feedback (R46).
    LastIndex(Profile, AccountId),
}

impl Field {
    /// Returns its name, as stored and as answered.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Wallet => "agentWallet",
            Self::Uri => "agentURI",
            Self::Clients(Profile::Authorized) => "clients.authorized",
            Self::Clients(Profile::Open) => "clients.open",
            Self::LastIndex(Profile::Authorized, _) => "lastIndex.authorized",
            Self::LastIndex(Profile::Open, _) => "lastIndex.open",
        }
    }

    /// Returns the client that it is about.
    #[must_use]
    pub const fn client(&self) -> Option<AccountId> {
        match self {
            Self::LastIndex(_, client) => Some(*client),
            _ => None,
        }
    }

    /// Returns the field with this name and client; `None` if there is none.
    #[must_use]
    pub fn of(name: &str, client: Option<AccountId>) -> Option<Self> {
        let plain = [
            Self::Owner,
            Self::Wallet,
            Self::Uri,
            Self::Clients(Profile::Authorized),
            Self::Clients(Profile::Open),
        ];
        let by_client = client.into_iter().flat_map(|client| {
            [Profile::Authorized, Profile::Open].map(|profile| Self::LastIndex(profile, client))
        });
        let mut known = plain.into_iter().chain(by_client);
        known.find(|it| it.name() == name && it.client() == client)
    }

    /// R46: whether a difference means that feedback was not seen. The others mean that the registry's events
    /// do not say what it keeps, or that one was not seen.
    #[must_use]
    pub const fn counts_feedback(&self) -> bool {
        matches!(self, Self::Clients(_) | Self::LastIndex(..))
    }

    /// Returns what the events say: of the agent as they alone make it, and of the client.
    pub(crate) fn by_events(&self, agent: &Agent, client: Option<&Client>) -> String {
        let account = |it: Option<AccountId>| it.map(|it| it.to_string()).unwrap_or_default();
        match self {
            Self::Owner => account(agent.owner),
            Self::Wallet => account(agent.wallet),
            Self::Uri => agent.uri.clone(),
            Self::Clients(Profile::Authorized) => agent.authorized_clients.to_string(),
            Self::Clients(Profile::Open) => agent.open_clients.to_string(),
            Self::LastIndex(..) => client.map_or(0, |it| it.last_index).to_string(),
        }
    }
}

/// What the state says of one thing. An account that is not set is an empty text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// The agent.
    pub agent: AgentId,
    /// What.
    pub field: Field,
    /// Its value.
    pub value: String,
}

/// What was read of a registry's state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateRead {
    /// The block after which the state was read; on Solana the slot.
    pub block: u64,
    /// What it said. Of what it does not have, there is nothing.
    pub facts: Vec<Fact>,
}

/// R45: something of which the state says other than the events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The agent.
    pub agent: AgentId,
    /// What.
    pub field: Field,
    /// What the events say.
    pub events: String,
    /// What the state says. It is what the index answers.
    pub state: String,
    /// The block after which the state was read.
    pub block: u64,
}

impl Difference {
    /// R46: returns how many feedback indices, or clients, the state has and the events have not.
    #[must_use]
    pub fn unseen(&self) -> u64 {
        match (self.state.parse::<u64>(), self.events.parse::<u64>()) {
            (Ok(state), Ok(events)) if self.field.counts_feedback() => state.saturating_sub(events),
            _ => 0,
        }
    }

    /// R45: makes an agent's row what the state says. One whose registration was not seen keeps saying so (R46).
    pub(crate) fn apply(&self, row: &mut Agent) {
        row.missing = row.missing.saturating_add(self.unseen());
        let is_registered = row.owner.is_some();
        match (self.field, parse_account(&self.state)) {
            (Field::Owner, Some(owner)) if is_registered => row.owner = Some(owner),
            (Field::Wallet, wallet) if is_registered => row.wallet = wallet,
            (Field::Uri, _) if is_registered => row.uri.clone_from(&self.state),
            _ => (),
        }
    }

    /// Whether a row still has what [`Self::apply`] gave it: an event since then may say otherwise.
    pub(crate) fn is_in(&self, row: &Agent) -> bool {
        let mut applied = row.clone();
        self.apply(&mut applied);
        self.field.counts_feedback() || applied == *row
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_found_by_its_name() {
        let client = AccountId::Evm([7; 20]);
        let fields = [
            Field::Owner,
            Field::Wallet,
            Field::Uri,
            Field::Clients(Profile::Authorized),
            Field::Clients(Profile::Open),
            Field::LastIndex(Profile::Authorized, client),
            Field::LastIndex(Profile::Open, client),
        ];
        for field in fields {
            assert_eq!(Field::of(field.name(), field.client()), Some(field));
        }
        assert_eq!(Field::of("lastIndex.open", None), None);
        assert_eq!(Field::of("owner", Some(client)), None);
        assert_eq!(Field::of("approved", None), None);
    }
}
