//! agent0's subgraph, asked without a socket. What it must answer is what the world was made of.
use crate::api::server::Server;
use crate::worlds::given::{Given, account, agent, all_given, batch};
use axum::http::StatusCode;
use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use concord_registry::{
    Event,
    event::{Profile, ValidationTag},
};
use serde_json::{Value, json};

const PATH: &str = "/subgraphs/31337/graphql";

pub async fn send(server: &Server, query: &str, variables: Value) -> Value {
    let body = json!({ "query": query, "variables": variables });
    let answer = server.post(PATH, &body).await;
    assert_eq!(answer.status, StatusCode::OK, "{query}: {}", answer.text);
    answer.json()
}

pub async fn ask(server: &Server, query: &str, variables: Value) -> Value {
    let answer = send(server, query, variables).await;
    assert!(answer.get("errors").is_none(), "{query}: {answer}");
    answer["data"].clone()
}

pub async fn refused(server: &Server, query: &str) -> String {
    let answer = send(server, query, json!({})).await;
    assert!(answer.get("data").is_none(), "{query}: {answer}");
    answer["errors"][0]["message"].as_str().unwrap().to_owned()
}

/// The subgraph has the open profile.
fn open_feedback() -> Vec<Given> {
    let mut open = all_given(0);
    open.retain(|it| it.profile == Profile::Open);
    open
}

fn id(it: &Given) -> String {
    format!("31337:{}:{}:{}", it.agent, account(it.client), it.index)
}

/// As the subgraph has decimals: without zeros at their ends.
fn decimal(it: &Given) -> String {
    let unit = 10i128.pow(u32::from(it.decimals));
    let sign = if it.value < 0 { "-" } else { "" };
    let (whole, part) = (it.value.abs() / unit, it.value.abs() % unit);
    let part = format!("{part:0width$}", width = usize::from(it.decimals));
    let part = part.trim_end_matches('0');
    match part {
        "" => format!("{sign}{whole}"),
        part => format!("{sign}{whole}.{part}"),
    }
}

fn ids(answer: &Value) -> Vec<String> {
    let rows = answer.as_array().unwrap();
    rows.iter()
        .map(|row| row["id"].as_str().unwrap().to_owned())
        .collect()
}

fn sorted(mut ids: Vec<String>) -> Vec<String> {
    ids.sort();
    ids
}

#[tokio::test]
async fn every_feedback_is_found_page_by_page_as_it_was_given() {
    let server = Server::start();
    let query = "query F($skip: Int!) { feedbacks(first: 37, skip: $skip, orderBy: createdAt, orderDirection: desc) {
        id agent { id agentId chainId } clientAddress feedbackIndex value tag1 tag2 isRevoked createdAt
        responses(first: 1) { id responder }
    } }";
    let mut found = Vec::new();
    loop {
        let page = ask(&server, query, json!({ "skip": found.len() })).await;
        let page = page["feedbacks"].as_array().unwrap().clone();
        found.extend(page.iter().cloned());
        if page.len() < 37 {
            break;
        }
    }
    let tag = |tag: &str| match tag {
        "" => Value::Null,
        tag => json!(tag),
    };
    let given = open_feedback().into_iter().rev();
    let expected: Vec<Value> = given
        .map(|it| {
            let of = format!("31337:{}", it.agent);
            let response =
                json!({ "id": format!("{}:1", id(&it)), "responder": account(9).to_string() });
            json!({
                "id": id(&it),
                "agent": { "id": of, "agentId": it.agent.to_string(), "chainId": "31337" },
                "clientAddress": account(it.client).to_string(),
                "feedbackIndex": it.index.to_string(),
                "value": decimal(&it),
                "tag1": tag(it.tag1),
                "tag2": tag(it.tag2),
                "isRevoked": it.is_revoked,
                "createdAt": it.at.to_string(),
                "responses": if it.has_response { vec![response] } else { vec![] },
            })
        })
        .collect();
    assert!(expected.len() > 150);
    assert_eq!(found, expected);
}

