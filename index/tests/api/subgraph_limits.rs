//! How much one query of agent0's subgraph may ask for.
use crate::api::{
    server::Server,
    subgraph::{ask, data_uri, refused, send},
};
use crate::worlds::given::{account, agent, batch, open};
use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use concord_registry::{
    Event,
    event::{AccountId, AgentId},
};
use flate2::{Compression, write::GzEncoder};
use serde_json::{Value, json};
use std::io::Write as _;

#[tokio::test]
async fn what_is_malformed_is_named_with_its_value_and_limit() {
    let server = Server::start();
    let many = vec!["\"x\""; 1_001].join(",");
    let long = "x".repeat(257);
    let deep = format!(
        "{}{}",
        "{ and: [".repeat(7),
        "{}".to_owned() + &"] }".repeat(7)
    );
    let empty = |count| format!("[{}]", vec!["{}"; count].join(","));
    let cases = [
        (
            "{ agents(first: 1001) { id } }".to_owned(),
            "first: 1001: expected a number in 0..=1000",
        ),
        (
            "{ agents(skip: -1) { id } }".to_owned(),
            "skip: -1: expected a number in 0..=10000000",
        ),
        (
            "{ agents(orderDirection: up) { id } }".to_owned(),
            "orderDirection: \"up\": expected asc or desc",
        ),
        (
            "{ agents(where: { owner: \"12\" }) { id } }".to_owned(),
            "Agent_filter.owner: \"12\": expected 0x and hex digits",
        ),
        (
            "{ feedbacks(where: { value_gte: \"much\" }) { id } }".to_owned(),
            "Feedback_filter.value_gte: \"much\": expected a number",
        ),
        (
            "{ agents(where: { or: [] }) { id } }".to_owned(),
            "Agent_filter.or: expected a list of at least one filter",
        ),
        (
            format!("{{ feedbacks(where: {{ tag1_in: [{many}] }}) {{ id }} }}"),
            "Feedback_filter.tag1_in has 1001 entries, the limit is 1000",
        ),
        (
            format!("{{ feedbacks(where: {{ tag1_contains: \"{long}\" }}) {{ id }} }}"),
            "Feedback_filter.tag1_contains has 257 bytes, the limit is 256",
        ),
        (
            format!("{{ agents(where: {{ or: {} }}) {{ id }} }}", empty(400)),
            "Agent_filter: more than 400 conditions",
        ),
        (
            format!("{{ agents(where: {{ and: {} }}) {{ id }} }}", empty(400)),
            "Agent_filter: more than 400 conditions",
        ),
        (
            "{ protocols(first: 1001) { id } }".to_owned(),
            "first: 1001: expected a number in 0..=1000",
        ),
        (
            "{ protocols(skip: -1) { id } }".to_owned(),
            "skip: -1: expected a number in 0..=10000000",
        ),
        (
            format!("{{ agents(where: {deep}) {{ id }} }}"),
            "Agent_filter: more than 6 filters in filters",
        ),
        (
            "{ agents(block: { number: 7 }) { id } }".to_owned(),
            "block: {\"number\":7}: only the state at block 312 is kept",
        ),
        (
            "{ agents(block: { number: 312, hash: \"0x00\" }) { id } }".to_owned(),
            "block: {\"number\":312,\"hash\":\"0x00\"}: only the state at block 312 is kept",
        ),
        (
            "{ agents(block: {}) { id } }".to_owned(),
            "block: {}: only the state at block 312 is kept",
        ),
    ];
    for (query, message) in cases {
        let found = refused(&server, &query).await;
        assert!(found.contains(message), "{query}: {found}");
    }
    // `or` is a condition, and so is each filter in it.
    let most = format!("{{ agents(where: {{ or: {} }}) {{ id }} }}", empty(399));
    let found = ask(&server, &most, json!({})).await;
    assert_eq!(found["agents"].as_array().unwrap().len(), 12);
    let hash = "01".repeat(32);
    let both =
        format!("{{ agents(block: {{ number: 312, hash: \"0x{hash}\" }}, first: 1) {{ id }} }}");
    ask(&server, &both, json!({})).await;
    let now = "{ agents(block: { number: 312 }, first: 1, subgraphError: allow) { id } _meta(block: { number_gte: 300 }) { block { number } } }";
    let found = ask(&server, now, json!({})).await;
    assert_eq!(found["_meta"]["block"]["number"], 312);
}

