//! R46: events that an endpoint withheld are found when it no longer does.
use crate::{
    changed::{Changed, withholding},
    database::database,
    world::{World, at, deployment, open, registered},
};
use concord_chain::Blocking;
use concord_index::{
    Indexer, Options, Place, SyncError,
    batch::{Batch, IndexedEvent},
    fold::fold,
    store::{Database, Store},
};
use concord_registry::event::{Position, TransactionId};

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

/// A Solana transaction with one event, at the place that it has if `before` others of its slot were listed.
fn listed(transaction: u8, before: u32) -> IndexedEvent {
    let position = Position::Svm {
        instruction: 0,
        call: 1,
        line: 0,
    };
    IndexedEvent {
        place: Place::new(6, before, position),
        transaction: TransactionId::Svm([transaction; 64]),
        ..at(6, 0, open(1, transaction, 1, 70))
    }
}

/// IDX-54: the place of an event counts the transactions that were listed before it.
#[test]
fn r46_a_transaction_that_was_not_listed_moves_those_after_it() {
    let (first, second, third) = (listed(1, 0), listed(2, 1), listed(3, 2));
    let moved = [listed(2, 0), listed(3, 1)];
    let batch = |events: &[IndexedEvent]| {
        let world = world();
        Batch {
            through: world.header(6),
            parent: None,
            headers: vec![world.header(6)],
            events: events.to_vec(),
            undecoded: Vec::new(),
            suspects: Vec::new(),
        }
    };
    let agents = [at(1, 0, registered(1))];
    let all = [first.clone(), second.clone(), third.clone()];
    // What was listed at first, what is listed then, and how much of it is new: `None` if the log stays as it is.
    let cases: [(&[IndexedEvent], &[IndexedEvent], Option<usize>); 6] = [
        (&moved, &all, Some(1)),
        (&[moved[1].clone()], &[first.clone(), listed(3, 1)], Some(1)),
        (&all, &all, Some(0)),
        (&all[..2], &all, Some(1)),
        (&all, &moved, None),
        (&moved[..1], &[first, listed(3, 1)], None),
    ];
    for (number, (before, after, new)) in cases.into_iter().enumerate() {
        let mut store = Store::open(database()).unwrap();
        let id = store.claim(&deployment()).unwrap();
        store.commit(id, &batch(&agents), None, 64).unwrap();
        store.commit(id, &batch(before), None, 64).unwrap();
        let found = store.mend(id, &batch(after)).unwrap();
        assert_eq!(found, new.unwrap_or_default(), "{number}");
        let mut expected = agents.to_vec();
        expected.extend_from_slice(if new.is_some() { after } else { before });
        let log = store.events_after(id, None, 9, 99).unwrap();
        assert_eq!(log, expected, "{number}");
        let digest = fold(&expected).unwrap().digest();
        assert_eq!(store.digest(id).unwrap(), digest, "{number}");
    }
}