#[tokio::test]
async fn filters_find_what_they_say_and_nothing_else() {
    type Admit = fn(&Given) -> bool;
    let server = Server::start();
    let client = format!("0x{}", "05".repeat(20));
    let cases: Vec<(Value, Admit)> = vec![
        (
            json!({ "agent_in": ["31337:1", "31337:2", "1:3", "x"] }),
            |it| it.agent < 3,
        ),
        (json!({ "agent": "31337:4" }), |it| it.agent == 4),
        (json!({ "agent_": { "agentId_gt": 9 } }), |it| it.agent > 9),
        (
            json!({ "clientAddress_in": [client.to_uppercase().replace("0X", "0x")] }),
            |it| it.client == 5,
        ),
        (json!({ "clientAddress_not": client }), |it| it.client != 5),
        (json!({ "isRevoked": false }), |it| !it.is_revoked),
        (json!({ "isRevoked_not": false }), |it| it.is_revoked),
        (json!({ "tag1": "starred" }), |it| it.tag1 == "starred"),
        (json!({ "tag1": null }), |it| it.tag1.is_empty()),
        (json!({ "tag1_not": null }), |it| !it.tag1.is_empty()),
        (json!({ "tag1_in": [] }), |_| false),
        (
            json!({ "tag1_contains": "tar", "tag2_contains_nocase": "UP" }),
            |it| it.tag1 == "starred" && it.tag2 == "uptime",
        ),
        (json!({ "tag1_contains": "TAR" }), |_| false),
        (json!({ "tag1_starts_with": "up" }), |it| {
            it.tag1 == "uptime"
        }),
        (json!({ "tag1_ends_with": "eed" }), |it| it.tag1 == "speed"),
        (json!({ "tag1_not_contains": "e" }), |_| false),
        (json!({ "value_gte": 50 }), |it| {
            it.value >= 50 * 10i128.pow(it.decimals.into())
        }),
        (json!({ "value_lt": "1.5" }), |it| {
            it.value * 10 < 15 * 10i128.pow(it.decimals.into())
        }),
        (json!({ "value_lte": 1e21 }), |_| true),
        (json!({ "responses_": { "createdAt_gt": 0 } }), |it| {
            it.has_response
        }),
        (json!({ "feedbackIndex_lte": "2" }), |it| it.index <= 2),
        (
            json!({ "isRevoked": false, "or": [{ "tag1": "speed" }, { "and": [{ "tag2": "speed" }, { "agent": "31337:1" }] }] }),
            |it| !it.is_revoked && (it.tag1 == "speed" || (it.tag2 == "speed" && it.agent == 1)),
        ),
    ];
    for (filter, admits) in cases {
        let query =
            "query F($where: Feedback_filter) { feedbacks(where: $where, first: 1000) { id } }";
        let found = ask(&server, query, json!({ "where": filter })).await;
        let expected = open_feedback().into_iter().filter(admits);
        let expected = expected.map(|it| id(&it)).collect();
        assert_eq!(
            sorted(ids(&found["feedbacks"])),
            sorted(expected),
            "{filter}"
        );
    }
}

/// agent0's SDKs sort by it, and take an error for an empty list.
#[tokio::test]
async fn every_agent_has_the_chain_of_the_subgraph() {
    let server = Server::start();
    let query = "query A($where: Agent_filter, $direction: OrderDirection) {
        agents(where: $where, orderBy: chainId, orderDirection: $direction) { id } }";
    let of = async |filter: Value, direction: &str| {
        let variables = json!({ "where": filter, "direction": direction });
        ids(&ask(&server, query, variables).await["agents"])
    };
    let mut all: Vec<String> = (1..=12).map(|it| format!("31337:{it}")).collect();
    assert_eq!(of(json!({}), "asc").await, all);
    all.reverse();
    assert_eq!(of(json!({}), "desc").await, all);
    let admitted = [
        json!({ "chainId": "31337" }),
        json!({ "chainId": 31337 }),
        json!({ "chainId_in": ["1", "31337"] }),
        json!({ "chainId_not": 1 }),
        json!({ "chainId_gt": "1", "chainId_lte": "31337" }),
        json!({ "chainId_not": null }),
    ];
    for filter in admitted {
        assert_eq!(of(filter.clone(), "desc").await, all, "{filter}");
    }
    let refuted = [
        json!({ "chainId": "1" }),
        json!({ "chainId_not_in": [31337] }),
        json!({ "chainId_lt": 31337 }),
        json!({ "chainId": null }),
    ];
    for filter in refuted {
        assert!(of(filter.clone(), "asc").await.is_empty(), "{filter}");
    }
    let feedbacks = "{ feedbacks(where: { agent_: { chainId: 31337 } }, first: 1) { id } }";
    let found = ask(&server, feedbacks, json!({})).await;
    assert_eq!(ids(&found["feedbacks"]).len(), 1);
    let malformed = "{ agents(where: { chainId: \"x\" }) { id } }";
    let found = refused(&server, malformed).await;
    assert_eq!(
        found,
        "Agent_filter.chainId: \"x\": expected a whole number"
    );
}

