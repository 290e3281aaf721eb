//! R45, R46: registries' state against what their events fold to, with differences that are planted.
use crate::store::world::{World, account, agent, at, deployment};
use crate::worlds::database::database;
use async_trait::async_trait;
use concord_chain::Blocking;
use concord_index::{
    Indexer, Options, Progress, SourceError,
    batch::{Batch, Header},
    binding::{BindingRead, KEY},
    fold::fold,
    query::Gap,
    source::Source,
    state::{Difference, Fact, Field, StateRead, Subject},
    store::{Database, Store},
    table::{AgentKey, ClientKey, Tables},
};
use concord_registry::{
    Event,
    event::{AgentId, Profile},
};

const BLOCKS: u64 = 120;

/// A chain whose state is that of all its events, but for what is planted in it.
struct Stated {
    world: World,
    withheld: Vec<u64>,
    planted: Vec<Fact>,
    /// Events of blocks after the others'.
    later: Vec<(u64, Event)>,
    /// The state that is read is of so many blocks later.
    ahead: u64,
    /// Blocks that the chain has by then after that one.
    beyond: u64,
    /// Agents of which an event may have been cut off in a block.
    suspects: Vec<(u64, AgentId)>,
    reads: usize,
}

impl Stated {
    fn all(&self) -> Vec<concord_index::batch::IndexedEvent> {
        let known = (1..=self.world.blocks).flat_map(|it| self.world.events(it));
        let later = self
            .later
            .iter()
            .map(|(block, it)| at(*block, 900, it.clone()));
        let mut all: Vec<_> = known.chain(later).collect();
        all.sort_by_key(|it| it.place);
        all
    }

    fn facts(&self, tables: &Tables, subject: &Subject) -> Vec<Fact> {
        let agent = subject.agent();
        let fact = |field, value: String| Fact {
            agent,
            field,
            value,
        };
        if let Subject::Client(key) = subject {
            let row = tables.clients.known(key).flatten();
            let last = row.map_or(0, |it| it.last_index).to_string();
            return vec![fact(Field::LastIndex(key.profile, key.client), last)];
        }
        let Some(row) = tables.agents.known(&AgentKey { agent }).flatten() else {
            return vec![fact(Field::Owner, String::new())];
        };
        let text = |it: Option<_>| it.map(|it: concord_registry::event::AccountId| it.to_string());
        vec![
            fact(Field::Owner, text(row.owner).unwrap_or_default()),
            fact(Field::Wallet, text(row.wallet).unwrap_or_default()),
            fact(Field::Uri, row.uri.clone()),
            fact(Field::Clients(Profile::Open), row.open_clients.to_string()),
        ]
    }
}

#[async_trait]
impl Source for Stated {
    fn name(&self) -> String {
        self.world.name()
    }

    async fn head(&mut self) -> Result<Header, SourceError> {
        self.world.head().await
    }

    async fn final_number(&mut self) -> Result<Option<u64>, SourceError> {
        Ok(None)
    }

    async fn hash(&mut self, number: u64) -> Result<Option<[u8; 32]>, SourceError> {
        self.world.hash(number).await
    }

    async fn batch(&mut self, from: u64, to: u64, settled: u64) -> Result<Batch, SourceError> {
        let mut batch = self.world.batch(from, to, settled).await?;
        let through = batch.through.number;
        let all = self.all().into_iter();
        batch.events = all
            .filter(|it| (from..=through).contains(&it.place.block()))
            .filter(|it| !self.withheld.contains(&it.place.block()))
            .collect();
        let suspects = self.suspects.iter();
        batch.suspects = suspects
            .filter(|(block, _)| (from..=through).contains(block))
            .map(|(_, agent)| *agent)
            .collect();
        Ok(batch)
    }

