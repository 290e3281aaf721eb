//! Anvil, read over JSON-RPC. Each scenario begins where the chain was put back to, so that every
//! one after the first is a reorganisation, as deep as the scenario before was long.
use crate::replay::{
    clone_root,
    labels::Labels,
    scenarios,
    script::{Followed, play_all},
    worlds::worlds,
};
use crate::worlds::database::database;
use concord_chain::{Blocking, ChainId, EndpointOptions, evm::Node};
use concord_harness::{
    backend::evm::{EvmAnvil, Keyring},
    model::Actor,
    scenario::{Scenario, TimedStep},
};
use concord_index::{
    Contracts, Deployment, Indexer, Options, Progress,
    source::evm::EvmSource,
    store::{Database, Store},
};
use concord_registry::event::AccountId;
use serde_json::{Value, json};

struct OnAnvil {
    blocking: Blocking,
    backend: EvmAnvil,
    node: Node,
    indexer: Indexer<EvmSource, Database>,
    reorganisations: Vec<u64>,
    compared: usize,
    forks: u64,
}

/// Unix seconds.
const BEFORE_EVERY_START: u64 = 1_500_100_000;

impl OnAnvil {
    fn start() -> Self {
        let backend = EvmAnvil::start(None, &clone_root().join("contracts/out")).unwrap();
        let chain = ChainId::parse("eip155:31337").unwrap();
        let deployment = Deployment {
            chain: chain.clone(),
            contracts: Contracts::Evm(*backend.addresses()),
            start: 0,
        };
        let node = Node::new(&EndpointOptions::new(backend.ledger().url())).unwrap();
        let source = EvmSource::new(node.clone(), chain, *backend.addresses());
        let store = Store::open(database()).unwrap();
        Self {
            blocking: Blocking::new().unwrap(),
            indexer: Indexer::new(source, store, &deployment, Options::default()).unwrap(),
            backend,
            node,
            reorganisations: Vec::new(),
            compared: 0,
            forks: 0,
        }
    }
}

fn account(actor: &Actor) -> AccountId {
    Keyring::Public.key(actor).address().into()
}

impl Followed for OnAnvil {
    type Source = EvmSource;
    type Engine = Database;
    type Backend = EvmAnvil;

    fn backend(&mut self) -> &mut EvmAnvil {
        &mut self.backend
    }

    fn indexer(&mut self) -> &mut Indexer<EvmSource, Database> {
        &mut self.indexer
    }

    fn labels(&mut self, scenario: &Scenario) -> Labels {
        let actors = scenario.actors.iter();
        Labels::new(actors.map(|it| (account(it), it.clone())))
    }

    fn account(&self, label: &str) -> AccountId {
        account(&Actor::from(label))
    }

    fn follow(&mut self, _scenario: &Scenario, step: Option<&TimedStep>) {
        if step.is_none() {
            // The chain was put back: until it has another block, it looks like a node that lags.
            self.forks += 1;
            let time = json!([BEFORE_EVERY_START + self.forks]);
            let mined = self.node.endpoint().request("evm_mine", time);
            let _: Value = self.blocking.wait(mined).unwrap().unwrap();
        }
        let reorganisations = &mut self.reorganisations;
        let note = |progress| {
            if let Progress::Reorganised { depth, .. } = progress {
                reorganisations.push(depth);
            }
        };
        self.blocking.wait(self.indexer.catch_up(note)).unwrap();
    }

    /// R45, R46: after each scenario the contracts' state is what the events say.
    fn compare_state(&mut self) {
        while self.blocking.wait(self.indexer.compare_state()).unwrap() > 0 {
            self.compared += 1;
        }
        let deployment = self.indexer.deployment();
        let mut store = self.indexer.store();
        assert_eq!(store.unread_count(deployment).unwrap(), 0);
        assert_eq!(store.differences(deployment, 9).unwrap(), []);
    }
}

#[test]
fn on_anvil_the_index_equals_the_model_after_each_step_of_a_sixth_of_the_scenarios() {
    play_each(6);
}

/// Each of so many scenarios, on anvil and in the index.
pub(crate) fn play_each(each: usize) {
    let scenarios = scenarios(each);
    let mut anvil = OnAnvil::start();
    let compared = play_all(&mut anvil, &scenarios);
    let on_evm = scenarios.iter().filter(|it| {
        it.chains()
            .any(|chain| chain == concord_harness::model::Chain::Evm)
    });
    assert_eq!(compared.scenarios, on_evm.count());
    assert!(
        compared.states > 2_000 / each && compared.summaries > 40 / each,
        "{compared:?}"
    );
    assert!(anvil.compared > 300 / each, "{}", anvil.compared);
    // Every scenario but the first, which has nothing to take back.
    assert_eq!(anvil.reorganisations.len(), compared.scenarios - 1);
    let deepest = anvil.reorganisations.iter().max().unwrap();
    assert!(*deepest >= 10, "{deepest}");
}

#[test]
fn on_anvil_the_index_equals_the_model_after_each_step_of_four_worlds_of_the_fuzzer() {
    play_worlds(4);
}

/// So many worlds of the fuzzer.
pub(crate) fn play_worlds(count: usize) {
    let worlds = worlds(count);
    let compared = play_all(&mut OnAnvil::start(), &worlds);
    assert_eq!(compared.scenarios, worlds.len());
    assert!(compared.states > worlds.len() * 40, "{compared:?}");
}