#[tokio::test]
async fn children_are_paged_for_each_of_their_parents() {
    let server = Server::start();
    let query = "{ agents(first: 20, orderBy: agentId) { id totalFeedback
        feedback(first: 2, skip: 1, orderBy: createdAt, orderDirection: desc, where: { isRevoked: false }) { id }
    } }";
    let found = ask(&server, query, json!({})).await;
    let agents = found["agents"].as_array().unwrap();
    assert_eq!(agents.len(), 12);
    for (number, row) in (1u8..).zip(agents) {
        let all = open_feedback();
        let mut of: Vec<&Given> = all.iter().filter(|it| it.agent == number).collect();
        assert_eq!(row["totalFeedback"], json!(of.len().to_string()));
        of.retain(|it| !it.is_revoked);
        let newest = of.iter().rev().skip(1).take(2);
        let expected: Vec<String> = newest.map(|it| id(it)).collect();
        assert_eq!(ids(&row["feedback"]), expected);
    }
}

const REGISTRATION: &str = r#"{"type":"https://eips.ethereum.org/EIPS/eip-8004#registration-v1","name":"Ann","description":"Answers","image":"https://a.example/a.png","services":[{"name":"MCP","endpoint":"https://a.example/mcp","version":"2025-06-18","mcpTools":["search","a,b"],"mcpPrompts":["p"]},{"name":"A2A","endpoint":"https://a.example/a2a","version":"0.3","a2aSkills":["s"]},{"name":"OASF","endpoint":"https://a.example/oasf","version":"0.8","skills":["k/1"],"domains":[]},{"name":"agentWallet","endpoint":"eip155:1:0x0909090909090909090909090909090909090909"}],"x402Support":true,"active":true,"registrations":[],"supportedTrust":["reputation","tee"]}"#;

pub fn data_uri(file: &str) -> String {
    format!("data:application/json;base64,{}", BASE64.encode(file))
}

/// An agent with all that the subgraph has of one.
pub fn furnished(server: &mut Server) {
    let id = agent(20);
    let (owner, client) = (account(120), account(1));
    let registry = "eip155:31337:0xabababababababababababababababababababab";
    let file = json!({
        "agentRegistry": registry, "agentId": 20, "clientAddress": format!("eip155:31337:{client}"),
        "createdAt": "2026-01-02T03:04:05Z", "value": 995, "valueDecimals": 1, "text": "good",
        "mcpTool": "search", "a2aSkills": ["s"],
        "proofOfPayment": { "fromAddress": client.to_string(), "toAddress": owner.to_string(),
            "chainId": "31337", "txHash": format!("0x{}", "12".repeat(32)) },
    });
    let events = vec![
        Event::AgentRegistered {
            agent: id,
            owner,
            uri: data_uri(REGISTRATION),
        },
        Event::MetadataSet {
            agent: id,
            key: "a:b".to_owned(),
            value: vec![1, 2],
        },
        Event::ApprovalSet {
            agent: id,
            owner,
            approved: Some(account(30)),
        },
        Event::OperatorSet {
            owner,
            operator: account(31),
            approved: true,
        },
        Event::OpenFeedback {
            agent: id,
            client,
            index: 1,
            value: 995,
            decimals: 1,
            tag1: String::new(),
            tag2: String::new(),
            endpoint: "https://a.example/mcp".to_owned(),
            uri: data_uri(&file.to_string()),
            hash: [0; 32],
        },
        Event::OpenFeedback {
            agent: id,
            client,
            index: 2,
            value: 0,
            decimals: 0,
            tag1: String::new(),
            tag2: String::new(),
            endpoint: String::new(),
            uri: data_uri("{}"),
            hash: [0; 32],
        },
        Event::ValidationRequested {
            agent: id,
            validator: account(40),
            request: [5; 32],
            uri: "ipfs://request".to_owned(),
            tag: None,
        },
        Event::ValidationRequested {
            agent: id,
            validator: account(40),
            request: [6; 32],
            uri: String::new(),
            tag: None,
        },
        Event::ValidationResponded {
            agent: id,
            validator: account(40),
            request: [5; 32],
            score: 91,
            uri: "ipfs://answer".to_owned(),
            hash: [8; 32],
            tag: ValidationTag::Text("zk".to_owned()),
        },
    ];
    let id = server.ids[0];
    let batch = batch(0, 1_000, events);
    server.store.commit(id, &batch, None, 64).unwrap();
}

