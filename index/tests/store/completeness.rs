//! R46: what was not seen is found, and ends when it is seen.
use crate::store::world::{account, agent, at, deployment, open, registered};
use crate::worlds::asked::Noting;
use crate::worlds::database::database;
use concord_index::{
    batch::{Batch, Header, IndexedEvent},
    query::{Completeness, Gap, IncompleteAgent, Reviewers, ReviewersError},
    state::{Fact, Field, StateRead, Subject},
    store::{Database, DeploymentId, Engine, Store},
    table::ClientKey,
};
use concord_registry::{
    Event,
    event::{AccountId, AgentId, Profile},
};

const HEAD: Header = Header {
    number: 9,
    hash: [9; 32],
    parent: [8; 32],
    time: 1_700_000_009,
};

/// In one block, in this order.
fn placed(events: Vec<Event>) -> Vec<IndexedEvent> {
    let events = (0..).zip(events);
    events.map(|(log, it)| at(9, log, it)).collect()
}

fn commit<E: Engine>(store: &mut Store<E>, id: DeploymentId, events: Vec<IndexedEvent>) {
    let batch = Batch {
        through: HEAD,
        parent: None,
        headers: vec![HEAD],
        events,
        undecoded: vec![],
        suspects: Vec::new(),
    };
    store.commit(id, &batch, None, 64).unwrap();
}

fn stored(events: Vec<Event>) -> (Store<Database>, DeploymentId) {
    stored_as(placed(events))
}

fn stored_as(events: Vec<IndexedEvent>) -> (Store<Database>, DeploymentId) {
    let mut store = Store::open(database()).unwrap();
    let id = store.claim(&deployment()).unwrap();
    commit(&mut store, id, events);
    assert_eq!(store.rebuild_digest(id).unwrap(), store.digest(id).unwrap()); // R45
    (store, id)
}

fn completeness(events: Vec<Event>) -> Completeness {
    let (mut store, id) = stored(events);
    store.completeness(id).unwrap()
}

fn incomplete(agent: AgentId) -> IncompleteAgent {
    IncompleteAgent {
        agent,
        is_unregistered: false,
        unexplained: 0,
        gaps: vec![],
    }
}

fn revoked(index: u64) -> Event {
    Event::FeedbackRevoked {
        profile: Profile::Open,
        agent: agent(1),
        client: account(5),
        index,
    }
}

#[test]
fn r46_nothing_is_missing_where_every_index_was_seen() {
    let events = vec![
        registered(1),
        open(1, 5, 1, 7),
        open(1, 5, 2, 8),
        revoked(2),
    ];
    assert!(completeness(events).is_complete());
}

#[test]
fn r46_a_gap_between_indices_is_named_until_it_is_filled() {
    let with_gap = vec![registered(1), open(1, 5, 1, 7), open(1, 5, 4, 8)];
    let gap = Gap {
        client: ClientKey {
            profile: Profile::Open,
            agent: agent(1),
            client: account(5),
        },
        first: 2,
        last: 3,
    };
    let expected = IncompleteAgent {
        gaps: vec![gap],
        ..incomplete(agent(1))
    };
    assert_eq!(completeness(with_gap.clone()).agents, [expected]);
    let filled = [with_gap, vec![open(1, 5, 3, 9), open(1, 5, 2, 9)]].concat();
    assert!(completeness(filled).is_complete());
}

