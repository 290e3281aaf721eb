//! What a store refuses, and what is left after a failure.
use crate::store::world::{World, account, agent, at, deployment, open, registered};
use crate::worlds::database::{database, fresh};
use concord_chain::Blocking;
use concord_index::{
    Indexer, Options, Progress, StoreError, SyncError,
    batch::Batch,
    fold::fold,
    store::{Database, Engine, Location, Sqlite, Store},
};
use concord_registry::{Event, evm::Address};
use std::time::Duration;

fn world(blocks: u64) -> World {
    World {
        blocks,
        at_once: 50,
        fork: u64::MAX,
        name: 1,
    }
}

fn indexer<E: Engine>(engine: E, blocks: u64) -> Indexer<World, E> {
    let store = Store::open(engine).unwrap();
    let options = Options {
        together: 1, // each read has a commit of its own
        ..Options::default()
    };
    Indexer::new(world(blocks), store, &deployment(), options).unwrap()
}

/// A server whose disk is full answers a statement so.
const FULL: &str = "
    CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF (SELECT count(*) FROM event) > 1000 THEN
            RAISE 'could not extend file: No space left on device' USING ERRCODE = 'disk_full';
        END IF;
        RETURN NULL;
    END $$;
    CREATE TRIGGER full_disk AFTER INSERT ON event FOR EACH STATEMENT EXECUTE FUNCTION full_disk()";

/// A store with little room.
fn little_room(location: &Location) -> Database {
    drop(Store::open(location.open().unwrap()).unwrap()); // with tables
    let mut database = location.open().unwrap();
    if let Database::Sqlite(sqlite) = &database {
        sqlite.limit_pages(150).unwrap(); // 600 kB, of which the empty tables take a third
    } else {
        database.script(FULL).unwrap();
    }
    database
}

/// IDX-63: the commit is sent in several parts, and a part's answer is not waited for. The connection goes on after it.
#[test]
fn a_disk_that_is_full_in_a_large_commit_is_named_and_loses_nothing() {
    let fresh = fresh();
    let blocking = Blocking::new().unwrap();
    let mut indexer = indexer(little_room(&fresh.location), 3_000);
    indexer.source().at_once = 3_000;
    let error = blocking.wait(indexer.step()).unwrap_err();
    assert!(
        matches!(&error, SyncError::Store(StoreError::Full(_))),
        "{error}"
    );
    let deployment = indexer.deployment();
    assert_eq!(indexer.store().event_count(deployment).unwrap(), 0);
    // A batch for which there is room.
    indexer.source().at_once = 50;
    blocking.wait(indexer.step()).unwrap();
    let cursor = indexer.store().cursor(deployment).unwrap();
    assert_eq!(cursor.unwrap().head.number, 50);
    let digest = indexer.store().digest(deployment).unwrap();
    assert_eq!(indexer.store().rebuild_digest(deployment).unwrap(), digest);
}

/// SQLite's limit is the connection's.
fn make_room(location: &Location) -> Database {
    let mut database = location.open().unwrap();
    if let Database::Postgres(_) = database {
        database.script("DROP FUNCTION full_disk CASCADE").unwrap();
    }
    database
}

#[test]
fn a_full_disk_is_named_and_loses_nothing() {
    let fresh = fresh();
    let blocking = Blocking::new().unwrap();
    let mut small = indexer(little_room(&fresh.location), 3_000);
    let (error, through) = loop {
        match blocking.wait(small.step()) {
            Ok(progress) => assert!(matches!(progress, Progress::Advanced { .. })),
            Err(error) => {
                let deployment = small.deployment();
                let cursor = small.store().cursor(deployment).unwrap();
                break (error, cursor.unwrap().head.number);
            }
        }
    };
    assert!(
        matches!(&error, SyncError::Store(StoreError::Full(_))),
        "{error}"
    );
    assert!(error.to_string().contains("disk"), "{error}");
    drop(small);
    assert!(through < 3_000, "{through}");
    let mut large = indexer(make_room(&fresh.location), through);
    let deployment = large.deployment();
    let digest = large.store().digest(deployment).unwrap();
    assert_eq!(large.store().rebuild_digest(deployment).unwrap(), digest);
    large.source().blocks = 3_000;
    assert_eq!(blocking.wait(large.catch_up(|_| ())).unwrap(), 3_000);
}

