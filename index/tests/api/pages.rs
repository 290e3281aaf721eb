//! How long answers are: anyone can append responses, set metadata, leave gaps, and put long texts on a chain.
use crate::api::{
    server::{Server, patient},
    subgraph,
};
use crate::worlds::given::{account, agent, all_given, batch, name};
use concord_index::{
    Place,
    api::Limits,
    batch::UndecodedEvent,
    state::{Fact, Field, StateRead, Subject},
};
use concord_registry::{
    Event,
    event::{Position, Profile, RawEvent, TransactionId},
};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// After every other block.
const BLOCK: u64 = 5_000;

fn commit(server: &mut Server, events: Vec<Event>) {
    let id = server.ids[0];
    let block = server.store.cursor(id).unwrap().unwrap().head.number;
    let next = BLOCK.max(block + 1);
    let batch = batch(0, next, events);
    server.store.commit(id, &batch, None, 64).unwrap();
}

/// A feedback of account 99 about agent 12, whom nobody else reviews.
fn given(index: u64, uri: String) -> Event {
    Event::OpenFeedback {
        agent: agent(12),
        client: account(99),
        index,
        value: 1,
        decimals: 0,
        tag1: String::new(),
        tag2: String::new(),
        endpoint: String::new(),
        uri,
        hash: [7; 32],
    }
}

fn response(uri: String) -> Event {
    Event::ResponseAppended {
        profile: Profile::Open,
        agent: agent(12),
        client: account(99),
        index: 1,
        responder: account(9),
        uri,
        hash: [8; 32],
    }
}

fn set(key: String, value: Vec<u8>) -> Event {
    Event::MetadataSet {
        agent: agent(12),
        key,
        value,
    }
}

fn feedback_path() -> String {
    format!("/v1/feedback/{}/open/{}/1", name(0, 12), account(99))
}

/// Everything that a path lists, page by page, and each page's length.
async fn walk(server: &Server, path: &str, more: &str) -> (Vec<Value>, Vec<usize>) {
    let (mut items, mut lengths) = (Vec::new(), Vec::new());
    let mut cursor = String::new();
    loop {
        let page = server.got(&format!("{path}?{more}{cursor}")).await;
        let of = page["items"].as_array().unwrap();
        lengths.push(of.len());
        items.extend(of.iter().cloned());
        match page["nextCursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return (items, lengths),
        }
    }
}

#[tokio::test]
async fn responses_come_in_pages() {
    let mut server = Server::start();
    let mut events = vec![given(1, String::new())];
    events.extend((0..450).map(|number| response(format!("ipfs://{number}"))));
    commit(&mut server, events);
    let one = server.got(&feedback_path()).await;
    assert_eq!(one["responses"].as_array().unwrap().len(), 200);
    let path = format!("{}/responses", feedback_path());
    let rest = one["nextResponses"].as_str().unwrap();
    let second = server.got(&format!("{path}?cursor={rest}")).await;
    assert_eq!(second["items"][0]["number"], 201);
    let (all, lengths) = walk(&server, &path, "pageSize=70").await;
    assert_eq!(lengths, [70, 70, 70, 70, 70, 70, 30]);
    let uris: Vec<String> = (0..450).map(|number| format!("ipfs://{number}")).collect();
    let found: Vec<&str> = all
        .iter()
        .map(|it| it["responseURI"].as_str().unwrap())
        .collect();
    assert_eq!(found, uris);

    let elsewhere = format!("/v1/agents/{}/metadata?cursor={rest}", name(0, 12));
    let (status, code, field) = server.get(&elsewhere).await.error();
    assert_eq!((status, &*code, field), (400, "malformed", json!("cursor")));
    let none = path.replace("/1/responses", "/2/responses");
    assert_eq!(server.get(&none).await.error().0, 404);
    let zero = path.replace("/1/responses", "/0/responses");
    assert_eq!(server.get(&zero).await.error().0, 400, "R44");
}

