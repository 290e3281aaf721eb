use crate::model::{Actor, Agent};
use std::{
    collections::BTreeMap,
    fmt::{Debug, Display},
};

/// Who is behind which native address, and which agent behind which native id.
#[derive(Clone, Debug)]
pub struct Directory<Address, Id> {
    actors: BTreeMap<Address, Actor>,
    agents: BTreeMap<Id, Agent>,
}

impl<Address, Id> Default for Directory<Address, Id> {
    fn default() -> Self {
        Self {
            actors: BTreeMap::new(),
            agents: BTreeMap::new(),
        }
    }
}

impl<Address: Ord + Copy + Display, Id: Ord + Copy + Debug> Directory<Address, Id> {
    pub fn add_actor(&mut self, address: Address, actor: Actor) {
        self.actors.insert(address, actor);
    }

    pub fn add_agent(&mut self, id: Id, agent: Agent) {
        self.agents.insert(id, agent);
    }

    /// The label of an address. An address without one is written out, so that it shows.
    pub fn actor(&self, address: Address) -> Actor {
        self.actors
            .get(&address)
            .cloned()
            .unwrap_or_else(|| Actor(format!("unlabelled:{address}")))
    }

    /// The label of an id. An id without one is written out, so that it shows.
    pub fn agent(&self, id: Id) -> Agent {
        self.agents
            .get(&id)
            .cloned()
            .unwrap_or_else(|| Agent(format!("unlabelled:{id:?}")))
    }

    /// The id of an agent that is registered.
    pub fn id_of(&self, agent: &Agent) -> Option<Id> {
        self.agents()
            .find(|(_, label)| *label == agent)
            .map(|(id, _)| id)
    }

    /// Every actor with their address.
    pub fn actors(&self) -> impl Iterator<Item = (Address, &Actor)> {
        self.actors.iter().map(|(address, label)| (*address, label))
    }

    /// Every registered agent.
    pub fn agents(&self) -> impl Iterator<Item = (Id, &Agent)> {
        self.agents.iter().map(|(id, agent)| (*id, agent))
    }
}