/// agent0's SDKs name every agent that they found by reputation, in one query, and take an error for an empty list.
#[tokio::test]
async fn thousands_of_agents_and_accounts_are_named_at_once() {
    let server = Server::start();
    let ids: Vec<String> = (1..=10_000).map(|it| format!("31337:{it}")).collect();
    let accounts: Vec<String> = (0..4_000).map(|it| format!("0x{it:040x}")).collect();
    let all = "query A($of: [ID!]) { agents(where: { id_in: $of }) { id }
        feedbacks(where: { agent_in: $of }, first: 1000) { id } }";
    let found = ask(&server, all, json!({ "of": ids })).await;
    assert_eq!(found["agents"].as_array().unwrap().len(), 12);
    assert!(found["feedbacks"].as_array().unwrap().len() > 150);
    let none = "query A($of: [ID!], $by: [Bytes!]) { agents(where: { id_not_in: $of }) { id }
        feedbacks(where: { clientAddress_in: $by }) { id } }";
    let found = ask(&server, none, json!({ "of": ids[..5_000], "by": accounts })).await;
    assert_eq!(found, json!({ "agents": [], "feedbacks": [] }));
    let more: Vec<String> = (1..=10_001).map(|it| format!("31337:{it}")).collect();
    let found = send(&server, all, json!({ "of": more })).await;
    let message = found["errors"][0]["message"].as_str();
    let expected = "Agent_filter.id_in has 10001 entries, the limit is 10000";
    assert_eq!(message, Some(expected));
}

#[tokio::test]
async fn the_only_protocol_is_on_the_first_page() {
    let server = Server::start();
    let query = "{ protocols { id } all: protocols(first: 1, skip: 0) { id }
        none: protocols(first: 0) { id } after: protocols(skip: 1) { id } }";
    let found = ask(&server, query, json!({})).await;
    let only = json!([{ "id": "31337" }]);
    let expected = json!({ "protocols": only, "all": only, "none": [], "after": [] });
    assert_eq!(found, expected);
}

/// An answer that would be a part of the whole is refused.
#[tokio::test]
async fn an_answer_has_a_limit() {
    let server = Server::start();
    let fields = |count: usize, field: &str| {
        let fields = (0..count).map(|at| format!("f{at}: {field} "));
        format!("{{ {} }}", fields.collect::<String>())
    };
    let listed = "agents(first: 1000) { feedback(first: 1000) { id } }";
    ask(&server, &fields(9, listed), json!({})).await;
    // What many belong to is repeated for each of them, and what belongs to that again.
    let repeated = "feedbacks(first: 1000) { agent { feedback { agent { feedback { id } } } } }";
    let found = send(&server, &fields(4, repeated), json!({})).await;
    let message = found["errors"][0]["message"].as_str();
    let expected = "the answer has more than 100000 entities; ask for less";
    assert_eq!(message, Some(expected));
}

const TOO_LONG: &str = "the answer has more than 33554432 bytes; ask for less";

/// 112 fields of a feedback, under names of 128 bytes.
fn long_names() -> String {
    let mut selected = String::new();
    for name in [
        "__typename",
        "id",
        "clientAddress",
        "feedbackIndex",
        "value",
        "tag1",
        "tag2",
        "endpoint",
        "feedbackURI",
        "feedbackURIType",
        "feedbackHash",
        "isRevoked",
        "createdAt",
        "revokedAt",
    ] {
        for turn in 0..8 {
            let alias = format!("{name}{turn}");
            selected.push_str(&format!(" {alias:x<128}: {name}"));
        }
    }
    selected
}

#[tokio::test]
async fn the_names_of_what_is_repeated_count_in_an_answer() {
    let server = Server::start();
    let query = |selected: &str| {
        format!("{{ feedbacks(first: 1000) {{ agent {{ feedback {{ {selected} }} }} }} }}")
    };
    ask(&server, &query("id value"), json!({})).await;
    assert_eq!(refused(&server, &query(&long_names())).await, TOO_LONG);
}

#[tokio::test]
async fn the_names_of_what_is_selected_count_in_an_answer() {
    let mut server = Server::start();
    let given = (1..=1_000).map(|index| open(50, 1, index));
    let batch = batch(0, 1_000, given.collect());
    let id = server.ids[0];
    server.store.commit(id, &batch, None, 64).unwrap();
    let selected = long_names();
    let query = |first| {
        let page = format!("feedbacks(first: {first}) {{ {selected} }}");
        format!("{{ a: {page} b: {page} c: {page} }}")
    };
    ask(&server, &query(10), json!({})).await;
    assert_eq!(refused(&server, &query(1_000)).await, TOO_LONG);
}

/// An owner's operators are in the answer for each of its agents.
#[tokio::test]
async fn the_operators_of_many_agents_have_a_limit() {
    let mut server = Server::start();
    let owner = account(120);
    let operator = |number: u16| {
        let [high, low] = number.to_be_bytes();
        let mut address = [0x77; 20];
        (address[18], address[19]) = (high, low);
        AccountId::Evm(address)
    };
    let approved = (0..1_000).map(|number| Event::OperatorSet {
        owner,
        operator: operator(number),
        approved: true,
    });
    let registered = (13..=212).map(|number| Event::AgentRegistered {
        agent: agent(number),
        owner,
        uri: String::new(),
    });
    let id = server.ids[0];
    let batch = batch(0, 1_000, approved.chain(registered).collect());
    server.store.commit(id, &batch, None, 64).unwrap();
    let query = |times: usize| {
        let of = format!("first: 200, where: {{ owner: \"{owner}\" }}");
        let pages = (0..times).map(|at| format!("a{at}: agents({of}) {{ operators }} "));
        format!("{{ {} }}", pages.collect::<String>())
    };
    let once = ask(&server, &query(1), json!({})).await;
    let agents = once["a0"].as_array().unwrap();
    let operators = agents
        .iter()
        .map(|it| it["operators"].as_array().unwrap().len());
    assert!(operators.eq([1_000; 200]));
    assert_eq!(refused(&server, &query(8)).await, TOO_LONG);
}