#[tokio::test]
async fn an_agent_has_its_file_its_operators_and_what_was_said_of_it() {
    let mut server = Server::start();
    furnished(&mut server);
    let query = "query A($id: ID!) { agent(id: $id) { id owner operators agentURIType
        registrationFile { id agentId name active x402Support x402support supportedTrusts mcpEndpoint mcpVersion a2aVersion
            oasfVersion hasOASF oasfSkills oasfDomains mcpTools mcpPrompts mcpResources a2aSkills agentWallet agentWalletChainId }
        metadata { id key value }
        feedback(orderBy: feedbackIndex) { value feedbackURIType feedbackFile { feedbackId text mcpTool mcpPrompt a2aSkills oasfSkills
            proofOfPaymentChainId valueRaw valueDecimals createdAtIso } }
        validations(orderBy: requestHash) { id status response requestUri responseURI tag validatorAddress }
    } }";
    let found = ask(&server, query, json!({ "id": "31337:20" })).await;
    let expected = json!({
        "id": "31337:20",
        "owner": account(120).to_string(),
        "operators": [account(30).to_string(), account(31).to_string()],
        "agentURIType": "data",
        "registrationFile": {
            "id": "31337:20", "agentId": "31337:20", "name": "Ann", "active": true, "x402Support": true,
            "x402support": true, "supportedTrusts": ["reputation", "tee"],
            "mcpEndpoint": "https://a.example/mcp", "mcpVersion": "2025-06-18", "a2aVersion": "0.3",
            "oasfVersion": "0.8", "hasOASF": true, "oasfSkills": ["k/1"], "oasfDomains": [],
            "mcpTools": ["search", "a,b"], "mcpPrompts": ["p"], "mcpResources": [], "a2aSkills": ["s"],
            "agentWallet": account(9).to_string(), "agentWalletChainId": "1",
        },
        "metadata": [{ "id": "31337:20:a:b", "key": "a:b", "value": "0x0102" }],
        "feedback": [
            { "value": "99.5", "feedbackURIType": "data", "feedbackFile": {
                "feedbackId": format!("31337:20:{}:1", account(1)), "text": "good", "mcpTool": "search",
                "mcpPrompt": null, "a2aSkills": ["s"], "oasfSkills": [], "proofOfPaymentChainId": "31337",
                "valueRaw": "995", "valueDecimals": 1, "createdAtIso": "2026-01-02T03:04:05Z",
            } },
            { "value": "0", "feedbackURIType": "data", "feedbackFile": null },
        ],
        "validations": [
            { "id": format!("0x{}", "05".repeat(32)), "status": "COMPLETED", "response": 91,
                "requestUri": "ipfs://request", "responseURI": "ipfs://answer", "tag": "zk",
                "validatorAddress": account(40).to_string() },
            { "id": format!("0x{}", "06".repeat(32)), "status": "PENDING", "response": 0,
                "requestUri": null, "responseURI": null, "tag": null,
                "validatorAddress": account(40).to_string() },
        ],
    });
    assert_eq!(found["agent"], expected);
    let stats = "query A($id: ID!) { agentStats(id: $id) { agent { agentId } totalFeedback averageFeedbackValue
        totalValidations completedValidations averageValidationScore } protocol(id: \"31337\") { chainId totalAgents reputationRegistry
        trustModels tags } globalStats(id: \"stats\") { totalProtocols totalValidations } _meta { block { number } hasIndexingErrors }
        other: protocol(id: \"1\") { id } none: agent(id: \"31337:99\") { id } }";
    let found = ask(&server, stats, json!({ "id": "31337:20" })).await;
    let expected = json!({
        "agentStats": { "agent": { "agentId": "20" }, "totalFeedback": "2",
            "averageFeedbackValue": found["agentStats"]["averageFeedbackValue"],
            "totalValidations": "2", "completedValidations": "1", "averageValidationScore": "91" },
        "protocol": { "chainId": "31337", "totalAgents": "13", "reputationRegistry": account(2).to_string(),
            "trustModels": ["reputation", "tee"], "tags": ["speed", "starred", "uptime"] },
        "globalStats": { "totalProtocols": "1", "totalValidations": "2" },
        "_meta": { "block": { "number": 1_000 }, "hasIndexingErrors": true },
        "other": null,
        "none": null,
    });
    assert_eq!(found, expected);
    let summary = format!(
        "/v1/agents/eip155:31337:0x{}:20/summary?clientAddresses=everyone",
        "ab".repeat(20)
    );
    let summary = server.got(&summary).await; // R47: one summary, wherever it is asked for
    assert_eq!(
        summary["summary"]["decimal"],
        found["agentStats"]["averageFeedbackValue"]
    );
}

/// A page is answered whatever one of its files says.
#[tokio::test]
async fn a_wallet_that_is_no_caip_10_id_is_null() {
    let mut server = Server::start();
    let wallets = [
        (
            "0x0909090909090909090909090909090909090909",
            [json!(null), json!(null)],
        ),
        ("eip155:1", [json!(null), json!(null)]),
        (
            "eip155:8453:0x0909090909090909090909090909090909090909",
            [
                json!("0x0909090909090909090909090909090909090909"),
                json!("8453"),
            ],
        ),
        (
            "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp:9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin",
            [
                json!("9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin"),
                json!(null),
            ],
        ),
    ];
    let registered = (20..).zip(&wallets).map(|(number, (wallet, _))| {
        let services = json!([{ "name": "agentWallet", "endpoint": wallet }]);
        Event::AgentRegistered {
            agent: agent(number),
            owner: account(120),
            uri: data_uri(&json!({ "name": "Ann", "services": services }).to_string()),
        }
    });
    let id = server.ids[0];
    let batch = batch(0, 1_000, registered.collect());
    server.store.commit(id, &batch, None, 64).unwrap();
    let query = "{ agents(where: { agentId_gte: 20 }, orderBy: agentId) {
        registrationFile { agentWallet agentWalletChainId } } }";
    let found = ask(&server, query, json!({})).await;
    let expected = wallets.map(|(_, [wallet, chain])| {
        json!({ "registrationFile": { "agentWallet": wallet, "agentWalletChainId": chain } })
    });
    assert_eq!(found["agents"], json!(expected));
}