#[tokio::test]
async fn metadata_comes_in_pages() {
    let mut server = Server::start();
    let keys: BTreeSet<String> = (0..450).map(|number| format!("key {number:03}")).collect();
    let events = keys.iter().map(|key| set(key.clone(), vec![1]));
    commit(&mut server, events.collect());
    let path = format!("/v1/agents/{}", name(0, 12));
    let one = server.got(&path).await;
    assert_eq!(one["metadata"].as_array().unwrap().len(), 200);
    assert!(one["nextMetadata"].is_string());
    let (all, lengths) = walk(&server, &format!("{path}/metadata"), "pageSize=100").await;
    assert_eq!(lengths, [100, 100, 100, 100, 50]);
    let text = |it: &Value| it["key"].as_str().unwrap().to_owned();
    let found: BTreeSet<String> = all.iter().map(text).collect();
    assert_eq!((found.len(), all.len()), (450, 450));
    assert_eq!(found, keys);
    assert!(all[..100].is_sorted_by_key(text));
    let few = server.got(&format!("/v1/agents/{}", name(0, 1))).await;
    assert_eq!(few["nextMetadata"], Value::Null);
}

#[tokio::test]
async fn a_page_of_long_texts_ends_early_and_goes_on_where_it_ended() {
    const TEXT: usize = 100_000;
    let mut server = Server::with(Limits {
        bytes: 250_000,
        ..patient()
    });
    let long = |number: u64| format!("https://x.example/{number}{}", "x".repeat(TEXT));
    let mut events: Vec<Event> = (1..=5).map(|index| given(index, long(index))).collect();
    events.extend((1..=5).map(|number| response(long(number))));
    events.extend((1..=5).map(|number| set(long(number), vec![1])));
    events.extend((1..=5).map(|number| Event::AgentUriSet {
        agent: agent(u8::try_from(number).unwrap()),
        by: account(1),
        uri: long(number),
    }));
    events.extend((1..=5u8).map(|number| Event::ValidationRequested {
        agent: agent(12),
        validator: account(50),
        request: [number; 32],
        uri: long(number.into()),
        tag: None,
    }));
    commit(&mut server, events);
    let responses = format!("{}/responses", feedback_path());
    let metadata = format!("/v1/agents/{}/metadata", name(0, 12));
    let validations = format!("/v1/agents/{}/validations", name(0, 12));
    for path in [responses, metadata, validations] {
        let (all, lengths) = walk(&server, &path, "").await;
        assert_eq!((all.len(), &*lengths), (5, &[2, 2, 1][..]), "{path}");
    }
    let searches = [
        (
            "/v1/feedback/search",
            json!({ "reviewers": [account(99).to_string()] }),
            5,
        ),
        (
            "/v1/agents/search",
            json!({ "chains": ["eip155:31337"] }),
            12,
        ),
    ];
    for (path, filters, count) in searches {
        let (mut found, mut pages, mut cursor) = (BTreeSet::new(), 0, Value::Null);
        loop {
            let options = match &cursor {
                Value::Null => json!({}),
                next => json!({ "cursor": next }),
            };
            let body = json!({ "filters": filters, "options": options });
            let answer = server.post(path, &body).await;
            assert!(answer.text.len() < 260_000, "{path}: {}", answer.text.len());
            let page = answer.json();
            let items = page["items"].as_array().unwrap();
            assert!(!items.is_empty());
            for item in items {
                assert!(found.insert(item.to_string()), "{path}: twice");
            }
            pages += 1;
            cursor = page["nextCursor"].clone();
            if cursor.is_null() {
                break;
            }
        }
        assert_eq!((found.len(), pages), (count, 3), "{path}");
    }
    // One item that is longer than a page may be is a page.
    let one = Server::with(Limits {
        bytes: 1,
        ..patient()
    });
    let page = one.posted("/v1/agents/search", json!({})).await;
    assert_eq!(page["items"].as_array().unwrap().len(), 1);
    assert!(page["nextCursor"].is_string());
}

#[tokio::test]
async fn r46_gaps_are_listed_up_to_a_page_and_said_to_be_more() {
    let mut server = Server::start();
    let odd = |count: u64| {
        (0..count)
            .map(|it| given(2 * it + 1, String::new()))
            .collect()
    };
    commit(&mut server, odd(301));
    let path = format!("/v1/agents/{}", name(0, 12));
    let one = server.got(&path).await;
    assert_eq!(one["gaps"].as_array().unwrap().len(), 200);
    assert_eq!(
        (&one["moreGaps"], &one["incomplete"]),
        (&json!(true), &json!(true))
    );
    let gap = json!({
        "profile": "open", "clientAddress": account(99).to_string(), "first": 2, "last": 2,
    });
    assert_eq!(one["gaps"][0], gap);
    let whole = server.got(&format!("/v1/agents/{}", name(0, 1))).await;
    assert_eq!(
        (&whole["gaps"], &whole["moreGaps"]),
        (&json!([]), &json!(false))
    );
}

