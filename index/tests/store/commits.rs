//! A writer that is killed right before and right after each of its commits, whatever it commits: tables, a claim, blocks, a
//! reorganisation, what the state says, files and what is derived from them, a schema, a rebuild. The points are counted
//! in a run that nothing ends.
use crate::store::{
    dying::{Dying, Point, asked, run_child},
    versions::make_version_7,
    world::{World, agent, deployment},
};
use crate::worlds::database::fresh;
use async_trait::async_trait;
use concord_chain::Blocking;
use concord_index::{
    Indexer, Options, SourceError,
    batch::{Batch, Header},
    fold::fold,
    source::Source,
    state::{Fact, Field, StateRead, Subject},
    store::{DeploymentId, Engine, Location, Store},
    table::{AgentKey, File, FileState},
};
use std::{
    cell::Cell,
    sync::{Arc, atomic::Ordering},
};

const BLOCKS: u64 = 40;
const FORK: u64 = 20;
/// What the state says of agent 1, against its events.
const URI: &str = "ipfs://kept";

/// The world, of which the state differs from the events.
struct Stated(World);

#[async_trait]
impl Source for Stated {
    fn name(&self) -> String {
        self.0.name()
    }

    async fn head(&mut self) -> Result<Header, SourceError> {
        self.0.head().await
    }

    async fn final_number(&mut self) -> Result<Option<u64>, SourceError> {
        Ok(None)
    }

    async fn hash(&mut self, number: u64) -> Result<Option<[u8; 32]>, SourceError> {
        self.0.hash(number).await
    }

    async fn batch(&mut self, from: u64, to: u64, settled: u64) -> Result<Batch, SourceError> {
        self.0.batch(from, to, settled).await
    }

    async fn state(
        &mut self,
        subjects: &[Subject],
        at: &Header,
    ) -> Result<Option<StateRead>, SourceError> {
        let is_agent_1 = |it: &&Subject| **it == Subject::Agent(agent(1));
        let differing = subjects.iter().filter(is_agent_1).map(|it| Fact {
            agent: it.agent(),
            field: Field::Uri,
            value: URI.to_owned(),
        });
        Ok(Some(StateRead {
            block: at.number,
            facts: differing.collect(),
        }))
    }
}

/// The world before half of it is taken back, and after.
fn world(is_forked: bool) -> World {
    World {
        blocks: if is_forked { BLOCKS + 1 } else { BLOCKS },
        at_once: 15,
        fork: if is_forked { FORK } else { u64::MAX },
        name: 1,
    }
}

/// The tables' digest, and that of what is derived from files.
type Digests = ([u8; 32], [u8; 32]);

/// All that a writer does by itself. What an earlier one has done is left as it is: a rebuild would hide what it left undone.
fn write_all<E: Engine>(engine: E) -> Digests {
    let blocking = Blocking::new().unwrap();
    let store = Store::open(engine).unwrap();
    let source = Stated(world(false));
    let mut indexer = Indexer::new(source, store, &deployment(), Options::default()).unwrap();
    let id = indexer.deployment();
    let cursor = indexer.store().cursor(id).unwrap();
    let last = world(true).header(BLOCKS + 1);
    if cursor.is_none_or(|it| it.head.number < BLOCKS && it.head.hash != last.hash) {
        blocking.wait(indexer.catch_up(|_| ())).unwrap();
    }
    indexer.source().0 = world(true);
    blocking.wait(indexer.catch_up(|_| ())).unwrap();
    while blocking.wait(indexer.compare_state()).unwrap() > 0 {}
    let mut store = indexer.store();
    fetch(&mut store, id);
    digests(&mut store, id)
}

fn rebuild<E: Engine>(engine: E) -> Digests {
    let mut store = Store::open(engine).unwrap();
    let id = store.find(&deployment()).unwrap().unwrap();
    store.rebuild(id).unwrap();
    digests(&mut store, id)
}

/// What the worker does with files, without a network.
fn fetch<E: Engine>(store: &mut Store<E>, id: DeploymentId) {
    store.derive_behind(id).unwrap();
    for file in store.due_files(id, 0, 100).unwrap() {
        let name = file.uri.clone();
        let content = serde_json::json!({ "name": name, "services": [] });
        let fetched = File {
            state: FileState::Fetched,
            attempts: 1,
            next_at: i64::MAX,
            checked_at: Some(1),
            fetched_at: Some(1),
            bytes: Some(content.to_string().into_bytes()),
            ..file
        };
        store.take_file(id, &fetched).unwrap();
    }
}

