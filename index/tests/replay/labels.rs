//! Native ids as the scenario's labels.
use alloy::primitives::Address;
use concord_harness::model::{Actor, Agent, Event};
use concord_registry::event::{AccountId, AgentId};
use std::collections::BTreeMap;

#[derive(Default)]
pub struct Labels {
    actors: BTreeMap<AccountId, Actor>,
    agents: BTreeMap<AgentId, Agent>,
}

impl Labels {
    pub fn new(actors: impl IntoIterator<Item = (AccountId, Actor)>) -> Self {
        Self {
            actors: actors.into_iter().collect(),
            agents: BTreeMap::new(),
        }
    }

    /// Names the agent that a step registered: the one among the index's that has no name yet.
    pub fn note(&mut self, events: &[Event], indexed: impl IntoIterator<Item = AgentId>) {
        let registered = events.iter().find_map(|event| match event {
            Event::AgentRegistered { agent, .. } => Some(agent.clone()),
            _ => None,
        });
        let unnamed = indexed.into_iter().find(|id| !self.agents.contains_key(id));
        if let (Some(label), Some(id)) = (registered, unnamed) {
            self.agents.insert(id, label);
        }
    }

    pub fn agent(&self, id: AgentId) -> Agent {
        let label = self.agents.get(&id).cloned();
        label.unwrap_or_else(|| Agent(format!("unlabelled:{id}")))
    }

    pub fn actor(&self, id: AccountId) -> Actor {
        let native = match id {
            AccountId::Evm(address) => Address::from(address).to_string(),
            AccountId::Svm(address) => address.to_string(),
        };
        let label = self.actors.get(&id).cloned();
        label.unwrap_or_else(|| Actor(format!("unlabelled:{native}")))
    }
}
