//! A world in which every member that the API's answers have has a value somewhere, and requests for all of them.
use crate::api::{
    server::Server,
    subgraph::{self, data_uri},
};
use crate::worlds::given::{account, agent, all_given, batch, name, open};
use concord_index::{
    binding::{BindingRead, BoundToken, KEY, TokenStandard},
    state::{Fact, Field, StateRead, Subject},
    store::DeploymentId,
    table::{ClientKey, File, FileState},
};
use concord_registry::{
    Event,
    event::{AgentId, AuthorizedBy, Profile},
};
use serde_json::{Value, json};
use std::{fs, path::Path};

/// The agent that has everything.
const AGENT: u8 = 20;
/// One with a file, and one with a file that is none.
const OTHERS: [u8; 2] = [21, 22];
/// One whose file was fetched once, and whose host has failed since.
pub const FAILED: u8 = 23;
/// The binding contract that the agent with everything declares. It owns another one.
pub const BINDING: [u8; 20] = [0x55; 20];
/// More than an agent or a feedback is answered with.
const MANY: u8 = 201;
/// Blocks after those that there are.
const LATER: u64 = 1_001;

/// Adds what the first events lack: an agent with a file, metadata and validations; feedback with evidence, with an
/// authorization and with a gap before it; a difference from the state; a reorganization.
pub fn complete(server: &mut Server) {
    subgraph::furnished(server);
    let (id, client) = (agent(AGENT), account(1));
    let mut events = vec![
        Event::FeedbackAuthoritySet {
            agent: id,
            owner: account(120),
            authority: Some(account(7)),
        },
        Event::MetadataSet {
            agent: id,
            key: KEY.to_owned(),
            value: BINDING.to_vec(),
        },
        Event::AuthSchemesSet {
            agent: id,
            owner: account(120),
            schemes: 3,
        },
        Event::ValidationRequested {
            agent: id,
            validator: account(40),
            request: [7; 32],
            uri: String::new(),
            tag: Some([1; 32]),
        },
        Event::AuthorizedFeedback {
            agent: id,
            client,
            index: 1,
            score: 90,
            tag1: [0; 32],
            tag2: [0; 32],
            uri: String::new(),
            hash: [7; 32],
            authorized_by: Some(AuthorizedBy {
                scheme: 1,
                signature: [4; 64],
            }),
        },
        open(1, AGENT, 5),
        Event::FeedbackRevoked {
            profile: Profile::Authorized,
            agent: id,
            client,
            index: 1,
        },
    ];
    events.extend((1..=MANY).flat_map(|number| more(id, number)));
    events.extend(with_files(id));
    let deployment = server.ids[0];
    let taken_back = batch(0, LATER + 1, vec![open(1, AGENT, 6)]);
    for batch in [batch(0, LATER, events), taken_back] {
        server
            .store
            .commit(deployment, &batch, Some(1), 64)
            .unwrap();
    }
    fetch_and_fail(server, deployment);
    let headers = server.store.headers(deployment).unwrap();
    let fork = headers.iter().find(|it| it.number == LATER).unwrap();
    server.store.roll_back(deployment, fork, 1).unwrap();
    let key = ClientKey {
        profile: Profile::Open,
        agent: id,
        client,
    };
    let read = StateRead {
        block: LATER,
        facts: vec![
            Fact {
                agent: id,
                field: Field::Wallet,
                value: account(77).to_string(),
            },
            Fact {
                agent: id,
                field: Field::LastIndex(Profile::Open, client),
                value: "7".to_owned(),
            },
        ],
    };
    let subjects = [Subject::Agent(id), Subject::Client(key)];
    server.store.compare(deployment, &subjects, &read).unwrap();
    let confirmed = BindingRead {
        agent: id,
        contract: BINDING,
        token: Some(BoundToken {
            standard: TokenStandard::Erc1155,
            contract: [0x99; 20],
            id: [0; 32],
        }),
        block: LATER,
    };
    let bindings = [confirmed];
    server.store.note_bindings(deployment, &bindings).unwrap();
}

/// The host of files that were fetched once.
const HOST: &str = "https://host.example";
/// When they were, and when their host was asked again and failed.
pub const FETCHED: [i64; 2] = [1_700_100_000, 1_700_200_000];

