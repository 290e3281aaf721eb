//! Ids of agents that are not registered (HARN-62).
use super::Agents;
use crate::{backend::secrets::secret_of, model::Agent};
use alloy::primitives::U256;
use std::collections::BTreeMap;

/// Chooses the ids of unregistered agents: those next to registered ones, which an existence check that is
/// off by one accepts (R1), and one that no registry reaches. An id is used for one step only, because an
/// agent that is registered later may get it.
#[derive(Default)]
pub(super) struct UnregisteredIds {
    /// Ids of no agent when a scenario begins; `None` where others register, too.
    unused: Option<Vec<U256>>,
    given: BTreeMap<Agent, U256>,
    turn: usize,
}

impl UnregisteredIds {
    /// For a registry that only the harness calls. `unused`: ids of no agent when a scenario begins.
    pub fn beside(unused: Vec<U256>) -> Self {
        Self {
            unused: Some(unused),
            ..Self::default()
        }
    }

    /// `turn` decides with which of the ids the step begins.
    pub fn start_step(&mut self, turn: usize) {
        self.given.clear();
        self.turn = turn;
    }

    /// The next id, and each unused one that is not registered by now.
    pub fn beside_registered(&self, agents: &Agents) -> Vec<U256> {
        let Some(unused) = &self.unused else {
            return Vec::new();
        };
        let last = agents.agents().map(|(id, _)| id).last();
        let next = last.and_then(|last| last.checked_add(U256::ONE));
        let mut ids: Vec<_> = next.into_iter().chain(unused.iter().copied()).collect();
        ids.retain(|id| agents.agents().all(|(registered, _)| registered != *id));
        ids
    }

    /// Two agents have two ids in one step.
    pub fn id_of(&mut self, agent: &Agent, agents: &Agents) -> U256 {
        if let Some(id) = self.given.get(agent) {
            return *id;
        }
        let beside = self.beside_registered(agents);
        let at = (self.turn + self.given.len()) % (beside.len() + 1);
        let id = beside.get(at).copied();
        let id = id.filter(|id| self.given.values().all(|given| given != id));
        let id = id.unwrap_or_else(|| far_id(agent));
        self.given.insert(agent.clone(), id);
        id
    }
}

/// An id that no registry reaches.
pub(super) fn far_id(agent: &Agent) -> U256 {
    U256::from_be_bytes(secret_of("agent", &agent.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn id(number: u64) -> U256 {
        U256::from_limbs([number, 0, 0, 0])
    }

    fn registered(ids: &[U256]) -> Agents {
        let mut agents = Agents::default();
        for id in ids {
            agents.add_agent(*id, Agent(format!("agent-{id}")));
        }
        agents
    }

    /// The ids of some agents in one step.
    fn ids(
        unregistered: &mut UnregisteredIds,
        turn: usize,
        count: usize,
        agents: &Agents,
    ) -> Vec<U256> {
        unregistered.start_step(turn);
        let labels = (0..count).map(|it| Agent(format!("nobody-{it}")));
        labels.map(|it| unregistered.id_of(&it, agents)).collect()
    }

    #[test]
    fn steps_take_turns_with_the_next_id_zero_and_a_far_one() {
        // R1
        let mut ours = UnregisteredIds::beside(vec![id(0), id(1)]);
        let agents = registered(&[id(1), id(2)]);
        let first =
            |unregistered: &mut UnregisteredIds, turn| ids(unregistered, turn, 1, &agents)[0];
        assert_eq!(first(&mut ours, 0), id(3));
        assert_eq!(first(&mut ours, 1), id(0));
        assert_eq!(first(&mut ours, 2), far_id(&Agent::from("nobody-0")));
        assert_eq!(first(&mut ours, 3), id(3));
    }

    #[test]
    fn no_id_is_a_registered_agent_s_or_used_twice_in_a_step() {
        let mut canonical = UnregisteredIds::beside(vec![id(0)]);
        let agents = registered(&[id(0), id(7), U256::MAX]);
        for (agents, count) in [(registered(&[]), 2), (registered(&[id(0)]), 2), (agents, 1)] {
            for turn in 0..4 {
                let given = ids(&mut canonical, turn, 4, &agents);
                let mut distinct = given.clone();
                distinct.sort();
                distinct.dedup();
                assert_eq!(distinct.len(), 4, "{given:?}");
                let is_registered = |it: &U256| agents.agents().any(|(id, _)| id == *it);
                assert!(!given.iter().any(is_registered), "{given:?}");
                let far = (0..4).map(|it| far_id(&Agent(format!("nobody-{it}"))));
                let far = far.zip(&given).filter(|(far, given)| far == *given).count();
                assert!(far > 4 - count, "{given:?}");
            }
        }
    }

    #[test]
    fn a_label_keeps_its_id_for_a_step() {
        let mut ours = UnregisteredIds::beside(vec![id(0), id(1)]);
        let agents = registered(&[]);
        let nobody = Agent::from("nobody");
        let first = ours.id_of(&nobody, &agents);
        assert_eq!(first, id(0));
        assert_eq!(ours.id_of(&Agent::from("nobody-else"), &agents), id(1));
        assert_eq!(ours.id_of(&nobody, &agents), first);
    }

    #[test]
    fn where_others_register_ids_are_far() {
        let mut live = UnregisteredIds::default();
        let agents = registered(&[id(5)]);
        for turn in 0..3 {
            let far = far_id(&Agent::from("nobody-0"));
            assert_eq!(ids(&mut live, turn, 1, &agents), [far]);
        }
        assert!(live.beside_registered(&agents).is_empty());
    }
}
