//! The Solidity registries, on any chain of the EVM's kind.
//!
//! One backend, [`Registries`], over four ledgers: an anvil that it starts ([`EvmAnvil`]), a revm
//! in this process ([`EvmRevm`]), a development node with registries on it ([`EvmNode`]),
//! and a live chain ([`EvmLive`]).
mod anvil;
mod artifact;
mod attach;
mod authorization;
mod calls;
mod clock;
mod consent;
mod contract_account;
mod deployment;
mod error_classes;
mod event_order;
mod execution;
mod in_process;
mod keyring;
mod labels;
mod later;
mod ledger;
mod live;
mod memory;
mod node;
mod observation;
mod process;
mod requests;
mod token_events;
mod unregistered;
mod views;

pub(super) use views::questions as view_questions;

pub use anvil::Anvil;
pub use attach::{AttachFault, FoundCode};
pub use concord_registry::evm::{Dialect, RegistryAddresses};
pub use error_classes::ErrorClasses;
pub use in_process::Revm;
pub use keyring::Keyring;
pub use ledger::{Ledger, Receipt, View};
pub use live::Live;
pub use node::{Endpoint, Node};

use super::{
    Backend, Directory, News, Observed, StepFault,
    views::{Draw, Known, ViewAnswer, ViewName},
};
use crate::model::{
    Actor, Agent, AgentState, CanonicalState, Chain, Form, Operation, RegistryProfile,
};
use alloy::{
    primitives::{Address, U256},
    signers::local::PrivateKeySigner,
};
use clock::Clock;
use later::Foreign;
use memory::Memory;
use observation::Observer;
use requests::Requests;
use std::collections::{BTreeSet, HashMap};
use unregistered::UnregisteredIds;

/// The backend `evm-anvil`: the contracts on an anvil of their own.
pub type EvmAnvil = Registries<Anvil>;
/// The backend `evm-revm`: the contracts in this process.
pub type EvmRevm = Registries<Revm>;
/// The backend `evm-rpc`: registries that are already deployed to a node.
pub type EvmNode = Registries<Node>;
/// The backend `evm-live`: registries on a live chain.
pub type EvmLive = Registries<Live>;

type Agents = Directory<Address, U256>;

/// The registries of one deployment, put back to its beginning for each scenario.
pub struct Registries<L> {
    name: &'static str,
    ledger: L,
    addresses: RegistryAddresses,
    dialect: Dialect,
    /// R6: whether the authorized registry takes the first draft's form.
    accepts_draft_v1: bool,
    /// The registry's own refusals, looked up before the dialect's.
    error_classes: ErrorClasses,
    /// Those of these registries that are not Concord's.
    others: Foreign,
    /// Unix seconds.
    start: u64,
    agents: Agents,
    keyring: Keyring,
    keys: HashMap<Actor, PrivateKeySigner>,
    memory: Memory,
    requests: Requests,
    unregistered: UnregisteredIds,
    /// Decides what the rules leave open in how the step is sent.
    choice: usize,
}

impl<L: Ledger> Registries<L> {
    /// The registries on `ledger` as it is now.
    fn standing(
        name: &'static str,
        mut ledger: L,
        addresses: RegistryAddresses,
        dialect: Dialect,
    ) -> Result<Self, StepFault> {
        ledger.mark()?;
        Ok(Self::unmarked(name, ledger, addresses, dialect))
    }

    /// Our own contracts, without an agent: ids count from 1, and 0 means none (R1).
    fn deployed(
        name: &'static str,
        ledger: L,
        addresses: RegistryAddresses,
    ) -> Result<Self, StepFault> {
        let standing = Self::standing(name, ledger, addresses, Dialect::Concord)?;
        Ok(standing.with_unused_ids(vec![U256::ZERO, U256::ONE]))
    }

    /// For a registry that only the harness calls: ids without an agent when a scenario begins.
    fn with_unused_ids(self, unused: Vec<U256>) -> Self {
        Self {
            unregistered: UnregisteredIds::beside(unused),
            ..self
        }
    }

    fn unmarked(
        name: &'static str,
        ledger: L,
        addresses: RegistryAddresses,
        dialect: Dialect,
    ) -> Self {
        Self {
            name,
            ledger,
            addresses,
            dialect,
            accepts_draft_v1: true,
            error_classes: ErrorClasses::default(),
            others: Foreign::default(),
            start: 0,
            agents: Agents::default(),
            keyring: Keyring::Public,
            keys: HashMap::new(),
            memory: Memory::default(),
            requests: Requests::default(),
            unregistered: UnregisteredIds::default(),
            choice: 0,
        }
    }

    /// For registries that others deployed (R6).
    fn accepting_draft_v1(self, accepts_draft_v1: bool) -> Self {
        Self {
            accepts_draft_v1,
            ..self
        }
    }

    /// With a list of what the registries' own refusals mean.
    #[must_use]
    pub fn with_error_classes(self, error_classes: ErrorClasses) -> Self {
        Self {
            error_classes,
            ..self
        }
    }

