//! What a store refuses, and what is left after a failure.
use crate::world::{World, deployment};
use concord_chain::Blocking;
use concord_index::{
    Indexer, Options, Progress, StoreError, SyncError,
    store::{Engine, Sqlite, Store},
};
use concord_registry::evm::Address;

fn world(blocks: u64) -> World {
    World {
        blocks,
        at_once: 50,
        fork: u64::MAX,
        name: 1,
    }
}

fn indexer(engine: Sqlite, blocks: u64) -> Indexer<World, Sqlite> {
    let store = Store::open(engine).unwrap();
    Indexer::new(world(blocks), store, &deployment(), Options::default()).unwrap()
}

#[test]
fn a_full_disk_is_named_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("index.sqlite");
    let blocking = Blocking::new().unwrap();
    let sqlite = Sqlite::open(&file).unwrap();
    sqlite.limit_pages(150).unwrap(); // 600 kB, of which the empty tables take a third
    let mut small = indexer(sqlite, 3_000);
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
    let mut large = indexer(Sqlite::open(&file).unwrap(), through);
    let deployment = large.deployment();
    let digest = large.store().digest(deployment).unwrap();
    assert_eq!(large.store().rebuild_digest(deployment).unwrap(), digest);
    large.source().blocks = 3_000;
    assert_eq!(blocking.wait(large.catch_up(|_| ())).unwrap(), 3_000);
}

#[test]
fn a_second_writer_is_refused_until_the_first_one_ends() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("index.sqlite");
    let open = || Store::open(Sqlite::open(&file).unwrap()).unwrap();
    let mut first = open();
    first.claim(&deployment()).unwrap();
    let error = open().claim(&deployment()).unwrap_err();
    assert!(matches!(error, StoreError::SecondWriter { .. }), "{error}");
    // Another deployment has a writer of its own, and readers need no claim.
    let mut other = deployment();
    other.chain = "eip155:1".parse().unwrap();
    open().claim(&other).unwrap();
    assert!(open().find(&deployment()).unwrap().is_some());
    drop(first);
    open().claim(&deployment()).unwrap();
}

#[test]
fn a_store_of_other_contracts_or_another_start_is_refused() {
    let mut store = Store::open(Sqlite::in_memory().unwrap()).unwrap();
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
fn a_store_of_another_schema_is_refused_and_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("index.sqlite");
    let open = || Store::open(Sqlite::open(&file).unwrap());
    open().unwrap();
    for (version, advice) in [(1, "rebuild"), (4, "use the version that wrote it")] {
        let mut sqlite = Sqlite::open(&file).unwrap();
        let sql = format!("UPDATE schema_version SET version = {version}");
        sqlite.script(&sql).unwrap();
        let error = open().unwrap_err();
        assert!(matches!(error, StoreError::Schema { found, .. } if found == version));
        assert!(error.to_string().contains(advice), "{error}");
    }
}