#[tokio::test]
async fn agents_of_one_wallet_come_in_pages_and_few_with_each_feedback() {
    let mut server = Server::start();
    let word = |number: u16| {
        let mut word = [0; 32];
        word[30..].copy_from_slice(&number.to_be_bytes());
        concord_registry::event::AgentId::Evm(word)
    };
    let mut events: Vec<Event> = (300..750)
        .map(|number| Event::AgentRegistered {
            agent: word(number),
            owner: account(99),
            uri: String::new(),
        })
        .collect();
    events.push(given(1, String::new()));
    commit(&mut server, events);
    let one = server.got(&feedback_path()).await;
    assert_eq!(one["raterAgents"].as_array().unwrap().len(), 20);
    let path = format!("/v1/raters/{}", account(99));
    let (mut agents, mut cursor) = (BTreeSet::new(), String::new());
    loop {
        let page = server.got(&format!("{path}?{cursor}")).await;
        let of = page["agents"].as_array().unwrap();
        assert!(of.len() <= 200);
        agents.extend(of.iter().map(|it| it.as_str().unwrap().to_owned()));
        match page["nextCursor"].as_str() {
            Some(next) => cursor = format!("cursor={next}"),
            None => break,
        }
    }
    assert_eq!(agents.len(), 450);
}

/// R46: an agent of which no event was seen has no row that could say so.
#[tokio::test]
async fn r46_agents_and_events_that_are_missing_altogether_are_counted() {
    let mut server = Server::start();
    let id = server.ids[0];
    let errors = "{ _meta { hasIndexingErrors } }";
    let before = subgraph::ask(&server, errors, json!({})).await;
    assert_eq!(before["_meta"]["hasIndexingErrors"], false);
    let registered = Event::AgentRegistered {
        agent: agent(16),
        owner: account(116),
        uri: String::new(),
    };
    let raw = |log, is_unknown| UndecodedEvent {
        place: Place::new(1_000, 0, Position::Evm { log }),
        transaction: TransactionId::Evm([6; 32]),
        raw: RawEvent::Evm {
            topics: vec![[5; 32]],
            data: vec![1],
        },
        reason: "does not decode".to_owned(),
        is_unknown,
    };
    let mut batch = batch(0, 1_000, vec![registered]);
    batch.undecoded = vec![raw(1, false), raw(2, true), raw(3, true)];
    server.store.commit(id, &batch, None, 64).unwrap();
    let status = server.got("/v1/status").await;
    let counts = |of: usize| {
        let it = &status["deployments"][of];
        [
            "incompleteAgents",
            "missingAgentIds",
            "undecodedEvents",
            "unknownEvents",
        ]
        .map(|name| it[name].as_u64())
    };
    // 13 to 15
    assert_eq!(counts(0), [Some(0), Some(3), Some(1), Some(2)]);
    assert_eq!(counts(1), [Some(0); 4]);
    let after = subgraph::ask(&server, errors, json!({})).await;
    assert_eq!(after["_meta"]["hasIndexingErrors"], true);
    let metrics = server.get("/metrics").await.text;
    let registry = format!("registry=\"0x{}\"", "ab".repeat(20));
    for (name, value) in [
        ("missing_agent_ids", 3),
        ("undecoded_events", 1),
        ("unknown_events", 2),
    ] {
        let line = format!("concord_index_{name}{{chain=\"eip155:31337\",{registry}}} {value}\n");
        assert!(metrics.contains(&line), "{line} is not in {metrics}");
    }
    let page = server.get("/status").await.text;
    for (term, count) in [
        ("Agent ids without an event", 3),
        ("Events that cannot be read", 1),
        ("Events of a later version", 2),
    ] {
        let row = format!("<dt>{term}</dt><dd>{count}</dd>");
        assert!(page.contains(&row), "{row} is not in {page}");
    }
}