    pub fn addresses(&self) -> &RegistryAddresses {
        &self.addresses
    }

    /// The chain underneath.
    pub fn ledger(&self) -> &L {
        &self.ledger
    }

    fn observer(&mut self) -> Observer<'_, L> {
        Observer {
            ledger: &mut self.ledger,
            registries: self.addresses,
            dialect: self.dialect,
            agents: &self.agents,
            memory: &self.memory,
            requests: &self.requests,
            start: self.start,
        }
    }
}

impl<L: Ledger> Backend for Registries<L> {
    fn foreign(&self) -> Option<&str> {
        (self.dialect == Dialect::Canonical).then_some("canonical")
    }

    fn name(&self) -> &'static str {
        self.name
    }

    fn chain(&self) -> Chain {
        Chain::Evm
    }

    fn news(&self) -> Vec<News> {
        self.others.news()
    }

    fn supports(&self, operation: &Operation) -> bool {
        operation.only_on() != Some(Chain::Svm)
            && deployment::registry_of(&self.addresses, operation).is_some()
    }

    fn profiles(&self) -> BTreeSet<RegistryProfile> {
        let registries = &self.addresses;
        let there = [
            (RegistryProfile::Identity, true),
            (RegistryProfile::Open, registries.open_reputation.is_some()),
            // Registries of others are known to lack it, which their scenarios declare.
            (
                RegistryProfile::Authorized,
                registries.authorized_reputation.is_some() || self.dialect == Dialect::Canonical,
            ),
            (RegistryProfile::Validation, registries.validation.is_some()),
        ];
        let there = there.into_iter().filter(|(_, is_there)| *is_there);
        there.map(|(profile, _)| profile).collect()
    }

    fn is_known_to_lack(&self, operation: &Operation) -> bool {
        let is_refused = operation.is_authorized_by(Form::DraftV1) && !self.accepts_draft_v1;
        is_refused || self.dialect == Dialect::Canonical && operation.is_of_the_authorized_profile()
    }

    fn reset(&mut self, start: u64, actors: &[Actor]) -> Result<(), StepFault> {
        self.ledger.restore()?;
        self.start = self.ledger.opening(start)?;
        self.requests.start_scenario();
        self.agents = Agents::default();
        self.memory = Memory::default();
        let mut accounts = Vec::with_capacity(actors.len());
        for actor in actors {
            let address = self.address_of(actor);
            self.agents.add_actor(address, actor.clone());
            accounts.push(address);
        }
        self.ledger.fund(&accounts)?;
        let contracts = actors.iter().filter(|actor| actor.is_contract());
        contracts.into_iter().try_for_each(|actor| {
            contract_account::install(
                &mut self.ledger,
                &self.keyring.key(actor),
                &self.keyring.signing_key(actor),
                actor.refuses_tokens(),
            )
        })
    }

    fn restart(&mut self) -> Result<(), StepFault> {
        if let Some(addresses) = self.ledger.restart()? {
            self.addresses = addresses;
            self.ledger.mark()?;
        }
        Ok(())
    }

    fn leave(&mut self) -> Result<(), StepFault> {
        self.ledger.restore()
    }

    fn execute(&mut self, operation: &Operation, time: u64) -> Result<Observed, StepFault> {
        let registry = deployment::registry_of(&self.addresses, operation)
            .filter(|_| self.supports(operation))
            .ok_or_else(|| StepFault::Inexpressible(operation.name().to_owned()))?;
        self.choice = calls::choice(operation, time);
        self.unregistered.start_step(calls::turn(self.choice));
        match operation {
            Operation::Summary(query) => self.summary(registry, &query.agent),
            Operation::OpenSummary(query) => self.open_summary(registry, query),
            operation => self.transact(registry, operation, time),
        }
    }

    fn state(&mut self) -> Result<CanonicalState, StepFault> {
        let latest = self.ledger.latest_block_time()?;
        let registered: Vec<_> = self
            .agents
            .agents()
            .map(|(id, agent)| (id, agent.clone()))
            .collect();
        let mut state = CanonicalState {
            // Before the first transaction the latest block is older than the start.
            time: latest.saturating_sub(self.start),
            ..CanonicalState::default()
        };
        for (id, agent) in registered {
            state.agents.insert(agent, self.observer().agent(id)?);
        }
        Ok(state)
    }

    fn agent_state(&mut self, agent: &Agent) -> Result<Option<AgentState>, StepFault> {
        match self.agents.id_of(agent) {
            Some(id) => self.observer().agent(id).map(Some),
            None => Ok(None),
        }
    }

    fn interface(&self) -> BTreeSet<ViewName> {
        self.interface_of_dialect()
    }

    fn views(&self) -> BTreeSet<ViewName> {
        self.askable()
    }

    fn ask_views(
        &mut self,
        known: Known<'_>,
        draw: &mut Draw,
    ) -> Result<Vec<ViewAnswer>, StepFault> {
        self.ask_every_view(known, draw)
    }
}
