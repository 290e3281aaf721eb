//! Stores of other versions.
use crate::store::world::{World, account, agent, at, deployment};
use crate::worlds::database::fresh;
use crate::worlds::earlier::{make_version_10, make_version_11};
use concord_index::{
    Place, StoreError,
    batch::{Batch, IndexedEvent, UndecodedEvent},
    state::{StateRead, Subject},
    store::{Engine, Reorganization, Reorganizations, Store},
    table::{File, FileState},
};
use concord_registry::{
    Event,
    event::{EventError, Position, Profile, RawEvent, TransactionId},
};

fn world(blocks: u64) -> World {
    World {
        blocks,
        at_once: 50,
        fork: u64::MAX,
        name: 1,
    }
}

#[test]
fn a_store_of_another_schema_is_refused_and_left_as_it_is() {
    let fresh = fresh();
    let open = || Store::open(fresh.location.open().unwrap());
    open().unwrap();
    for (version, advice) in [(4, "rebuild"), (13, "use the version that wrote it")] {
        let mut database = fresh.location.open().unwrap();
        let sql = format!("UPDATE schema_version SET version = {version}");
        database.script(&sql).unwrap();
        let error = open().unwrap_err();
        assert!(matches!(error, StoreError::Schema { found, .. } if found == version));
        assert!(error.to_string().contains(advice), "{error}");
    }
}

/// IDX-18: the store of version 9 refused for good what only its host had decided.
#[test]
fn a_store_of_version_9_fetches_again_what_it_refused() {
    let fresh = fresh();
    let open = || Store::open(fresh.location.open().unwrap()).unwrap();
    let mut store = open();
    let id = store.claim(&deployment()).unwrap();
    let world = world(3);
    let batch = Batch {
        through: world.header(3),
        parent: None,
        headers: vec![],
        events: (1..=3).flat_map(|it| world.events(it)).collect(),
        undecoded: vec![],
        suspects: Vec::new(),
    };
    store.commit(id, &batch, None, 64).unwrap();
    let wanted = store.due_files(id, 0, 9).unwrap();
    let refused = File {
        state: FileState::Refused,
        attempts: 1,
        next_at: i64::MAX,
        checked_at: Some(5),
        reason: Some("the file is longer than 1048576 bytes".to_owned()),
        ..wanted[1].clone()
    };
    store.take_file(id, &refused).unwrap();
    assert_eq!(store.due_files(id, i64::MAX, 9).unwrap().len(), 2);
    let digest = store.file_digest(id).unwrap();
    drop(store);
    let mut database = fresh.location.open().unwrap();
    make_version_10(&mut database);
    let sql = "UPDATE schema_version SET version = 9";
    database.script(sql).unwrap();
    drop(database);
    let mut store = open();
    let due = store.due_files(id, 0, 9).unwrap();
    assert_eq!(due.len(), 3);
    let again = File {
        state: FileState::Failing,
        next_at: 0,
        ..refused
    };
    assert!(due.contains(&again), "{due:?}");
    assert_eq!(store.file_digest(id).unwrap(), digest);
    assert_eq!(store.derived_digest(id).unwrap(), digest);
}

/// The store of version 11 counted every event that it kept raw in one number, and asked no binding contract.
#[test]
fn r46_a_store_of_version_11_tells_unknown_events_from_malformed_ones() {
    let fresh = fresh();
    let open = || Store::open(fresh.location.open().unwrap()).unwrap();
    let mut store = open();
    let id = store.claim(&deployment()).unwrap();
    let world = world(3);
    let declared = |number| Event::MetadataSet {
        agent: agent(number),
        key: "agent-binding".to_owned(),
        value: vec![9; 20],
    };
    let raw = |log, reason: EventError| UndecodedEvent {
        place: Place::new(3, 0, Position::Evm { log }),
        transaction: TransactionId::Evm([6; 32]),
        raw: RawEvent::Evm {
            topics: vec![[5; 32]],
            data: vec![1],
        },
        is_unknown: reason == EventError::Unknown,
        reason: reason.to_string(),
    };
    let events = (1..=3).flat_map(|it| world.events(it));
    let batch = Batch {
        through: world.header(3),
        parent: None,
        headers: vec![world.header(3)],
        events: events.chain([at(3, 900, declared(1))]).collect(),
        undecoded: vec![
            raw(901, EventError::Unknown),
            raw(902, EventError::NotIndexed),
            raw(903, EventError::Unknown),
        ],
        suspects: Vec::new(),
    };
    store.commit(id, &batch, None, 64).unwrap();
    let subjects = store.unread(id, 999).unwrap();
    let read = StateRead {
        block: 3,
        facts: Vec::new(),
    };
    store.compare(id, &subjects, &read).unwrap();
    let before = store.completeness(id).unwrap();
    assert_eq!((before.undecoded, before.unknown), (1, 2));
    drop(store);
    make_version_11(&mut fresh.location.open().unwrap());
    let mut store = open();
    assert_eq!(store.completeness(id).unwrap(), before);
    assert_eq!(store.unread(id, 9).unwrap(), [Subject::Agent(agent(1))]);
}

