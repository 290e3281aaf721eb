//! What a store refuses, and what is left after a failure.
use crate::{
    database::{database, fresh},
    world::{World, account, agent, at, deployment, open, registered},
};
use concord_chain::Blocking;
use concord_index::{
    Indexer, Options, Progress, StoreError, SyncError,
    batch::Batch,
    store::{Engine, Sqlite, Store},
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
fn a_store_that_another_connection_writes_is_busy_and_then_it_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("index.sqlite");
    let open = || {
        let sqlite = Sqlite::open(&file).unwrap();
        sqlite.wait_for_writers(Duration::ZERO).unwrap();
        sqlite
    };
    let mut indexer = indexer(open(), 100);
    let mut other = open();
    other.script("BEGIN IMMEDIATE").unwrap();
    let blocking = Blocking::new().unwrap();
    let error = blocking.wait(indexer.step()).unwrap_err();
    assert!(error.is_passing(), "{error}");
    other.script("ROLLBACK").unwrap();
    assert_eq!(blocking.wait(indexer.catch_up(|_| ())).unwrap(), 100);
    let deployment = indexer.deployment();
    let digest = indexer.store().digest(deployment).unwrap();
    assert_eq!(indexer.store().rebuild_digest(deployment).unwrap(), digest);
}

#[test]
fn a_second_writer_is_refused_until_the_first_one_ends() {
    let fresh = fresh();
    let open = || Store::open(fresh.location.open().unwrap()).unwrap();
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
fn a_store_of_another_schema_is_refused_and_left_as_it_is() {
    let fresh = fresh();
    let open = || Store::open(fresh.location.open().unwrap());
    open().unwrap();
    for (version, advice) in [(4, "rebuild"), (7, "use the version that wrote it")] {
        let mut database = fresh.location.open().unwrap();
        let sql = format!("UPDATE schema_version SET version = {version}");
        database.script(&sql).unwrap();
        let error = open().unwrap_err();
        assert!(matches!(error, StoreError::Schema { found, .. } if found == version));
        assert!(error.to_string().contains(advice), "{error}");
    }
}

/// The store of the version before had fewer columns of registration files.
#[test]
fn r45_a_store_of_the_version_before_is_brought_up_to_date() {
    let fresh = fresh();
    let mut store = Store::open(fresh.location.open().unwrap()).unwrap();
    let id = store.claim(&deployment()).unwrap();
    let file = r#"{"type":"https://eips.ethereum.org/EIPS/eip-8004#registration-v1","name":"Ann","description":"d","image":"i","services":[{"name":"MCP","endpoint":"https://a.example","version":"7","mcpTools":["t"]}],"registrations":[],"supportedTrust":["tee"]}"#;
    let uris = [file, "", "ipfs://not-fetched"];
    let events = (1u8..).zip(uris).map(|(number, uri)| {
        let registered = Event::AgentRegistered {
            agent: agent(number),
            owner: account(number),
            uri: uri.to_owned(),
        };
        at(1, number.into(), registered)
    });
    let batch = Batch {
        through: world(1).header(1),
        parent: None,
        headers: vec![],
        events: events.collect(),
        undecoded: vec![],
    };
    store.commit(id, &batch, None, 64).unwrap();
    let before = store.file_digest(id).unwrap();
    let deployed = store.deployments().unwrap().remove(0);
    drop(store);
    let mut database = fresh.location.open().unwrap();
    for column in [
        "mcp_version",
        "a2a_version",
        "oasf_version",
        "agent_wallet",
        "supported_trusts",
        "mcp_tools",
        "mcp_prompts",
        "mcp_resources",
        "a2a_skills",
        "oasf_skills",
        "oasf_domains",
    ] {
        let sql = format!("ALTER TABLE registration DROP COLUMN {column}");
        database.script(&sql).unwrap();
    }
    let sql = "UPDATE schema_version SET version = 5";
    database.script(sql).unwrap();
    drop(database);

    let read_only = fresh.location.open_read_only().unwrap();
    let error = Store::open_read_only(read_only).unwrap_err().to_string();
    assert!(error.contains("brings it up to date"), "{error}");
    let mut writer = fresh.location.open().unwrap(); // of the version before
    let name = format!("{}/{}", deployed.chain, deployed.registry);
    writer.claim(&name).unwrap();
    let error = Store::open(fresh.location.open().unwrap()).unwrap_err();
    assert!(matches!(error, StoreError::SecondWriter { .. }), "{error}");
    drop(writer);
    let mut store = Store::open(fresh.location.open().unwrap()).unwrap();
    store.claim(&deployment()).unwrap(); // the update has given its own claim back
    assert_eq!(store.file_digest(id).unwrap(), before);
    assert_eq!(store.derived_digest(id).unwrap(), before);
    let row = store.registration(id, agent(1)).unwrap().unwrap();
    assert_eq!(row.mcp_version.as_deref(), Some("7"));
    assert_eq!(row.supported_trusts.entries(), ["tee"]);
    Store::open_read_only(fresh.location.open_read_only().unwrap()).unwrap();
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