#[tokio::test]
async fn the_lists_of_a_protocol_have_a_limit() {
    let mut server = Server::start();
    let registered = (13..=212).map(|number| {
        let trust = format!("{number}{}", "x".repeat(12_000));
        let file = json!({ "name": "Ann", "supportedTrust": [trust] });
        Event::AgentRegistered {
            agent: agent(number),
            owner: account(120),
            uri: data_uri(&file.to_string()),
        }
    });
    let batch = batch(0, 1_000, registered.collect());
    let id = server.ids[0];
    server.store.commit(id, &batch, None, 64).unwrap();
    let query = |times: usize, lists: usize| {
        let lists = (0..lists).map(|at| format!("a{at}: trustModels "));
        let lists = lists.collect::<String>();
        let each = (0..times).map(|at| format!("p{at}: protocol(id: \"31337\") {{ {lists} }} "));
        format!("{{ {} }}", each.collect::<String>())
    };
    let once = ask(&server, &query(1, 1), json!({})).await;
    assert_eq!(once["p0"]["a0"].as_array().unwrap().len(), 200);
    assert_eq!(refused(&server, &query(2, 8)).await, TOO_LONG);
}

/// The first query of every search by agent0's SDK for TypeScript.
const SEARCH: &str = "query SearchAgentsV2($first: Int!) {
    agents(where: null, first: $first, skip: 0, orderBy: createdAt, orderDirection: desc) {
        id chainId agentId owner operators agentURI agentURIType agentWallet createdAt updatedAt totalFeedback lastActivity
        registrationFile { id agentId name description image active x402Support supportedTrusts mcpEndpoint mcpVersion
            a2aEndpoint a2aVersion webEndpoint emailEndpoint hasOASF oasfSkills oasfDomains ens did mcpTools mcpPrompts
            mcpResources a2aSkills }
    } }";

/// A URI of about a kilobyte, whatever the length.
fn gzipped(file: &Value) -> String {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(file.to_string().as_bytes()).unwrap();
    let bytes = encoder.finish().unwrap();
    format!(
        "data:application/json;enc=gzip;base64,{}",
        BASE64.encode(bytes)
    )
}

/// A file of which each text and each list has so many bytes.
fn long_file(length: usize) -> Value {
    let text = "x".repeat(length);
    let service = |name: &str| json!({ "name": name, "endpoint": text, "version": text });
    let mut services: Vec<Value> = ["MCP", "A2A", "OASF", "web", "email", "ENS", "DID"]
        .map(service)
        .into();
    for (at, list) in [
        (0, "mcpTools"),
        (0, "mcpPrompts"),
        (0, "mcpResources"),
        (1, "a2aSkills"),
        (2, "skills"),
        (2, "domains"),
    ] {
        services[at][list] = json!([text]);
    }
    json!({ "name": "Ann", "description": text, "image": text, "services": services, "supportedTrust": [text] })
}

/// An agent that anyone can register for the gas of a kilobyte must not take the others away from everyone.
#[tokio::test]
async fn a_page_of_agents_with_the_longest_files_is_answered() {
    let mut server = Server::start();
    let long = gzipped(&long_file(16_000)); // more than is kept
    let most = gzipped(&long_file(600)); // nearly as much as is kept
    let number = |at: u16| {
        let mut word = [0; 32];
        word[30..].copy_from_slice(&at.to_be_bytes());
        AgentId::Evm(word)
    };
    let registered = (1_000..2_000).map(|at| Event::AgentRegistered {
        agent: number(at),
        owner: account(120),
        uri: if at % 16 == 0 { &long } else { &most }.clone(),
    });
    let batch = batch(0, 1_000, registered.collect());
    let id = server.ids[0];
    server.store.commit(id, &batch, None, 64).unwrap();
    let found = ask(&server, SEARCH, json!({ "first": 1_000 })).await;
    let agents = found["agents"].as_array().unwrap();
    assert_eq!(agents.len(), 1_000);
    let of = |id: &str| {
        let found = agents.iter().find(|it| it["id"] == id);
        found.unwrap()["registrationFile"].clone()
    };
    let (long, most) = (of("31337:1008"), of("31337:1009"));
    assert_eq!(
        (&long["name"], &most["name"]),
        (&json!("Ann"), &json!("Ann"))
    );
    assert_eq!(
        (&long["description"], &long["mcpTools"]),
        (&Value::Null, &json!([]))
    );
    assert_eq!(most["description"], "x".repeat(600));
    assert_eq!(most["oasfDomains"], json!(["x".repeat(600)]));
}