/// Takes away what version 9 added.
fn make_version_8(database: &mut impl Engine) {
    make_version_10(database);
    let added = [
        "DROP INDEX difference_by_block",
        "UPDATE schema_version SET version = 8",
    ];
    for statement in added {
        database.script(statement).unwrap();
    }
}

/// Takes away what version 8 added.
pub fn make_version_7(database: &mut impl Engine) {
    make_version_8(database);
    let added = [
        "DROP TABLE unread",
        "DROP TABLE difference",
        "UPDATE schema_version SET version = 7",
    ];
    for statement in added {
        database.script(statement).unwrap();
    }
}

/// A store of 40 blocks whose state was read, of which only agent 1 is left.
#[test]
fn r45_a_store_of_the_version_before_is_as_it_was() {
    let fresh = fresh();
    let open = || Store::open(fresh.location.open().unwrap()).unwrap();
    let mut store = open();
    let id = store.claim(&deployment()).unwrap();
    let world = world(40);
    let batch = Batch {
        through: world.header(40),
        parent: None,
        headers: vec![world.header(40)],
        events: (1..=40).flat_map(|it| world.events(it)).collect(),
        undecoded: vec![],
        suspects: Vec::new(),
    };
    store.commit(id, &batch, None, 64).unwrap();
    let mut subjects = store.unread(id, 999).unwrap();
    let left = subjects.remove(0);
    let read = StateRead {
        block: 40,
        facts: Vec::new(),
    };
    store.compare(id, &subjects, &read).unwrap();
    let digest = store.digest(id).unwrap();
    drop(store);
    make_version_8(&mut fresh.location.open().unwrap());
    let mut store = open();
    assert_eq!(store.digest(id).unwrap(), digest);
    assert_eq!(store.unread(id, 999).unwrap(), [left]);
    store.roll_back(id, &world.header(39), 1).unwrap(); // which looks by block
}

/// The store of version 7 never read the registries' state: all of it is to be read.
#[test]
fn r45_a_store_of_version_7_has_all_state_to_read() {
    let fresh = fresh();
    let mut store = Store::open(fresh.location.open().unwrap()).unwrap();
    let id = store.claim(&deployment()).unwrap();
    let world = world(40);
    for number in 1..=40 {
        let batch = Batch {
            through: world.header(number),
            parent: None,
            headers: vec![world.header(number)],
            events: world.events(number),
            undecoded: vec![],
            suspects: Vec::new(),
        };
        store.commit(id, &batch, None, 64).unwrap();
    }
    let (digest, unread) = (store.digest(id).unwrap(), store.unread(id, 999).unwrap());
    assert!(unread.len() > 10, "{unread:?}");
    drop(store);
    let mut database = fresh.location.open().unwrap();
    make_version_7(&mut database);
    drop(database);
    let mut store = Store::open(fresh.location.open().unwrap()).unwrap();
    assert_eq!(store.digest(id).unwrap(), digest);
    assert_eq!(store.unread(id, 999).unwrap(), unread);
    assert_eq!(store.differences(id, 9).unwrap(), []);
}

