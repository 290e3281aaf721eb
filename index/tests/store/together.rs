//! IDX-50: settled blocks are read while those before them are written, and committed together.
use crate::store::world::{World, deployment, events_of};
use crate::worlds::changed::Changed;
use crate::worlds::database::{database, fresh};
use concord_chain::Blocking;
use concord_index::{
    Indexer, Options, Progress, READS, SourceError,
    store::{Database, Engine, Location, Store},
};

const BLOCKS: u64 = 60;

/// What happens when blocks are asked for.
#[derive(Clone, Copy)]
struct Asked {
    /// The first commit cannot be written before blocks from this one on were asked for.
    written_at: u64,
    /// Blocks from this one on are not answered the first time.
    fails_at: Option<u64>,
}

/// Opens a connection that holds the write lock.
fn hold(location: &Location) -> Database {
    let mut held = location.open().unwrap();
    let script = match location {
        Location::File(_) => "BEGIN IMMEDIATE",
        Location::Server(_) => "BEGIN; LOCK TABLE event",
    };
    held.script(script).unwrap();
    held
}

fn world(at_once: u64) -> World {
    World {
        blocks: BLOCKS,
        at_once,
        fork: u64::MAX,
        name: 1,
    }
}

/// The blocks of each commit.
fn commits(
    at_once: u64,
    mut asked: Asked,
    (kept_headers, together): (u64, usize),
) -> Vec<(u64, u64)> {
    let fresh = fresh();
    let store = Store::open(fresh.location.open().unwrap()).unwrap();
    let (location, mut held) = (fresh.location.clone(), None);
    let source = Changed {
        source: world(at_once),
        change: Box::new(move |_, from, batch| {
            if from == 1 {
                held = Some(hold(&location));
            }
            if from == asked.written_at
                && let Some(mut held) = held.take()
            {
                held.script("ROLLBACK").unwrap();
            }
            match asked.fails_at.take_if(|it| *it == from) {
                Some(block) => Err(SourceError::Inconsistent {
                    host: "world".to_owned(),
                    block,
                    what: "it has a bad moment".to_owned(),
                }),
                None => Ok(batch),
            }
        }),
    };
    let options = Options {
        kept_headers,
        together,
    };
    let mut indexer = Indexer::new(source, store, &deployment(), options).unwrap();
    let mut commits = Vec::new();
    let caught_up = indexer.catch_up(|progress| {
        if let Progress::Advanced { from, through, .. } = progress {
            commits.push((from, through));
        }
    });
    Blocking::new().unwrap().wait(caught_up).unwrap();
    let id = indexer.deployment();
    let digest = indexer.store().digest(id).unwrap();
    assert_eq!(indexer.store().rebuild_digest(id).unwrap(), digest);
    assert_eq!(digest, expected());
    commits
}

/// With each block committed alone.
fn expected() -> [u8; 32] {
    let store = Store::open(database()).unwrap();
    let options = Options {
        kept_headers: BLOCKS,
        ..Options::default()
    };
    let mut indexer = Indexer::new(world(1), store, &deployment(), options).unwrap();
    let mut steps = 0;
    let caught_up = indexer.catch_up(|_| steps += 1);
    Blocking::new().unwrap().wait(caught_up).unwrap();
    assert_eq!(steps, BLOCKS + 1);
    let id = indexer.deployment();
    indexer.store().digest(id).unwrap()
}

const fn written_at(block: u64) -> Asked {
    Asked {
        written_at: block,
        fails_at: None,
    }
}

const EACH: [(u64, u64); 3] = [(1, 20), (21, 40), (41, 60)];

#[test]
fn settled_blocks_are_read_while_others_are_written() {
    let rest = [(1, 20), (21, 60)];
    assert_eq!(commits(20, written_at(41), (0, usize::MAX)), rest);
    let in_second = (21..=40).map(|it| events_of(it).len()).sum();
    assert_eq!(commits(20, written_at(41), (0, in_second + 1)), rest);
    assert_eq!(commits(20, written_at(21), (0, in_second)), EACH);
    assert_eq!(commits(20, written_at(21), (0, 1)), EACH);
}

#[test]
fn a_commit_has_at_most_so_many_reads() {
    let last = 2 + 2 * READS as u64;
    let found = commits(2, written_at(last - 1), (0, usize::MAX));
    assert_eq!(found[..2], [(1, 2), (3, last)]);
}

#[test]
fn what_can_be_replaced_is_not_read_ahead() {
    assert_eq!(commits(20, written_at(1), (BLOCKS, usize::MAX)), EACH);
    // Blocks up to 40 are settled.
    assert_eq!(commits(20, written_at(21), (20, usize::MAX)), EACH);
}

#[test]
fn a_read_that_fails_leaves_what_was_read_before_it() {
    let asked = Asked {
        written_at: 41,
        fails_at: Some(41),
    };
    assert_eq!(commits(20, asked, (0, usize::MAX)), EACH);
}
