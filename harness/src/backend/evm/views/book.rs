use crate::{
    backend::{
        evm::{
            Agents, Dialect, RegistryAddresses, Requests,
            unregistered::{UnregisteredIds, far_id},
        },
        views::{Draw, Known},
    },
    model::{Actor, Agent, AgentState, Bytes32, CanonicalState, Records},
};
use alloy::primitives::{Address, B256, U256};
use std::collections::BTreeMap;

/// What Concord's contracts answer to `getVersion()` (R2): build metadata, so that `^2.0.0` accepts it. Those of others are not
/// asked.
pub(super) const VERSION: &str = "2.0.0+concord.2";

/// The start of an unregistered agent's label. Its id follows if it is next to registered ones.
const UNREGISTERED: &str = "unregistered";

/// What is known, with the native ids behind the labels.
pub(super) struct Book<'a> {
    pub state: &'a CanonicalState,
    pub records: &'a Records,
    pub registries: RegistryAddresses,
    pub dialect: Dialect,
    /// R6: as it was when the registry was deployed.
    pub accepts_draft_v1: bool,
    pub chain_id: u64,
    /// Every actor of the scenario.
    pub actors: Vec<Actor>,
    /// Are there addresses behind the labels, that views answer?
    pub is_on_chain: bool,
    addresses: BTreeMap<Actor, Address>,
    /// Labels of registered agents, and of the ids next to theirs.
    ids: BTreeMap<Agent, U256>,
    /// Labels of unregistered agents.
    unregistered: Vec<Agent>,
    hashes: BTreeMap<Bytes32, B256>,
}

impl<'a> Book<'a> {
    pub fn of(
        known: Known<'a>,
        registries: RegistryAddresses,
        dialect: Dialect,
        chain_id: u64,
        agents: &Agents,
        unregistered: &UnregisteredIds,
        requests: &mut Requests,
    ) -> Self {
        let actors = agents.actors();
        let addresses: BTreeMap<_, _> = actors.map(|(at, it)| (it.clone(), at)).collect();
        let beside: Vec<_> = unregistered
            .beside_registered(agents)
            .into_iter()
            .map(|id| (Agent(format!("{UNREGISTERED}-{id}")), id))
            .collect();
        let registered = agents.agents().map(|(id, it)| (it.clone(), id));
        let asked = known.records.requests.iter().map(|it| it.request);
        Self {
            state: known.state,
            records: known.records,
            registries,
            dialect,
            accepts_draft_v1: true,
            chain_id,
            actors: addresses.keys().cloned().collect(),
            is_on_chain: true,
            addresses,
            unregistered: [Agent::from(UNREGISTERED)]
                .into_iter()
                .chain(beside.iter().map(|(agent, _)| agent.clone()))
                .collect(),
            ids: registered.chain(beside).collect(),
            hashes: asked.map(|it| (it, requests.native(&it))).collect(),
        }
    }

    /// For questions in canonical terms alone: every registry, and addresses that stand for
    /// nothing.
    pub fn without_a_chain(known: Known<'a>, actors: &[Actor]) -> Self {
        Self {
            state: known.state,
            records: known.records,
            registries: RegistryAddresses {
                identity: Address::ZERO,
                open_reputation: Some(Address::ZERO),
                authorized_reputation: Some(Address::ZERO),
                validation: Some(Address::ZERO),
            },
            dialect: Dialect::Concord,
            accepts_draft_v1: true,
            chain_id: 0,
            actors: actors.to_vec(),
            is_on_chain: false,
            addresses: BTreeMap::new(),
            unregistered: vec![Agent::from(UNREGISTERED)],
            ids: BTreeMap::new(),
            hashes: BTreeMap::new(),
        }
    }

    /// Every registered agent, and some unregistered ones.
    pub fn agents(&self) -> Vec<(Agent, Option<&'a AgentState>)> {
        let registered = self.state.agents.iter();
        let unregistered = self.unregistered.iter();
        registered
            .map(|(agent, state)| (agent.clone(), Some(state)))
            .chain(unregistered.map(|agent| (agent.clone(), None)))
            .collect()
    }

    /// Returns the draw for an agent's questions. Those about an id next to registered ones take from `aside`, so that the
    /// other agents are asked what they would be asked without it.
    pub fn draw_for<'d>(
        &self,
        agent: &Agent,
        draw: &'d mut Draw,
        aside: &'d mut Draw,
    ) -> &'d mut Draw {
        let is_beside = self.ids.contains_key(agent) && !self.state.agents.contains_key(agent);
        if is_beside { aside } else { draw }
    }

    /// Of an agent that is not registered: the id that its label names, or one that no registry reaches.
    pub fn id(&self, agent: &Agent) -> U256 {
        let found = self.ids.get(agent).copied();
        found.unwrap_or_else(|| far_id(agent))
    }

    pub fn address(&self, actor: &Actor) -> Address {
        self.addresses.get(actor).copied().unwrap_or_default()
    }

    pub fn addresses(&self, actors: &[Actor]) -> Vec<Address> {
        actors.iter().map(|it| self.address(it)).collect()
    }

    /// The hash on chain; one that was never asked for stands for itself.
    pub fn hash(&self, request: &Bytes32) -> B256 {
        let found = self.hashes.get(request).copied();
        found.unwrap_or_else(|| B256::from(request.0))
    }

    /// Are the registries beside it Concord's?
    pub fn is_ours(&self) -> bool {
        !self.dialect.has_canonical_abi()
    }

    /// Are there known flaws, which scenarios show and no view need show again?
    pub fn is_known_to_wrap(&self) -> bool {
        self.dialect == Dialect::Canonical
    }
}
