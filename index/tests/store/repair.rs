//! R46: events that an endpoint withheld are found when it no longer does.
use crate::{
    changed::{Changed, withholding},
    database::database,
    world::{World, deployment},
};
use concord_chain::Blocking;
use concord_index::{
    Indexer, Options, SyncError,
    fold::fold,
    store::{Database, Store},
};

const BLOCKS: u64 = 120;

fn world() -> World {
    World {
        blocks: BLOCKS,
        at_once: 50,
        fork: u64::MAX,
        name: 1,
    }
}

fn indexed(withheld: &[u64]) -> (Blocking, Indexer<Changed<World>, Database>) {
    let blocking = Blocking::new().unwrap();
    let store = Store::open(database()).unwrap();
    let withheld = withheld.to_vec();
    let source = Changed {
        source: world(),
        change: withholding(move |it| withheld.contains(&it.place.block())),
    };
    let mut indexer = Indexer::new(source, store, &deployment(), Options::default()).unwrap();
    blocking.wait(indexer.catch_up(|_| ())).unwrap();
    (blocking, indexer)
}

/// The digest of all events.
fn expected() -> [u8; 32] {
    let world = world();
    let events: Vec<_> = (1..=BLOCKS).flat_map(|it| world.events(it)).collect();
    fold(&events).unwrap().digest()
}

#[test]
fn r46_what_was_withheld_is_found_again() {
    // A registration, a first feedback, and one between two others.
    for withheld in [&[2][..], &[6], &[60], &[2, 6, 41, 60]] {
        let (blocking, mut indexer) = indexed(withheld);
        let id = indexer.deployment();
        assert!(!indexer.store().completeness(id).unwrap().is_complete());
        // As long as the endpoint withholds it, nothing changes.
        let before = indexer.store().digest(id).unwrap();
        assert_eq!(blocking.wait(indexer.repair()).unwrap(), 0);
        assert_eq!(indexer.store().digest(id).unwrap(), before);
        indexer.source().change = withholding(|_| false);
        let missed = withheld.iter().map(|it| world().events(*it).len());
        let found = blocking.wait(indexer.repair()).unwrap();
        assert_eq!(found, missed.sum::<usize>(), "{withheld:?}");
        assert_eq!(
            indexer.store().digest(id).unwrap(),
            expected(),
            "{withheld:?}"
        );
        assert_eq!(indexer.store().rebuild_digest(id).unwrap(), expected());
        assert!(indexer.store().completeness(id).unwrap().is_complete());
        assert_eq!(blocking.wait(indexer.repair()).unwrap(), 0);
        let head = indexer.store().cursor(id).unwrap().unwrap().head;
        assert_eq!(head.number, BLOCKS);
    }
}

#[test]
fn events_of_another_fork_are_not_taken_in() {
    let (blocking, mut indexer) = indexed(&[60]);
    let id = indexer.deployment();
    let before = indexer.store().digest(id).unwrap();
    // The chain is replaced as soon as a batch was read.
    indexer.source().change = Box::new(|world, _, batch| {
        world.fork = 0;
        Ok(batch)
    });
    let error = blocking.wait(indexer.repair()).unwrap_err();
    assert!(
        matches!(&error, SyncError::Source(error) if error.is_passing()),
        "{error}"
    );
    assert_eq!(indexer.store().digest(id).unwrap(), before);
}