#[test]
fn a_store_that_another_connection_writes_is_busy_and_then_it_is_not() {
    become_busy_and_free(100);
}

/// The blocks after the failed commit were read ahead (IDX-50).
#[test]
fn a_commit_that_failed_is_repeated_before_what_was_read_ahead() {
    become_busy_and_free(1_000);
}

fn become_busy_and_free(blocks: u64) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("index.sqlite");
    let open = || {
        let sqlite = Sqlite::open(&file).unwrap();
        sqlite.wait_for_writers(Duration::ZERO).unwrap();
        sqlite
    };
    let mut indexer = indexer(open(), blocks);
    let mut other = open();
    other.script("BEGIN IMMEDIATE").unwrap();
    let blocking = Blocking::new().unwrap();
    let error = blocking.wait(indexer.step()).unwrap_err();
    assert!(error.is_passing(), "{error}");
    other.script("ROLLBACK").unwrap();
    assert_eq!(blocking.wait(indexer.catch_up(|_| ())).unwrap(), blocks);
    let deployment = indexer.deployment();
    let digest = indexer.store().digest(deployment).unwrap();
    assert_eq!(indexer.store().rebuild_digest(deployment).unwrap(), digest);
    let events: Vec<_> = (1..=blocks)
        .flat_map(|it| indexer.source().events(it))
        .collect();
    assert_eq!(digest, fold(&events).unwrap().digest());
}

#[test]
fn a_store_of_other_contracts_or_another_start_is_refused() {
    let mut store = Store::open(database()).unwrap();
    store.claim(&deployment()).unwrap();
    let mut later = deployment();
    later.start = 2;
    let mut others = deployment();
    if let concord_index::Contracts::Evm(addresses) = &mut others.contracts {
        addresses.validation = Some(Address::from([9; 20]));
    }
    for other in [later, others] {
        let error = store.claim(&other).unwrap_err();
        assert!(
            matches!(error, StoreError::OtherDeployment { .. }),
            "{error}"
        );
    }
}

#[test]
fn tags_keys_and_texts_of_any_length_and_with_nul_are_stored() {
    // Not compressible, and longer than an entry of an index may be.
    let long: String = (0..4_000u32)
        .map(|number| char::from(b'!' + u8::try_from(number * number % 94).unwrap()))
        .collect();
    let long = format!("\0{long}\u{1}");
    let mut store = Store::open(database()).unwrap();
    let id = store.claim(&deployment()).unwrap();
    let mut given = open(1, 1, 1, 80);
    if let Event::OpenFeedback {
        tag1, tag2, uri, ..
    } = &mut given
    {
        (*tag1, *tag2, *uri) = (long.clone(), format!("{long}2"), long.clone());
    }
    let set = Event::MetadataSet {
        agent: agent(1),
        key: long.clone(),
        value: vec![1],
    };
    let events = [registered(1), given, set];
    let batch = Batch {
        through: world(1).header(1),
        parent: None,
        headers: vec![],
        events: (0..).zip(events).map(|(log, it)| at(1, log, it)).collect(),
        undecoded: vec![],
        suspects: Vec::new(),
    };
    store.commit(id, &batch, None, 64).unwrap();
    assert_eq!(store.digest(id).unwrap(), store.rebuild_digest(id).unwrap());
    let metadata = store.metadata(id, agent(1)).unwrap();
    assert_eq!(metadata[0].1.key, long);
    let clients = [account(1)];
    for reviewers in [None, Some(&clients[..])] {
        let count = |store: &mut Store<_>, tag: &str| {
            let found = store.open_summary(id, agent(1), reviewers, (tag, ""));
            found.unwrap().summary.count
        };
        assert_eq!(count(&mut store, &long), 1);
        assert_eq!(count(&mut store, &long[..200]), 0);
    }
}