/// R45: a rebuild has the same tables, and what files say follows from their content.
fn digests<E: Engine>(store: &mut Store<E>, id: DeploymentId) -> Digests {
    let (tables, files) = (store.digest(id).unwrap(), store.file_digest(id).unwrap());
    assert_eq!(store.rebuild_digest(id).unwrap(), tables);
    assert_eq!(store.derived_digest(id).unwrap(), files);
    (tables, files)
}

/// The tables, folded in memory; what the state says wins.
fn expected() -> [u8; 32] {
    let world = world(true);
    let events: Vec<_> = (1..=world.blocks).flat_map(|it| world.events(it)).collect();
    let mut tables = fold(&events).unwrap();
    let key = AgentKey { agent: agent(1) };
    let mut row = tables.agents.known(&key).flatten().unwrap().clone();
    URI.clone_into(&mut row.uri);
    tables.agents.put(key, row);
    tables.digest()
}

/// Not a test by itself: what child processes of the tests below do.
#[test]
fn a_writer_that_dies() {
    if let Some((store, dies_at)) = asked() {
        write_all(Dying::open(&store, dies_at));
    }
}

/// As above.
#[test]
fn a_rebuild_that_dies() {
    if let Some((store, dies_at)) = asked() {
        rebuild(Dying::open(&store, dies_at));
    }
}

/// Kills a writer right before and right after each of its commits, each time upon what `prepare` makes, has `check` look at
/// what it left, and lets another one complete the store. The test `child` does what `work` does.
fn kill_everywhere(
    child: &str,
    work: fn(Dying) -> Digests,
    prepare: impl Fn(&Location),
    check: impl Fn(&Location, Point),
) -> u64 {
    let undisturbed = fresh();
    prepare(&undisturbed.location);
    let counting = Dying::open(&undisturbed.location, Point::Never);
    let counted = Arc::clone(&counting.commits);
    let (tables, files) = work(counting);
    assert_eq!(tables, expected());
    let commits = counted.load(Ordering::SeqCst);
    for number in 1..=commits {
        for dies_at in [Point::BeforeCommit(number), Point::AfterCommit(number)] {
            let store = fresh();
            prepare(&store.location);
            let lived = run_child(child, &store.location, dies_at);
            assert!(!lived, "{dies_at} of {commits}");
            check(&store.location, dies_at);
            let completed = work(Dying::open(&store.location, Point::Never));
            assert_eq!(completed, (tables, files), "killed {dies_at} of {commits}");
        }
    }
    commits
}

#[test]
fn a_writer_killed_at_any_commit_leaves_a_store_that_the_next_one_completes() {
    let commits = kill_everywhere(
        "store::commits::a_writer_that_dies",
        write_all,
        |_| (),
        |_, _| (),
    );
    // Tables, a claim, three batches, a reorganisation, two batches, the state; a file that nothing refers to; of each of
    // five files its content, its rows and that these are written.
    assert_eq!(commits, 1 + 1 + 3 + 1 + 2 + 1 + 1 + 5 * 3);
}

#[test]
fn a_writer_killed_at_any_commit_of_a_migration_leaves_a_store_that_the_next_one_completes() {
    let prepare = |location: &Location| {
        let store = Store::open(location.open().unwrap()).unwrap();
        let mut indexer =
            Indexer::new(world(true), store, &deployment(), Options::default()).unwrap();
        let blocking = Blocking::new().unwrap();
        blocking.wait(indexer.catch_up(|_| ())).unwrap();
        drop(indexer);
        make_version_7(&mut location.open().unwrap());
    };
    let child = "store::commits::a_writer_that_dies";
    let commits = kill_everywhere(child, write_all, prepare, |_, _| ());
    // The schema, a claim, and what comes after the blocks.
    assert_eq!(commits, 1 + 1 + 1 + 1 + 5 * 3);
}

#[test]
fn a_rebuild_killed_at_its_commit_leaves_the_tables_as_they_were_or_made_anew() {
    let tables_of = |location: &Location| {
        let mut store = Store::open(location.open().unwrap()).unwrap();
        let id = store.find(&deployment()).unwrap().unwrap();
        store.digest(id).unwrap()
    };
    let changed = Cell::new([0; 32]);
    let prepare = |location: &Location| {
        write_all(location.open().unwrap());
        let sql = "UPDATE agent SET feedback_count = feedback_count + 1";
        location.open().unwrap().execute(sql, &[]).unwrap();
        changed.set(tables_of(location));
        assert_ne!(changed.get(), expected());
    };
    let check = |location: &Location, dies_at| {
        let left = match dies_at {
            Point::AfterCommit(_) => expected(),
            _ => changed.get(),
        };
        assert_eq!(tables_of(location), left, "killed {dies_at}");
    };
    let commits = kill_everywhere(
        "store::commits::a_rebuild_that_dies",
        rebuild,
        prepare,
        check,
    );
    assert_eq!(commits, 1);
}