/// Takes away what version 7 added.
fn make_version_6(database: &mut impl Engine) {
    make_version_7(database);
    let added = [
        "DROP TABLE reorganization",
        "DROP INDEX client_most_active",
        "DROP INDEX total_ranked_by_average",
        "DROP INDEX total_ranked_by_count",
        "CREATE INDEX total_by_average ON total (deployment, profile, tag1, tag2, average, agent)",
        "CREATE INDEX total_by_count ON total (deployment, profile, tag1, tag2, count, agent)",
        "ALTER TABLE client DROP COLUMN count",
        "ALTER TABLE client DROP COLUMN paid",
        "ALTER TABLE agent DROP COLUMN authorized_reviewers",
        "ALTER TABLE agent DROP COLUMN open_reviewers",
        "ALTER TABLE agent DROP COLUMN payers",
        "UPDATE schema_version SET version = 6",
    ];
    for statement in added {
        database.script(statement).unwrap();
    }
}

/// Authorized feedback about agent 1 by three clients: two of it paid, one of these revoked.
fn authorized(block: u64) -> Vec<IndexedEvent> {
    let (agent, index, profile) = (agent(1), 1, Profile::Authorized);
    let given = |client: u8| Event::AuthorizedFeedback {
        agent,
        client: account(client),
        index,
        score: 80,
        tag1: [0; 32],
        tag2: [0; 32],
        uri: String::new(),
        hash: [7; 32],
        authorized_by: None,
    };
    let paid = |client: u8| Event::PaymentProven {
        agent,
        client: account(client),
        index,
        payee: account(9),
        token: account(200),
        amount: 5,
        task_ref_hash: [client; 32],
        paid_at: 1,
        expiry: 2,
        facilitator: account(8),
        signature: [3; 64],
    };
    let revoked = Event::FeedbackRevoked {
        profile,
        agent,
        client: account(2),
        index,
    };
    let events = [given(1), given(2), given(3), paid(2), paid(3), revoked];
    (100..)
        .zip(events)
        .map(|(log, it)| at(block, log, it))
        .collect()
}

/// The store of version 6 did not note reorganizations, nor count reviewers.
#[test]
fn r45_a_store_of_version_6_notes_reorganizations_from_now_on() {
    let fresh = fresh();
    let open = || Store::open(fresh.location.open().unwrap());
    let mut store = open().unwrap();
    let id = store.claim(&deployment()).unwrap();
    let world = world(40);
    let batch = |number: u64| Batch {
        through: world.header(number),
        parent: None,
        headers: vec![world.header(number)],
        events: world.events(number),
        undecoded: vec![],
        suspects: Vec::new(),
    };
    for number in 1..=40 {
        let mut batch = batch(number);
        if number == 6 {
            batch.events.extend(authorized(number));
        }
        store.commit(id, &batch, None, 64).unwrap();
    }
    let row = store.agent(id, agent(1)).unwrap().unwrap();
    assert_eq!((row.authorized_reviewers, row.payers), (2, 1));
    let digest = store.digest(id).unwrap();
    drop(store);
    let mut database = fresh.location.open().unwrap();
    make_version_6(&mut database);
    drop(database);

    let read_only = fresh.location.open_read_only().unwrap();
    let error = Store::open_read_only(read_only).unwrap_err().to_string();
    assert!(error.contains("brings it up to date"), "{error}");
    let mut store = open().unwrap();
    store.claim(&deployment()).unwrap();
    assert_eq!(store.digest(id).unwrap(), digest);
    let none = store.reorganizations(id, 9).unwrap();
    assert_eq!(none, Reorganizations::default());
    store
        .roll_back(id, &world.header(38), 1_700_000_009)
        .unwrap();
    store
        .roll_back(id, &world.header(37), 1_700_000_010)
        .unwrap();
    let noted = store.reorganizations(id, 1).unwrap();
    assert_eq!((noted.count, noted.deepest), (2, 2));
    let last = Reorganization {
        number: 2,
        at: 1_700_000_010,
        from: 38,
        to: 38,
        fork_hash: world.header(37).hash,
        replaced_hash: world.header(38).hash,
        events: world.events(38).len() as u64,
    };
    assert_eq!(noted.newest, [last]);
    store.rebuild(id).unwrap(); // what was noted is of no event, and stays
    assert_eq!(store.reorganizations(id, 1).unwrap(), noted);
}

/// The store of version 5 had fewer columns of registration files.
#[test]
fn r45_a_store_of_version_5_is_brought_up_to_date() {
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
        suspects: Vec::new(),
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
    make_version_6(&mut database);
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