    async fn state(
        &mut self,
        subjects: &[Subject],
        at: &Header,
    ) -> Result<Option<StateRead>, SourceError> {
        self.reads += 1;
        self.world.blocks += self.ahead + self.beyond;
        let block = at.number + self.ahead;
        (self.ahead, self.beyond) = (0, 0);
        let tables = fold(&self.all()).unwrap();
        let mut facts: Vec<Fact> = (subjects.iter())
            .flat_map(|it| self.facts(&tables, it))
            .collect();
        for planted in &self.planted {
            for fact in &mut facts {
                if (fact.agent, fact.field) == (planted.agent, planted.field) {
                    fact.value.clone_from(&planted.value);
                }
            }
        }
        Ok(Some(StateRead { block, facts }))
    }
}

struct Stage {
    blocking: Blocking,
    indexer: Indexer<Stated, Database>,
}

impl Stage {
    fn of(withheld: &[u64], planted: Vec<Fact>) -> Self {
        let source = Stated {
            world: World {
                blocks: BLOCKS,
                at_once: 50,
                fork: u64::MAX,
                name: 1,
            },
            withheld: withheld.to_vec(),
            planted,
            later: Vec::new(),
            ahead: 0,
            beyond: 0,
            suspects: Vec::new(),
            reads: 0,
        };
        let store = Store::open(database()).unwrap();
        let indexer = Indexer::new(source, store, &deployment(), Options::default()).unwrap();
        let blocking = Blocking::new().unwrap();
        let mut stage = Self { blocking, indexer };
        stage.catch_up();
        stage
    }

    fn catch_up(&mut self) -> Vec<Progress> {
        let mut seen = Vec::new();
        let caught_up = self.indexer.catch_up(|it| seen.push(it));
        self.blocking.wait(caught_up).unwrap();
        seen
    }

    /// Compares everything that is to be compared.
    fn compare(&mut self) {
        while self.blocking.wait(self.indexer.compare_state()).unwrap() > 0 {}
        let id = self.indexer.deployment();
        assert_eq!(self.indexer.store().unread_count(id).unwrap(), 0);
        self.digest();
    }

    /// R45: a rebuild has the same tables, and what files say follows.
    fn digest(&mut self) -> [u8; 32] {
        let id = self.indexer.deployment();
        let mut store = self.indexer.store();
        let digest = store.digest(id).unwrap();
        assert_eq!(store.rebuild_digest(id).unwrap(), digest);
        let files = store.file_digest(id).unwrap();
        assert_eq!(store.derived_digest(id).unwrap(), files);
        digest
    }

    fn differences(&mut self) -> Vec<Difference> {
        let id = self.indexer.deployment();
        self.indexer.store().differences(id, 99).unwrap()
    }

    fn agent(&mut self, number: u8) -> concord_index::table::Agent {
        let id = self.indexer.deployment();
        let row = self.indexer.store().agent(id, agent(number)).unwrap();
        row.unwrap()
    }
}

fn planted(number: u8, field: Field, value: &str) -> Fact {
    Fact {
        agent: agent(number),
        field,
        value: value.to_owned(),
    }
}

/// Of everything that the events say too, but for agent 1: its owner, its wallet and its URI are others.
fn three_differ() -> Stage {
    let owner = account(222).to_string();
    Stage::of(
        &[],
        vec![
            planted(1, Field::Owner, &owner),
            planted(1, Field::Wallet, ""),
            planted(1, Field::Uri, "ipfs://kept"),
        ],
    )
}

#[test]
fn r45_nothing_differs_where_the_state_says_what_the_events_say() {
    let mut stage = Stage::of(&[], Vec::new());
    let before = stage.digest();
    let id = stage.indexer.deployment();
    assert!(stage.indexer.store().unread_count(id).unwrap() > 35);
    stage.compare();
    assert_eq!(stage.differences(), []);
    assert_eq!(stage.digest(), before);
    // It was read once, and is not read again.
    let reads = stage.indexer.source().reads;
    stage.compare();
    assert_eq!(stage.indexer.source().reads, reads);
}

