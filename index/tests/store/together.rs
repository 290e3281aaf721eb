//! Blocks that are settled are committed together.
use crate::{
    database::database,
    world::{World, deployment},
};
use async_trait::async_trait;
use concord_chain::Blocking;
use concord_index::{
    Indexer, Options, Progress, READS, SourceError,
    batch::{Batch, Header},
    source::Source,
    store::Store,
};

const BLOCKS: u64 = 60;

/// Does not answer once, when blocks from this one on are asked for.
struct Failing {
    world: World,
    fails_at: Option<u64>,
}

#[async_trait]
impl Source for Failing {
    fn name(&self) -> String {
        self.world.name()
    }

    async fn head(&mut self) -> Result<Header, SourceError> {
        self.world.head().await
    }

    async fn final_number(&mut self) -> Result<Option<u64>, SourceError> {
        self.world.final_number().await
    }

    async fn hash(&mut self, number: u64) -> Result<[u8; 32], SourceError> {
        self.world.hash(number).await
    }

    async fn batch(&mut self, from: u64, to: u64, settled: u64) -> Result<Batch, SourceError> {
        if self.fails_at.take_if(|it| *it == from).is_some() {
            return Err(SourceError::Inconsistent {
                host: self.name(),
                block: from,
                what: "it has a bad moment".to_owned(),
            });
        }
        self.world.batch(from, to, settled).await
    }
}

/// The blocks of each commit, and the digest in the end.
fn commits(
    at_once: u64,
    fails_at: Option<u64>,
    (kept_headers, together): (u64, usize),
) -> (Vec<(u64, u64)>, [u8; 32]) {
    let world = World {
        blocks: BLOCKS,
        at_once,
        fork: u64::MAX,
        name: 1,
    };
    let options = Options {
        kept_headers,
        together,
    };
    let source = Failing { world, fails_at };
    let store = Store::open(database()).unwrap();
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
    (commits, digest)
}

#[test]
fn settled_blocks_are_committed_together() {
    let (alone, digest) = commits(20, None, (0, 1));
    assert_eq!(alone, [(1, 20), (21, 40), (41, 60)]);
    let in_first = (1..=20).map(|it| crate::world::events_of(it).len()).sum();
    let is_as = |found: (Vec<(u64, u64)>, [u8; 32]), expected: &[(u64, u64)]| {
        assert_eq!(found.0, expected);
        assert_eq!(found.1, digest);
    };
    is_as(commits(20, None, (0, in_first)), &alone);
    let twice = &[(1, 40), (41, 60)];
    is_as(commits(20, None, (0, in_first + 1)), twice);
    is_as(commits(20, None, (0, usize::MAX)), &[(1, 60)]);
    // what can still be replaced is committed as it is read
    let last = &[(1, 40), (41, 60)];
    is_as(commits(20, None, (25, usize::MAX)), last);
    is_as(commits(20, None, (BLOCKS, usize::MAX)), &alone);
    let reads = READS as u64 * 2;
    let many = &[(1, reads), (reads + 1, BLOCKS)];
    is_as(commits(2, None, (0, usize::MAX)), many);
}

#[test]
fn a_read_that_fails_leaves_what_was_read_before_it() {
    let (found, digest) = commits(20, Some(21), (0, usize::MAX));
    assert_eq!(found, [(1, 20), (21, 60)]);
    assert_eq!(digest, commits(20, None, (0, 1)).1);
}
