//! R46: events that an endpoint withheld are found when it no longer does.
use crate::store::world::{World, at, deployment, open, registered};
use crate::worlds::changed::{Change, Changed, withholding};
use crate::worlds::database::database;
use concord_chain::Blocking;
use concord_index::{
    Indexer, Options, Place, SyncError,
    batch::{Batch, IndexedEvent, UndecodedEvent},
    fold::fold,
    store::{Database, Store},
};
use concord_registry::{
    event::{AccountId, Event, Position, RawEvent, TransactionId},
    evm::{U256, abi::IdentityRegistry, alloy_sol_types::SolEvent, canonical::Upgradeable},
};
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
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

/// An index of what the source gives.
fn index(change: Change<World>) -> (Blocking, Indexer<Changed<World>, Database>) {
    let blocking = Blocking::new().unwrap();
    let store = Store::open(database()).unwrap();
    let source = Changed {
        source: world(),
        change,
    };
    let mut indexer = Indexer::new(source, store, &deployment(), Options::default()).unwrap();
    blocking.wait(indexer.catch_up(|_| ())).unwrap();
    (blocking, indexer)
}

fn indexed(withheld: &[u64]) -> (Blocking, Indexer<Changed<World>, Database>) {
    let withheld = withheld.to_vec();
    index(withholding(move |it| withheld.contains(&it.place.block())))
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

const UPGRADED: [u8; 20] = [9; 20];
/// Where an event is that the version before cannot decode.
const RAW_BLOCK: u64 = 60;
const RAW_LOG: u64 = 9;

fn upgraded() -> IndexedEvent {
    let implementation = AccountId::Evm(UPGRADED);
    at(
        RAW_BLOCK,
        RAW_LOG,
        Event::RegistryUpgraded { implementation },
    )
}

/// An event as the version before kept it.
fn kept_raw(event: &impl SolEvent) -> UndecodedEvent {
    let data = event.encode_log_data();
    let of = upgraded();
    UndecodedEvent {
        place: of.place,
        transaction: of.transaction,
        raw: RawEvent::Evm {
            topics: data.topics().iter().map(|it| it.0).collect(),
            data: data.data.to_vec(),
        },
        reason: "no event of this registry has this topic or discriminator".to_owned(),
        is_unknown: true,
    }
}

/// What the source gives of the block, and how often blocks were asked for.
fn giving(
    events: Vec<IndexedEvent>,
    undecoded: Vec<UndecodedEvent>,
) -> (Change<World>, Arc<AtomicUsize>) {
    let asked = Arc::<AtomicUsize>::default();
    let counted = Arc::clone(&asked);
    let change = move |_: &mut World, from, mut batch: Batch| {
        counted.fetch_add(1, Ordering::SeqCst);
        if (from..=batch.through.number).contains(&RAW_BLOCK) {
            batch.events.extend(events.clone());
            batch.events.sort_by_key(|it| it.place);
            batch.undecoded.extend(undecoded.clone());
        }
        Ok(batch)
    };
    (Box::new(change), asked)
}

/// An index that keeps an event raw.
fn with_raw(raw: &UndecodedEvent) -> (Blocking, Indexer<Changed<World>, Database>) {
    let (blocking, mut indexer) = index(giving(Vec::new(), vec![raw.clone()]).0);
    let id = indexer.deployment();
    assert_eq!(indexer.store().completeness(id).unwrap().unknown, 1);
    (blocking, indexer)
}

/// IDX-1: a canonical registry was upgraded and reports something new, which a later version knows.
#[test]
fn r46_what_could_not_be_decoded_is_read_again_by_a_version_that_can() {
    let raw = kept_raw(&Upgradeable::Upgraded {
        implementation: UPGRADED.into(),
    });
    let (blocking, mut indexer) = with_raw(&raw);
    let id = indexer.deployment();
    // An endpoint that withholds it now takes nothing away.
    indexer.source().change = giving(Vec::new(), Vec::new()).0;
    assert_eq!(blocking.wait(indexer.repair()).unwrap(), 0);
    assert_eq!(indexer.store().completeness(id).unwrap().unknown, 1);
    indexer.source().change = giving(vec![upgraded()], Vec::new()).0;
    assert_eq!(blocking.wait(indexer.repair()).unwrap(), 1);
    let all = (1..=BLOCKS).flat_map(|it| world().events(it));
    let mut events: Vec<_> = all.chain([upgraded()]).collect();
    events.sort_by_key(|it| it.place);
    let log = indexer.store().events_after(id, None, BLOCKS, 9_999);
    assert_eq!(log.unwrap(), events);
    let digest = fold(&events).unwrap().digest();
    assert_eq!(indexer.store().digest(id).unwrap(), digest);
    assert_eq!(indexer.store().rebuild_digest(id).unwrap(), digest);
    assert_eq!(indexer.store().completeness(id).unwrap().unknown, 0);
    let (change, asked) = giving(vec![upgraded()], Vec::new());
    indexer.source().change = change;
    assert_eq!(blocking.wait(indexer.repair()).unwrap(), 0);
    assert_eq!(asked.load(Ordering::SeqCst), 0);
}

/// No block is read again for what no version knows.
#[test]
fn r46_what_still_cannot_be_decoded_is_counted_and_not_read_again() {
    let mut raw = kept_raw(&Upgradeable::Initialized { version: 1 });
    if let RawEvent::Evm { topics, .. } = &mut raw.raw {
        topics[0] = [7; 32];
    }
    let (blocking, mut indexer) = with_raw(&raw);
    let (change, asked) = giving(Vec::new(), vec![raw]);
    indexer.source().change = change;
    assert_eq!(blocking.wait(indexer.repair()).unwrap(), 0);
    assert_eq!(asked.load(Ordering::SeqCst), 0);
    let id = indexer.deployment();
    assert_eq!(indexer.store().completeness(id).unwrap().unknown, 1);
}

/// What a later version passes over, because it says nothing by itself.
#[test]
fn r46_what_says_nothing_is_dropped_when_a_later_version_begins() {
    let raw = kept_raw(&IdentityRegistry::MetadataUpdate {
        tokenId: U256::from(1),
    });
    let (_, mut indexer) = with_raw(&raw);
    let id = indexer.deployment();
    indexer.store().claim(&deployment()).unwrap();
    assert_eq!(indexer.store().completeness(id).unwrap().unknown, 0);
}

/// An endpoint gave only the second of two logs that are one event (R15).
#[test]
fn r46_a_part_of_an_event_is_none_by_itself_once_the_event_is_read() {
    let mut part = kept_raw(&Upgradeable::Initialized { version: 1 });
    part.raw = RawEvent::Evm {
        topics: vec![[7; 32]],
        data: Vec::new(),
    };
    let (mut giving, _) = giving(Vec::new(), vec![part]);
    let (blocking, mut indexer) = index(Box::new(move |world, from, batch| {
        let mut batch = giving(world, from, batch)?;
        batch.events.retain(|it| it.place.block() != RAW_BLOCK);
        Ok(batch)
    }));
    let id = indexer.deployment();
    let found = indexer.store().completeness(id).unwrap();
    assert_eq!((found.unknown, found.agents.len()), (1, 1)); // the gap shows
    indexer.source().change = withholding(|_| false);
    assert!(blocking.wait(indexer.repair()).unwrap() > 0);
    assert_eq!(indexer.store().digest(id).unwrap(), expected());
    assert!(indexer.store().completeness(id).unwrap().is_complete());
}

/// IDX-54: and on Solana it may move within its slot meanwhile.
#[test]
fn r46_what_is_decoded_later_may_have_another_place() {
    let raw = |place: u32| {
        let listed = listed(2, place);
        UndecodedEvent {
            place: listed.place,
            transaction: listed.transaction,
            raw: RawEvent::Svm(vec![7; 9]),
            reason: "no event of this registry has this topic or discriminator".to_owned(),
            is_unknown: true,
        }
    };
    let agents = [at(1, 0, registered(1))];
    let first = listed(1, 0);
    // What was read at first, what is read then, and what is left raw.
    let cases = [
        (
            vec![],
            vec![raw(0)],
            vec![first.clone(), listed(2, 1)],
            vec![],
            0,
        ),
        (
            vec![first.clone()],
            vec![raw(1)],
            vec![first.clone(), listed(2, 1)],
            vec![],
            0,
        ),
        (vec![], vec![raw(0)], vec![first.clone()], vec![raw(1)], 1),
        (
            vec![first.clone()],
            vec![raw(1)],
            vec![first.clone()],
            vec![],
            1,
        ),
    ];
    for (number, (before, raw_before, after, raw_after, left)) in cases.into_iter().enumerate() {
        let batch = |events: &[IndexedEvent], undecoded: Vec<UndecodedEvent>| {
            let head = world().header(6);
            Batch {
                through: head,
                parent: None,
                headers: vec![head],
                events: events.to_vec(),
                undecoded,
                suspects: Vec::new(),
            }
        };
        let mut store = Store::open(database()).unwrap();
        let id = store.claim(&deployment()).unwrap();
        let first = [&agents[..], &before].concat();
        store
            .commit(id, &batch(&first, raw_before), None, 64)
            .unwrap();
        store.mend(id, &batch(&after, raw_after)).unwrap();
        let expected = [&agents[..], &after].concat();
        let log = store.events_after(id, None, 9, 99).unwrap();
        assert_eq!(log, expected, "{number}");
        let undecoded = store.completeness(id).unwrap().unknown;
        assert_eq!(undecoded, left, "{number}");
    }
}