#[test]
fn r45_what_the_state_says_wins_and_the_difference_is_reported() {
    let mut stage = three_differ();
    let events = stage.agent(1);
    stage.compare();
    let row = stage.agent(1);
    assert_eq!(row.owner, Some(account(222)));
    assert_eq!((row.wallet, &*row.uri), (None, "ipfs://kept"));
    let differs = |field, events: &str, state: &str| Difference {
        agent: agent(1),
        field,
        events: events.to_owned(),
        state: state.to_owned(),
        block: BLOCKS,
    };
    let (owner, found) = (account(101).to_string(), stage.differences());
    let expected = [
        differs(Field::Uri, "ipfs://agent-1", "ipfs://kept"),
        differs(Field::Wallet, &owner, ""),
        differs(Field::Owner, &owner, &account(222).to_string()),
    ];
    assert_eq!(found, expected);
    // No feedback is missing by it, and nothing else changed.
    let id = stage.indexer.deployment();
    let mut store = stage.indexer.store();
    assert!(store.completeness(id).unwrap().is_complete());
    assert_eq!((row.missing, row.updated), (0, events.updated));
    // A rebuild lets the state win again.
    let before = store.digest(id).unwrap();
    store.rebuild(id).unwrap();
    assert_eq!(store.digest(id).unwrap(), before);
    drop(store);
    assert_eq!(stage.differences(), found);
}

#[test]
fn r45_a_difference_ends_when_the_state_and_the_events_agree() {
    let mut stage = three_differ();
    stage.compare();
    // What the state always said is seen in an event now, and the rest of the state is as the events say.
    let set = |wallet| Event::AgentWalletSet {
        agent: agent(1),
        wallet,
    };
    let source = stage.indexer.source();
    source.planted.clear();
    source.later.push((BLOCKS + 1, set(None)));
    source.world.blocks += 1;
    stage.catch_up();
    stage.digest(); // between the event and the next reading, too
    stage.compare();
    assert_eq!(stage.differences(), []);
    let row = stage.agent(1);
    assert_eq!((row.owner, row.wallet), (Some(account(101)), None));
    assert_eq!(row.uri, "ipfs://agent-1");
}

#[test]
fn r45_a_later_event_is_not_undone_by_what_the_state_said_before() {
    let mut stage = three_differ();
    stage.compare();
    let wallet = Some(account(77));
    let event = Event::AgentWalletSet {
        agent: agent(1),
        wallet,
    };
    let source = stage.indexer.source();
    source.later.push((BLOCKS + 1, event));
    source.world.blocks += 1;
    stage.catch_up();
    // The state was not read since: the event says more. Of the rest nothing is new.
    assert_eq!(stage.agent(1).wallet, wallet);
    assert_eq!(stage.agent(1).owner, Some(account(222)));
    assert_eq!(stage.differences().len(), 2);
    stage.digest();
}

#[test]
fn r45_what_the_state_said_of_blocks_that_are_taken_back_is_forgotten() {
    let mut stage = three_differ();
    stage.compare();
    assert_eq!(stage.differences().len(), 3);
    let source = stage.indexer.source();
    source.planted.clear();
    (source.world.fork, source.world.name) = (100, 2);
    let seen = stage.catch_up();
    assert!(
        seen.iter()
            .any(|it| matches!(it, Progress::Reorganised { .. }))
    );
    assert_eq!(stage.differences(), []);
    assert_eq!(stage.agent(1).owner, Some(account(101)));
    stage.compare();
    assert_eq!(stage.differences(), []);
}

#[test]
fn r45_a_state_of_a_later_block_is_compared_with_the_events_up_to_it() {
    let mut stage = Stage::of(&[], Vec::new());
    stage.indexer.source().ahead = 3; // with feedback in each of these blocks
    stage.compare();
    assert_eq!(stage.differences(), []);
    let id = stage.indexer.deployment();
    let head = stage.indexer.store().cursor(id).unwrap().unwrap().head;
    assert_eq!(head.number, BLOCKS + 3);
}