/// Five hundred clients, of whom every fifth has gaps: at the first index, between two, and more than one.
#[test]
fn r46_the_gaps_of_many_clients_are_found_with_few_statements() {
    let (noting, log) = Noting::of(database());
    let mut store = Store::open(noting).unwrap();
    let id = store.claim(&deployment()).unwrap();
    let client = |number: u64| {
        let mut address = [9; 20];
        address[..8].copy_from_slice(&number.to_be_bytes());
        AccountId::Evm(address)
    };
    let of = |number: u64| ClientKey {
        profile: Profile::Open,
        agent: agent(1),
        client: client(number),
    };
    let given = |number: u64, index: u64| Event::OpenFeedback {
        agent: agent(1),
        client: client(number),
        index,
        value: 7,
        decimals: 0,
        tag1: String::new(),
        tag2: String::new(),
        endpoint: String::new(),
        uri: String::new(),
        hash: [7; 32],
    };
    let indices = |number: u64| match number % 5 {
        0 => vec![2, 3, 6, 9],
        1 => vec![1],
        _ => vec![1, 2],
    };
    let mut expected = Vec::new();
    let mut events = vec![registered(1)];
    for number in 0..500 {
        events.extend(indices(number).into_iter().map(|it| given(number, it)));
        if number % 5 == 0 {
            let gaps = [(1, 1), (4, 5), (7, 8)];
            expected.extend(gaps.map(|(first, last)| Gap {
                client: of(number),
                first,
                last,
            }));
        }
    }
    commit(&mut store, id, placed(events));
    let compare = |store: &mut Store<Noting>, facts: &[(Field, &str)]| {
        let facts = facts.iter().map(|(field, value)| Fact {
            agent: agent(1),
            field: *field,
            value: (*value).to_owned(),
        });
        let read = StateRead {
            block: 9,
            facts: facts.collect(),
        };
        store
            .compare(id, &[Subject::Agent(agent(1))], &read)
            .unwrap();
    };
    let last = Field::LastIndex(Profile::Open, client(1));
    compare(
        &mut store,
        &[(Field::Clients(Profile::Open), "501"), (last, "4")],
    );
    expected.push(Gap {
        client: of(1),
        first: 2,
        last: 4,
    });
    let row = store.agent(id, agent(1)).unwrap().unwrap();
    assert_eq!(row.missing, 100 * 5 + 1 + 3);
    for limit in [0, 1, 200, 201, 301, 1_000] {
        log.begin();
        let found = store.first_gaps(id, (agent(1), &row), limit).unwrap();
        let statements = log.end();
        assert_eq!(found, expected[..limit.min(301)], "{limit}");
        let most = if limit == 0 { 1 } else { 3 }; // a list that is full is not asked for
        assert!(statements.len() <= most, "{statements:?}");
        let steps = statements.iter().filter(|it| it.sql.contains("feedback"));
        for it in steps {
            let by_key = "PRIMARY KEY (deployment=? AND profile=? AND agent=?)";
            assert!(
                it.plan.is_empty() || it.plan.contains(by_key),
                "{}",
                it.plan
            );
        }
    }
}

/// If only the state has further clients, there are no gaps in what was seen, and no feedback is read.
#[test]
fn r46_what_only_the_state_shows_to_be_missing_is_not_looked_for() {
    let (noting, log) = Noting::of(database());
    let mut store = Store::open(noting).unwrap();
    let id = store.claim(&deployment()).unwrap();
    let mut events = vec![registered(1)];
    events.extend((1..=200).map(|client| open(1, client, 1, 7)));
    commit(&mut store, id, placed(events));
    let read = StateRead {
        block: 9,
        facts: vec![Fact {
            agent: agent(1),
            field: Field::Clients(Profile::Open),
            value: "201".to_owned(),
        }],
    };
    store
        .compare(id, &[Subject::Agent(agent(1))], &read)
        .unwrap();
    let row = store.agent(id, agent(1)).unwrap().unwrap();
    assert_eq!(row.missing, 1);
    log.begin();
    let found = store.first_gaps(id, (agent(1), &row), 201).unwrap();
    assert_eq!((found, log.end().len()), (vec![], 1));
}

#[test]
fn r46_events_about_what_was_not_seen_are_counted() {
    let cases = [
        vec![registered(1), revoked(1)],
        vec![registered(1), open(1, 5, 1, 7), open(1, 5, 1, 8)],
        vec![registered(1), open(1, 5, 1, 7), revoked(1), revoked(1)],
        vec![registered(1), registered(1)],
    ];
    for events in cases {
        let expected = IncompleteAgent {
            unexplained: 1,
            ..incomplete(agent(1))
        };
        assert_eq!(
            completeness(events.clone()).agents,
            [expected],
            "{events:?}"
        );
    }
}

#[test]
fn r46_a_transfer_does_not_stand_for_a_registration_that_was_not_seen() {
    let transferred = Event::AgentTransferred {
        agent: agent(1),
        from: account(1),
        to: account(2),
    };
    let found = completeness(vec![transferred.clone()]).agents;
    assert!(found.len() == 1 && found[0].is_unregistered, "{found:?}");
    // The canonical contract's events end with the registration if the agent is given away meanwhile.
    assert!(completeness(vec![transferred, registered(1)]).is_complete());
}

#[test]
fn r46_an_agent_that_was_never_registered_is_incomplete() {
    let expected = IncompleteAgent {
        is_unregistered: true,
        ..incomplete(agent(1))
    };
    assert_eq!(completeness(vec![open(1, 5, 1, 7)]).agents, [expected]);
}

#[test]
fn r46_agent_ids_on_evm_are_contiguous() {
    let missing = |events| completeness(events).missing_ids;
    assert_eq!(
        missing(vec![registered(1), registered(2), registered(3)]),
        0
    );
    assert_eq!(missing(vec![registered(1), registered(4)]), 2);
    assert_eq!(missing(vec![registered(3)]), 2);
    // The canonical registries count from 0.
    assert_eq!(missing(vec![registered(0), registered(1)]), 0);
}