#[tokio::test]
async fn agents_are_found_by_what_their_files_list() {
    let mut server = Server::start();
    furnished(&mut server);
    let file = |filter: Value| json!({ "registrationFile_": filter });
    let found = [
        json!({ "registrationFile_not": null }),
        json!({ "registrationFile": "31337:20" }),
        json!({ "operators_contains": [account(30).to_string(), account(31).to_string()] }),
        file(json!({ "mcpTools_contains": ["a,b", "search"] })),
        file(json!({ "supportedTrusts_contains": ["tee"], "active": true, "x402Support": true })),
        file(json!({ "hasOASF": true, "mcpEndpoint_not": null, "did": null })),
        file(json!({ "name_contains_nocase": "aNN" })),
        json!({ "metadata_": { "key": "a:b", "value": "0x0102" } }),
        json!({ "agentWallet": account(120).to_string(), "createdAt_gte": 1, "totalFeedback_gt": "0" }),
    ];
    let empty = [
        file(json!({ "mcpTools_contains": ["a"] })),
        file(json!({ "mcpTools_contains": ["SEARCH"] })),
        file(json!({ "hasOASF": false })),
        file(json!({ "oasfDomains_contains": [""] })),
        json!({ "operators_contains": [account(32).to_string()] }),
        json!({ "operators_contains": [account(30).to_string(), account(32).to_string()] }),
    ];
    let query = "query A($where: Agent_filter) { agents(where: $where) { id } }";
    for filter in found {
        let answer = ask(&server, query, json!({ "where": filter })).await;
        assert_eq!(ids(&answer["agents"]), ["31337:20"], "{filter}");
    }
    for filter in empty {
        let answer = ask(&server, query, json!({ "where": filter })).await;
        assert!(ids(&answer["agents"]).is_empty(), "{filter}");
    }
    for (filter, count) in [
        (json!({ "mcpTools": ["other", "a,b"] }), 1),
        (json!({ "supportedTrust": ["tee"], "a2aSkills": ["s"] }), 1),
        (json!({ "oasfSkills": ["k"] }), 0),
    ] {
        let answer = server
            .posted("/v1/agents/search", json!({ "filters": filter }))
            .await;
        assert_eq!(answer["items"].as_array().unwrap().len(), count, "{filter}");
    }
}