/// R46: what a later version of a registry reports beside what is known takes nothing away.
#[tokio::test]
async fn r46_events_of_a_later_version_make_nothing_incomplete() {
    let mut server = Server::start();
    let id = server.ids[0];
    let mut batch = batch(0, 1_000, Vec::new());
    batch.undecoded.push(UndecodedEvent {
        place: Place::new(1_000, 0, Position::Evm { log: 1 }),
        transaction: TransactionId::Evm([6; 32]),
        raw: RawEvent::Evm {
            topics: vec![[5; 32]],
            data: vec![1],
        },
        reason: "is of a later version".to_owned(),
        is_unknown: true,
    });
    server.store.commit(id, &batch, None, 64).unwrap();
    let errors = "{ _meta { hasIndexingErrors } }";
    let answer = subgraph::ask(&server, errors, json!({})).await;
    assert_eq!(answer["_meta"]["hasIndexingErrors"], false);
    let status = server.got("/v1/status").await;
    assert_eq!(status["deployments"][0]["unknownEvents"], 1);
    assert!(server.store.completeness(id).unwrap().is_complete());
}

/// R45: the state says that agent 1 has another wallet, and R46: that a client gave one feedback more.
#[tokio::test]
async fn r45_where_the_state_differs_every_answer_says_so() {
    let mut server = Server::start();
    let id = server.ids[0];
    let mut first = all_given(0).into_iter();
    let first = first.find(|it| it.profile == Profile::Open && it.agent == 1);
    let client = account(first.unwrap().client);
    let row = server.store.clients(id, Profile::Open, agent(1)).unwrap();
    let (key, row) = row
        .into_iter()
        .find(|(key, _)| key.client == client)
        .unwrap();
    let (last, wallet) = (row.last_index, account(77).to_string());
    let fact = |field, value: &str| Fact {
        agent: agent(1),
        field,
        value: value.to_owned(),
    };
    let block = server.store.cursor(id).unwrap().unwrap().head.number;
    let read = StateRead {
        block,
        facts: vec![
            fact(Field::Wallet, &wallet),
            fact(
                Field::LastIndex(Profile::Open, client),
                &(last + 1).to_string(),
            ),
        ],
    };
    let subjects = [Subject::Agent(agent(1)), Subject::Client(key)];
    let unread = server.store.unread_count(id).unwrap();
    server.store.compare(id, &subjects, &read).unwrap();
    let one = server.got(&format!("/v1/agents/{}", name(0, 1))).await;
    assert_eq!(
        (&one["agentWallet"], &one["incomplete"]),
        (&json!(wallet), &json!(true))
    );
    let gap = json!({
        "profile": "open", "clientAddress": client.to_string(), "first": last + 1, "last": last + 1,
    });
    assert_eq!(one["gaps"], json!([gap]));
    let differences = json!([
        { "field": "agentWallet", "clientAddress": null, "events": account(101).to_string(),
            "state": wallet, "block": block },
        { "field": "lastIndex.open", "clientAddress": client.to_string(),
            "events": last.to_string(), "state": (last + 1).to_string(), "block": block },
    ]);
    assert_eq!(one["differences"], differences);
    // What is searched for is what the state says.
    let body = json!({ "filters": { "wallets": [wallet], "chains": ["eip155:31337"] } });
    let found = server.posted("/v1/agents/search", body).await;
    assert_eq!(found["items"][0]["id"], name(0, 1));
    let status = server.got("/v1/status").await;
    let status = &status["deployments"][0];
    let counts = json!({ "agentWallet": 1, "lastIndex.open": 1 });
    assert_eq!(status["stateDifferences"], counts);
    assert_eq!(status["stateUnread"], unread - 2);
    assert_eq!(status["incompleteAgents"], 1);
    let metrics = server.get("/metrics").await.text;
    let line = |name: &str, chain: &str, value: u64| {
        let registry = format!("0x{}", "ab".repeat(20));
        format!("concord_index_{name}{{chain=\"{chain}\",registry=\"{registry}\"}} {value}\n")
    };
    for line in [
        line("state_differences", "eip155:31337", 2),
        line("state_differences", "eip155:1", 0),
        line("state_unread", "eip155:31337", unread - 2),
    ] {
        assert!(metrics.contains(&line), "{line} is not in {metrics}");
    }
    assert_eq!(
        server.store.rebuild_digest(id).unwrap(),
        server.store.digest(id).unwrap()
    );
}