/// R4: of a transfer whose event was cut off the log there is no event, and its agent's state is read all the same.
#[test]
fn r45_the_state_of_an_agent_is_read_whose_event_may_have_been_cut_off() {
    let owner = account(222).to_string();
    let mut stage = Stage::of(&[], Vec::new());
    stage.compare();
    stage.indexer.source().planted = vec![planted(2, Field::Owner, &owner)];
    stage.compare();
    assert_eq!(stage.differences(), []);
    let id = stage.indexer.deployment();
    let world = &stage.indexer.source().world;
    let (head, blocks) = (world.header(BLOCKS + 1), BLOCKS + 1);
    let batch = Batch {
        through: head,
        parent: None,
        headers: vec![head],
        events: Vec::new(),
        undecoded: Vec::new(),
        suspects: vec![agent(2), agent(99)],
    };
    stage.indexer.source().world.blocks = blocks;
    let mut store = stage.indexer.store();
    store.commit(id, &batch, None, 64).unwrap();
    let unread = [Subject::Agent(agent(2)), Subject::Agent(agent(99))];
    assert_eq!(store.unread(id, 9).unwrap(), unread);
    drop(store);
    stage.compare();
    assert_eq!(stage.agent(2).owner, Some(account(222)));
    let found = stage.differences();
    assert_eq!((found.len(), found[0].field), (1, Field::Owner));
    // It was so on a fork that lost.
    let fork = stage.indexer.source().world.header(BLOCKS);
    let mut store = stage.indexer.store();
    store.roll_back(id, &fork, 1_700_000_000).unwrap();
    assert_eq!(store.differences(id, 9).unwrap(), []);
    let unread = store.unread(id, 9).unwrap();
    assert!(unread.contains(&Subject::Agent(agent(2))), "{unread:?}");
    drop(store);
    assert_eq!(stage.agent(2).owner, Some(account(102)));
}

/// R4: while the state of one block is compared, later ones are taken in, in which the event of a transfer may have been cut off.
#[test]
fn r45_a_state_of_before_an_event_that_may_have_been_cut_off_does_not_count() {
    let mut stage = Stage::of(&[], Vec::new());
    stage.compare();
    let source = stage.indexer.source();
    source.suspects = vec![(BLOCKS + 1, agent(99)), (BLOCKS + 3, agent(99))];
    source.world.blocks += 1;
    stage.catch_up();
    let id = stage.indexer.deployment();
    let is_waiting = |stage: &mut Stage| {
        let unread = stage.indexer.store().unread(id, 99).unwrap();
        unread.contains(&Subject::Agent(agent(99)))
    };
    assert!(is_waiting(&mut stage));
    let source = stage.indexer.source();
    (source.ahead, source.beyond) = (1, 1);
    let compared = stage.blocking.wait(stage.indexer.compare_state());
    assert!(compared.unwrap() > 0);
    let head = stage.indexer.store().cursor(id).unwrap().unwrap().head;
    assert_eq!(head.number, BLOCKS + 3);
    assert!(is_waiting(&mut stage));
    stage.compare(); // the state of a block after it
}