#[tokio::test]
async fn what_is_not_known_is_an_error_that_names_it() {
    let server = Server::start();
    let cases = [
        ("{ agentz { id } }", "Type `Query` has no field `agentz`"),
        (
            "{ agents { id stars } }",
            "Type `Agent` has no field `stars`",
        ),
        (
            "{ agents { registrationFile { stars } } }",
            "Type `AgentRegistrationFile` has no field `stars`",
        ),
        (
            "{ feedbacks { feedbackFile { stars } } }",
            "Type `FeedbackFile` has no field `stars`",
        ),
        ("{ _meta { stars } }", "Type `_Meta_` has no field `stars`"),
        (
            "{ agents(where: { stars: 1 }) { id } }",
            "Type `Agent_filter` has no field `stars`",
        ),
        (
            "{ agents(where: { owner_near: 1 }) { id } }",
            "Type `Agent_filter` has no field `owner_near`",
        ),
        (
            "{ agents(where: { registrationFile_: { stars: 1 } }) { id } }",
            "Type `AgentRegistrationFile_filter` has no field `stars`",
        ),
        (
            "{ agents(where: { and: [{ or: [{ stars: 1 }] }] }) { id } }",
            "Type `Agent_filter` has no field `stars`",
        ),
        (
            "{ agents { feedback(where: { stars: 1 }) { id } } }",
            "Type `Feedback_filter` has no field `stars`",
        ),
        (
            "{ agents(orderBy: name) { id } }",
            "Type `Agent_orderBy` has no field `name`",
        ),
        (
            "{ agents(last: 1) { id } }",
            "Field `agents` has no argument `last`",
        ),
        (
            "{ agents { id(first: 1) } }",
            "Field `id` has no argument `first`",
        ),
        // Only fields of the query itself are of a block.
        (
            "{ agents { feedback(block: { number: 312 }) { id } } }",
            "Field `feedback` has no argument `block`",
        ),
        (
            "{ feedbacks { agent(subgraphError: allow) { id } } }",
            "Field `agent` has no argument `subgraphError`",
        ),
        (
            "{ agents { __typename(block: { number: 312 }) } }",
            "Field `__typename` has no argument `block`",
        ),
        (
            "{ feedbacks { feedbackFile(first: 1) { text } } }",
            "Field `feedbackFile` has no argument `first`",
        ),
        (
            "{ feedbacks { feedbackFile { text(first: 1) } } }",
            "Field `text` has no argument `first`",
        ),
        (
            "{ _meta { block(number: 312) { number } } }",
            "Field `block` has no argument `number`",
        ),
        (
            "{ protocols { tags(first: 1) } }",
            "Field `tags` has no argument `first`",
        ),
        (
            "{ agentStats(id: \"31337:1\") { agent(id: \"31337:2\") { id } } }",
            "Field `agent` has no argument `id`",
        ),
        ("{ agents }", "`agents` of type `Agent` needs a selection"),
        ("{ agents { id { x } } }", "`id` of `Agent` has no fields"),
        ("{ agent { id } }", "`agent` needs id: a text"),
    ];
    for (query, message) in cases {
        let found = refused(&server, query).await;
        assert!(found.starts_with(message), "{query}: {found}");
    }
}

#[tokio::test]
async fn a_subgraph_is_of_one_evm_registry() {
    let server = Server::start();
    let body = json!({ "query": "{ agents(first: 1) { chainId } }" });
    let registry = "ab".repeat(20);
    for name in [
        "1",
        "eip155:1",
        &format!("eip155:1:0x{registry}"),
        &format!("eip155:1:0x{}", registry.to_uppercase()),
    ] {
        let found = server
            .posted(&format!("/subgraphs/{name}/graphql"), body.clone())
            .await;
        assert_eq!(found["data"]["agents"][0]["chainId"], "1", "{name}");
    }
    for name in [
        "2",
        "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
        "eip155:1:0x12",
        "x",
    ] {
        let answer = server
            .post(&format!("/subgraphs/{name}/graphql"), &body)
            .await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{name}");
        assert!(answer.text.contains("errors"), "{}", answer.text);
    }
    let answer = server.post("/subgraphs/%FF/graphql", &body).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert!(answer.json()["errors"].is_array(), "{}", answer.text);
    let unknown = json!({ "query": "{ agents { id } }", "question": 1 });
    let answer = server.post(PATH, &unknown).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert!(answer.text.contains("question"), "{}", answer.text);
}
