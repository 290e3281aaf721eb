//! The program in litesvm: each step is a slot, and its transaction is what a cluster would keep.
use crate::replay::{
    clone_root,
    labels::Labels,
    scenarios,
    script::{Followed, play_all},
    worlds::worlds,
};
use crate::worlds::database::database;
use async_trait::async_trait;
use concord_chain::ChainId;
use concord_harness::{
    backend::{
        Backend as _,
        svm::{Keyring, SvmLitesvm},
    },
    model::{Actor, Chain, DEPLOYER},
    scenario::{Scenario, TimedStep},
};
use concord_index::{
    Contracts, Deployment, Indexer, Options, SourceError,
    batch::{Batch, Header},
    source::{Source, svm::batch_of},
    store::{Database, Store},
};
use concord_registry::{
    event::AccountId,
    svm::{Program, events::Transaction},
};

const CHAIN: &str = "solana:localnet";

/// Slots with the transactions of one scenario after the other. A new scenario takes all slots of the
/// last one back.
struct Slots {
    program: Program,
    headers: Vec<Header>,
    transactions: Vec<Vec<Transaction>>,
    forks: u8,
}

impl Slots {
    fn begin(&mut self) {
        self.forks = self.forks.wrapping_add(1);
        self.headers.truncate(1);
        self.transactions.truncate(1);
        self.add(0, Vec::new());
    }

    fn add(&mut self, time: u64, transactions: Vec<Transaction>) {
        let number = self.headers.len() as u64;
        let mut hash = [self.forks; 32];
        hash[..8].copy_from_slice(&number.to_be_bytes());
        self.headers.push(Header {
            number,
            hash,
            parent: self.headers.last().map_or([0; 32], |it| it.hash),
            time: time.cast_signed(),
        });
        self.transactions.push(transactions);
    }
}

#[async_trait]
impl Source for Slots {
    fn name(&self) -> String {
        "litesvm".to_owned()
    }

    async fn head(&mut self) -> Result<Header, SourceError> {
        Ok(*self.headers.last().unwrap())
    }

    async fn final_number(&mut self) -> Result<Option<u64>, SourceError> {
        Ok(None)
    }

    async fn hash(&mut self, number: u64) -> Result<Option<[u8; 32]>, SourceError> {
        Ok(Some(self.headers[usize::try_from(number).unwrap()].hash))
    }

    async fn batch(&mut self, from: u64, to: u64, _settled: u64) -> Result<Batch, SourceError> {
        let slots = usize::try_from(from).unwrap()..=usize::try_from(to).unwrap();
        let headers = self.headers[slots.clone()].to_vec();
        let transactions = self.transactions[slots].iter().zip(from..);
        let transactions = transactions.flat_map(|(of_slot, slot)| {
            let numbered = (0..).zip(of_slot);
            numbered.map(move |(index, it)| {
                let mut transaction = it.clone();
                transaction.block.number = slot;
                (index, transaction)
            })
        });
        Ok(batch_of(&self.program, CHAIN, headers, transactions))
    }
}

struct InLitesvm {
    backend: SvmLitesvm,
    indexer: Indexer<Slots, Database>,
    blocking: concord_chain::Blocking,
}

impl InLitesvm {
    fn start() -> Self {
        let file = clone_root().join("target/deploy/agent_registry.so");
        let backend = SvmLitesvm::start(&file).unwrap();
        let mut slots = Slots {
            program: backend.program(),
            headers: Vec::new(),
            transactions: Vec::new(),
            forks: 0,
        };
        slots.add(0, Vec::new());
        let deployment = Deployment {
            chain: ChainId::parse(CHAIN).unwrap(),
            contracts: Contracts::Svm(backend.program().id()),
            start: 0,
        };
        let store = Store::open(database()).unwrap();
        Self {
            indexer: Indexer::new(slots, store, &deployment, Options::default()).unwrap(),
            backend,
            blocking: concord_chain::Blocking::new().unwrap(),
        }
    }
}

impl Followed for InLitesvm {
    type Source = Slots;
    type Engine = Database;
    type Backend = SvmLitesvm;

    fn backend(&mut self) -> &mut SvmLitesvm {
        &mut self.backend
    }

    fn indexer(&mut self) -> &mut Indexer<Slots, Database> {
        &mut self.indexer
    }

    fn labels(&mut self, scenario: &Scenario) -> Labels {
        let deployer = Actor::from(DEPLOYER);
        let actors = scenario.actors.iter().chain([&deployer]);
        Labels::new(actors.map(|it| (Keyring::Public.actor(it).into(), it.clone())))
    }

    fn account(&self, label: &str) -> AccountId {
        Keyring::Public.actor(&Actor::from(label)).into()
    }

    fn follow(&mut self, scenario: &Scenario, step: Option<&TimedStep>) {
        let transactions = self.backend.take_transactions();
        let slots = self.indexer.source();
        match step {
            None => {
                slots.begin();
                slots.add(scenario.start, transactions);
            }
            Some(step) if !step.operation.is_read() => {
                slots.add(scenario.start + step.time, transactions);
            }
            Some(_) => assert!(transactions.is_empty()),
        }
        self.blocking.wait(self.indexer.catch_up(|_| ())).unwrap();
    }
}

#[test]
fn in_litesvm_the_index_equals_the_model_after_each_step_of_a_sixth_of_the_scenarios() {
    play_each(6);
}

/// Each of so many scenarios, in litesvm and in the index.
pub(crate) fn play_each(each: usize) {
    let scenarios = scenarios(each);
    let mut litesvm = InLitesvm::start();
    assert_eq!(litesvm.backend().chain(), Chain::Svm);
    let compared = play_all(&mut litesvm, &scenarios);
    let on_svm = scenarios
        .iter()
        .filter(|it| it.chains().any(|chain| chain == Chain::Svm));
    assert_eq!(compared.scenarios, on_svm.count());
    assert!(
        compared.states > 2_000 / each && compared.summaries > 40 / each,
        "{compared:?}"
    );
}

#[test]
fn in_litesvm_the_index_equals_the_model_after_each_step_of_four_worlds_of_the_fuzzer() {
    play_worlds(4);
}

/// So many worlds of the fuzzer.
pub(crate) fn play_worlds(count: usize) {
    let worlds = worlds(count);
    let compared = play_all(&mut InLitesvm::start(), &worlds);
    assert_eq!(compared.scenarios, worlds.len());
    assert!(compared.states > worlds.len() * 40, "{compared:?}");
}