/// Only the canonical registries are upgradeable, and say so when they are deployed.
#[test]
fn r46_the_canonical_identity_registry_counts_from_0_whether_or_not_0_was_seen() {
    let reports = [
        Event::RegistryUpgraded {
            implementation: account(7),
        },
        Event::RegistryInitialized { version: 1 },
        Event::RegistryOwnerSet {
            from: account(0),
            to: account(7),
        },
    ];
    let missing = |emitter: u8, report: &Event, agents: &[u8]| {
        let report = IndexedEvent {
            registry: account(emitter),
            ..at(1, 0, report.clone())
        };
        let registered = agents.iter().map(|it| at(9, (*it).into(), registered(*it)));
        let events = [report].into_iter().chain(registered).collect();
        let (mut store, id) = stored_as(events);
        let missing = store.completeness(id).unwrap().missing_ids;
        let first = store.first_gap(id, 1).unwrap(); // which a repair reads from
        assert_eq!(first, (missing > 0).then_some(1));
        missing
    };
    let (identity, reputation) = (1, 2);
    for report in &reports {
        assert_eq!(missing(identity, report, &[1, 2]), 1, "{report:?}");
        assert_eq!(missing(identity, report, &[0, 1, 2]), 0);
        assert_eq!(missing(identity, report, &[3]), 3);
        // A canonical reputation registry may be over Concord's identity registry.
        assert_eq!(missing(reputation, report, &[1, 2]), 0);
    }
}

#[test]
fn a_repeated_index_leaves_the_first_feedback_as_it_is() {
    let (mut store, id) = stored(vec![registered(1), open(1, 5, 1, 7), open(1, 5, 1, 8)]);
    let summary = store
        .open_summary(id, agent(1), None, ("", ""))
        .unwrap()
        .summary;
    assert_eq!((summary.count, summary.value), (1, 7));
}

#[test]
fn r48_reviewers_are_named_or_everyone_is_asked_for() {
    let events = vec![
        registered(1),
        open(1, 18, 1, 10), // 18 decimals
        open(1, 18, 2, 20),
        open(1, 5, 1, 90_00000),
    ];
    let (mut store, id) = stored(events);
    let mut of = |reviewers: &Reviewers| {
        let accounts = reviewers.accounts().unwrap();
        let summary = store.open_summary(id, agent(1), accounts.as_deref(), ("", ""));
        let summary = summary.unwrap().summary;
        (summary.count, summary.value, summary.decimals)
    };
    let listed =
        |clients: &[u8]| Reviewers::Listed(clients.iter().map(|it| account(*it)).collect());
    assert_eq!(of(&listed(&[18])), (2, 15, 18));
    assert_eq!(of(&listed(&[7])), (0, 0, 0));
    // As on chain, one that is listed twice counts twice.
    assert_eq!(of(&listed(&[18, 18])), (4, 15, 18));
    assert_eq!(of(&Reviewers::Everyone).0, 3);
    let file = tempfile::NamedTempFile::new().unwrap();
    let listed = format!("eip155:31337:{}", account(18));
    let other = format!("eip155:1:{}", account(7));
    std::fs::write(file.path(), list_of(&[&listed, &other])).unwrap();
    assert_eq!(of(&list_in(&file, "eip155:31337")), (2, 15, 18));
}

fn list_of(accounts: &[&str]) -> String {
    let reviewers = accounts
        .iter()
        .map(|it| serde_json::json!({ "account": it }));
    serde_json::json!({
        "type": "concord-reviewer-list-v1",
        "name": "ours",
        "created": "2026-11-23T00:00:00Z",
        "reviewers": reviewers.collect::<Vec<_>>(),
    })
    .to_string()
}

fn list_in(file: &tempfile::NamedTempFile, network: &str) -> Reviewers {
    Reviewers::List {
        path: file.path().to_owned(),
        network: network.to_owned(),
    }
}

#[test]
fn r48_no_reviewers_are_not_everyone() {
    assert_eq!(
        Reviewers::Listed(vec![]).accounts(),
        Err(ReviewersError::Empty)
    );
    let file = tempfile::NamedTempFile::new().unwrap();
    let account = format!("eip155:31337:{}", account(18));
    std::fs::write(file.path(), list_of(&[&account])).unwrap();
    let nobody = list_in(&file, "eip155:1").accounts();
    assert_eq!(nobody, Err(ReviewersError::Empty), "another chain's");
    std::fs::write(file.path(), list_of(&["eip155:31337:0x12"])).unwrap();
    let error = list_in(&file, "eip155:31337").accounts().unwrap_err();
    assert!(
        error.to_string().contains("$.reviewers[0].account"),
        "{error}"
    );
    std::fs::write(file.path(), format!("{account}\n")).unwrap();
    let error = list_in(&file, "eip155:31337").accounts().unwrap_err();
    assert!(matches!(error, ReviewersError::Malformed { .. }), "{error}");
}