/// The files of the host that answered once.
fn fetch_and_fail(server: &mut Server, deployment: DeploymentId) {
    let due = server.store.due_files(deployment, 0, 999).unwrap();
    for file in due.into_iter().filter(|it| it.uri.starts_with(HOST)) {
        let fetched = File {
            state: FileState::Fetched,
            next_at: FETCHED[1],
            checked_at: Some(FETCHED[0]),
            fetched_at: Some(FETCHED[0]),
            host: Some("host.example".to_owned()),
            bytes: Some(br#"{"name":"Bob","services":[]}"#.to_vec()),
            ..file
        };
        server.store.take_file(deployment, &fetched).unwrap();
        let failed = File {
            next_at: i64::MAX,
            checked_at: Some(FETCHED[1]),
            reason: Some("status 503".to_owned()),
            ..fetched
        };
        server.store.take_file(deployment, &failed).unwrap();
    }
}

/// One of many responses, and of many keys.
fn more(id: AgentId, number: u8) -> [Event; 2] {
    let response = Event::ResponseAppended {
        profile: Profile::Authorized,
        agent: id,
        client: account(1),
        index: 1,
        responder: account(number),
        uri: "ipfs://response".to_owned(),
        hash: [8; 32],
    };
    let metadata = Event::MetadataSet {
        agent: id,
        key: format!("key {number}"),
        value: b"text".to_vec(),
    };
    [response, metadata]
}

/// A file that says all that one can, one that is none, and signed evidence about another agent.
fn with_files(id: AgentId) -> Vec<Event> {
    let endpoint = |name: &str| json!({ "name": name, "endpoint": format!("{name}:ann") });
    let registration = json!({
        "name": "Ann",
        "active": true,
        "services": [
            endpoint("web"), endpoint("ENS"), endpoint("DID"), endpoint("email"),
            { "name": "MCP", "endpoint": "https://a.example/mcp", "mcpResources": ["r"] },
            { "name": "OASF", "endpoint": "https://a.example/oasf", "domains": ["d"] },
        ],
    });
    let files = [registration.to_string(), "[".to_owned()];
    let registered = OTHERS.iter().zip(files);
    let mut events: Vec<Event> = registered
        .map(|(number, file)| Event::AgentRegistered {
            agent: agent(*number),
            owner: account(120),
            uri: data_uri(&file),
        })
        .collect();
    events.push(Event::AgentRegistered {
        agent: agent(FAILED),
        owner: account(120),
        uri: format!("{HOST}/agent"),
    });
    let (signed, hash) = signed();
    let uris = [data_uri(&signed), data_uri("["), format!("{HOST}/feedback")];
    for (index, uri) in (1..).zip(uris) {
        events.push(Event::OpenFeedback {
            agent: id,
            client: account(120),
            index,
            value: 1,
            decimals: 0,
            tag1: String::new(),
            tag2: String::new(),
            endpoint: String::new(),
            uri,
            hash,
        });
    }
    events
}

/// A file that was signed with other software, and its hash.
fn signed() -> (String, [u8; 32]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/vectors/files/feedback.json");
    let all: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let mut vectors = all["vectors"].as_array().unwrap().iter();
    let found = vectors.find(|it| it["id"] == "files/feedback/x402-evm");
    let found = found.unwrap();
    let hash = hex::decode(&found["ok"]["hash"].as_str().unwrap()[2..]).unwrap();
    let text = found["text"].as_str().unwrap().to_owned();
    (text, hash.try_into().unwrap())
}

/// Requests for each route, which succeed.
pub fn requests() -> Vec<(String, Option<Value>)> {
    let given = all_given(0).into_iter();
    let mut rated = given.filter(|it| it.profile == Profile::Authorized && it.paid.is_some());
    let one = rated.next().unwrap();
    let (agent, client) = (name(0, one.agent), account(one.client));
    let (furnished, reviewer) = (name(0, AGENT), account(1));
    let feedback = format!("/v1/feedback/{agent}/authorized/{client}/{}", one.index);
    let revoked = format!("/v1/feedback/{furnished}/authorized/{reviewer}/1");
    let everyone = json!("everyone");
    let got = [
        format!("/v1/agents/{agent}"),
        format!("/v1/agents/{furnished}"),
        format!("/v1/agents/{}", name(0, OTHERS[0])),
        format!("/v1/agents/{}", name(0, OTHERS[1])),
        format!("/v1/agents/{}", name(0, FAILED)),
        format!("/v1/agents/{agent}/summary?clientAddresses=everyone&profile=authorized"),
        format!("/v1/agents/{furnished}/validations?pageSize=1"),
        format!("/v1/agents/{agent}/given"),
        format!("/v1/agents/{furnished}/metadata?pageSize=1"),
        format!("{revoked}/responses?pageSize=1"),
        feedback,
        revoked,
        format!("/v1/feedback/{furnished}/open/{reviewer}/1"),
        format!("/v1/feedback/{furnished}/open/{}/1", account(120)),
        format!("/v1/feedback/{furnished}/open/{}/2", account(120)),
        format!("/v1/feedback/{furnished}/open/{}/3", account(120)),
        format!(
            "/v1/validations?chain=eip155:31337&validator={}",
            account(40)
        ),
        format!("/v1/raters/{}?pageSize=1", account(120)),
        "/v1/status".to_owned(),
        "/v1/openapi.json".to_owned(),
        "/readyz".to_owned(),
    ];
    let graphql = "/subgraphs/31337/graphql";
    let posted = [
        (
            "/v1/agents/search",
            json!({ "filters": { "feedback": { "fromReviewers": everyone } } }),
        ),
        (
            "/v1/summaries",
            json!({ "agentIds": [agent], "clientAddresses": everyone, "tag1": "starred" }),
        ),
        (
            "/v1/agents/search",
            json!({ "filters": { "active": true } }),
        ),
        (
            "/v1/agents/search",
            json!({ "filters": { "active": true }, "options": { "pageSize": 1 } }),
        ),
        (
            "/v1/feedback/search",
            json!({ "options": { "pageSize": 1 } }),
        ),
        (
            "/v1/feedback/search",
            json!({ "filters": { "agents": [furnished], "includeRevoked": true } }),
        ),
        (graphql, json!({ "query": "{ agents { id } }" })),
        (graphql, json!({ "query": "{ stars { id } }" })),
    ];
    let posted = posted.map(|(path, body)| (path.to_owned(), Some(body)));
    got.map(|path| (path, None))
        .into_iter()
        .chain(posted)
        .collect()
}