/// ERC-8217: what a binding contract said after a block that is taken back, it may not say on the other fork.
#[test]
fn r45_a_binding_is_asked_for_again_after_a_reorganisation() {
    let mut stage = Stage::of(&[], Vec::new());
    let declared = Event::MetadataSet {
        agent: agent(1),
        key: KEY.to_owned(),
        value: vec![9; 20],
    };
    stage.indexer.source().later = vec![(BLOCKS + 1, declared)];
    stage.indexer.source().world.blocks += 3;
    stage.catch_up();
    stage.compare();
    let id = stage.indexer.deployment();
    let row = stage.agent(1);
    let fork = stage.indexer.source().world.header(BLOCKS + 2);
    let mut store = stage.indexer.store();
    let contracts = store.declared_bindings(id, &[1, 2].map(|it| Subject::Agent(agent(it))));
    assert_eq!(contracts.unwrap(), [(agent(1), [9; 20])]);
    let read = BindingRead {
        agent: agent(1),
        contract: [9; 20],
        token: None,
        block: BLOCKS + 3,
    };
    store.note_bindings(id, &[read]).unwrap();
    let found = store.binding(id, agent(1), &row).unwrap().unwrap();
    assert_eq!(found.read, Some(read));
    assert_eq!(store.binding(id, agent(2), &row).unwrap(), None);
    let again = BindingRead {
        block: BLOCKS + 2,
        ..read
    };
    for (read, is_kept) in [(again, true), (read, false)] {
        store.note_bindings(id, &[read]).unwrap();
        store.roll_back(id, &fork, 1_700_000_000).unwrap();
        let found = store.binding(id, agent(1), &row).unwrap().unwrap();
        assert_eq!(found.read, is_kept.then_some(read));
        let unread = store.unread(id, 99).unwrap();
        let waits = unread.contains(&Subject::Agent(agent(1)));
        assert_eq!(waits, !is_kept, "{unread:?}");
    }
}

fn client(agent: AgentId, number: u8) -> ClientKey {
    ClientKey {
        profile: Profile::Open,
        agent,
        client: account(number),
    }
}

/// The digest of all events.
fn expected(stage: &mut Stage) -> [u8; 32] {
    fold(&stage.indexer.source().all()).unwrap().digest()
}

#[test]
fn r46_a_clients_last_feedback_that_was_not_seen_is_a_gap_until_it_is_found() {
    let mut stage = Stage::of(&[BLOCKS], Vec::new()); // the fourth feedback of client 2 about agent 5
    let id = stage.indexer.deployment();
    let is_complete = |stage: &mut Stage| {
        let found = stage.indexer.store().completeness(id);
        found.unwrap().is_complete()
    };
    assert!(is_complete(&mut stage)); // by the events alone
    stage.compare();
    let key = client(agent(5), 2);
    let gap = Gap {
        client: key,
        first: 4,
        last: 4,
    };
    assert_eq!(stage.indexer.store().gaps(id, agent(5)).unwrap(), [gap]);
    assert!(stage.agent(5).is_incomplete() && !is_complete(&mut stage));
    assert_eq!(stage.indexer.store().incomplete_count(id).unwrap(), 1);
    // What the endpoint withholds stays missing.
    let repair = |stage: &mut Stage| stage.blocking.wait(stage.indexer.repair()).unwrap();
    assert_eq!(repair(&mut stage), 0);
    stage.indexer.source().withheld.clear();
    assert!(repair(&mut stage) > 0);
    stage.compare();
    assert_eq!(stage.differences(), []);
    assert!(is_complete(&mut stage));
    assert_eq!(stage.digest(), expected(&mut stage));
}

#[test]
fn r46_a_client_of_whom_nothing_was_seen_is_counted_until_it_is_found() {
    let withheld = [36, 71, 106]; // all that client 7 said about agent 1
    let mut stage = Stage::of(&withheld, Vec::new());
    let id = stage.indexer.deployment();
    stage.compare();
    let difference = Difference {
        agent: agent(1),
        field: Field::Clients(Profile::Open),
        events: "6".to_owned(),
        state: "7".to_owned(),
        block: BLOCKS,
    };
    assert_eq!(stage.differences(), [difference]);
    assert_eq!(stage.agent(1).missing, 1);
    stage.indexer.source().withheld.clear();
    assert!(stage.blocking.wait(stage.indexer.repair()).unwrap() > 0);
    stage.compare();
    let completeness = stage.indexer.store().completeness(id).unwrap();
    assert!(completeness.is_complete(), "{completeness:?}");
    assert_eq!(stage.digest(), expected(&mut stage));
}
