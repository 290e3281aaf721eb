//! A writer that is killed at any statement: the next one continues, and ends with the same tables.
use crate::store::{
    dying::{Dying, Point, asked, run_child},
    world::{World, deployment},
};
use crate::worlds::database::{fresh, part};
use concord_chain::Blocking;
use concord_index::{
    Indexer, Options,
    fold::fold,
    store::{Engine, Location, Store},
};

const BLOCKS: u64 = 60;
const AT_ONCE: u64 = 20;

/// Indexes the world, of which the second half is then taken back.
fn index<E: Engine>(engine: E) -> [u8; 32] {
    let blocking = Blocking::new().unwrap();
    let store = Store::open(engine).unwrap();
    let world = World {
        blocks: BLOCKS,
        at_once: AT_ONCE,
        fork: u64::MAX,
        name: 1,
    };
    let options = Options {
        together: 1, // each read has a commit of its own
        ..Options::default()
    };
    let mut indexer = Indexer::new(world, store, &deployment(), options).unwrap();
    let deployment = indexer.deployment();
    let is_forked = |head: u64, hash: [u8; 32]| head == BLOCKS + 1 && hash[31] == 1;
    let cursor = indexer.store().cursor(deployment).unwrap();
    if !cursor.is_some_and(|it| is_forked(it.head.number, it.head.hash)) {
        blocking.wait(indexer.catch_up(|_| ())).unwrap();
    }
    let world = indexer.source();
    (world.fork, world.blocks) = (BLOCKS / 2, BLOCKS + 1);
    blocking.wait(indexer.catch_up(|_| ())).unwrap();
    let digest = indexer.store().digest(deployment).unwrap();
    assert_eq!(indexer.store().rebuild_digest(deployment).unwrap(), digest);
    digest
}

/// What is left in the end, folded in memory.
fn expected() -> [u8; 32] {
    let world = World {
        blocks: BLOCKS + 1,
        at_once: AT_ONCE,
        fork: BLOCKS / 2,
        name: 1,
    };
    let events: Vec<_> = (1..=world.blocks).flat_map(|it| world.events(it)).collect();
    fold(&events).unwrap().digest()
}

/// Not a test by itself: what a child process of the test below does.
#[test]
fn a_writer_that_dies() {
    if let Some((store, dies_at)) = asked() {
        index(Dying::open(&store, dies_at));
    }
}

fn lives(store: &Location, statement: u64) -> bool {
    run_child(
        "store::killed::a_writer_that_dies",
        store,
        Point::Statement(statement),
    )
}

#[test]
fn a_killed_writer_leaves_a_store_that_the_next_one_completes() {
    let expected = expected();
    // Every statement of the first ones, where tables and cursor are made; then one of each few, so
    // that every kind of statement is the last one in some run.
    let stride = part(17, 5) as u64;
    let mut dies_at = 1;
    let mut killed = 0;
    loop {
        let store = fresh();
        let lived = lives(&store.location, dies_at);
        let completed = index(store.location.open().unwrap());
        assert_eq!(completed, expected, "killed at {dies_at}");
        if lived {
            break;
        }
        killed += 1;
        dies_at += if dies_at < 12 { 1 } else { stride };
    }
    assert!(killed > part(30, 40), "{killed}");
}

#[test]
fn a_writer_may_be_killed_again_and_again() {
    let store = fresh();
    let mut runs = 0;
    // Each run gets further than the one before, by one batch at least.
    let statements = part(350, 150) as u64;
    while !lives(&store.location, statements) {
        runs += 1;
        assert!(runs < 50, "no progress");
    }
    assert!(runs > part(1, 0), "{runs}");
    assert_eq!(index(store.location.open().unwrap()), expected());
}
