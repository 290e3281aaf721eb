//! `/v1` for Solana: the world of an EVM chain is indexed a second time as a program's, and each request, translated,
//! has the translated answer.
use crate::api::server::Server;
use crate::worlds::given::{AGENTS, CHAINS, account, all_given, batch, blocks, name};
use concord_chain::ChainId;
use concord_index::{
    Contracts, Deployment,
    batch::{Batch, IndexedEvent},
};
use concord_registry::{
    Event,
    event::{AccountId, AgentId, Profile, TransactionId, ValidationTag},
};
use serde_json::{Value, json};

const SOLANA: &str = "solana:localnet";
const PROGRAM: [u8; 32] = [0xab; 32];
/// That of every event of the world.
const TRANSACTION: [u8; 32] = [6; 32];

fn base58(bytes: &[u8]) -> String {
    bs58::encode(bytes).into_string()
}

/// Keys sort as numbers do.
fn mint(number: u8) -> AgentId {
    AgentId::Svm([number; 32].into())
}

fn on_solana(account: &mut AccountId) {
    if let AccountId::Evm(address) = account {
        *account = AccountId::Svm([address[0]; 32].into());
    }
}

/// The event, with the same agent and accounts on Solana.
fn translated(mut event: Event) -> Event {
    let of = |agent: &mut AgentId| {
        if let AgentId::Evm(word) = agent {
            *agent = mint(word[31]);
        }
    };
    match &mut event {
        Event::AgentRegistered { agent, owner, .. } => {
            of(agent);
            on_solana(owner);
        }
        Event::OpenFeedback { agent, client, .. }
        | Event::AuthorizedFeedback { agent, client, .. }
        | Event::FeedbackRevoked { agent, client, .. } => {
            of(agent);
            on_solana(client);
        }
        Event::ResponseAppended {
            agent,
            client,
            responder,
            ..
        } => {
            of(agent);
            on_solana(client);
            on_solana(responder);
        }
        Event::PaymentProven {
            agent,
            client,
            payee,
            token,
            facilitator,
            ..
        } => {
            of(agent);
            [client, payee, token, facilitator]
                .into_iter()
                .for_each(on_solana);
        }
        Event::ValidationRequested {
            agent, validator, ..
        }
        | Event::ValidationResponded {
            agent, validator, ..
        } => {
            of(agent);
            on_solana(validator);
        }
        Event::MetadataSet { agent, .. } => of(agent),
        other => panic!("the world has no {other:?}"),
    }
    event
}

fn translated_batch(mut batch: Batch) -> Batch {
    for IndexedEvent {
        registry,
        transaction,
        event,
        ..
    } in &mut batch.events
    {
        *registry = AccountId::Svm(PROGRAM.into());
        *transaction = TransactionId::Svm([6; 64]);
        *event = translated(event.clone());
    }
    batch
}

/// Events that the world has not, after its blocks.
fn more() -> Vec<Event> {
    let agent = crate::worlds::given::agent;
    let mut events = vec![Event::MetadataSet {
        agent: agent(2),
        key: "key".to_owned(),
        value: b"value".to_vec(),
    }];
    for number in 1..=3 {
        events.push(Event::ValidationRequested {
            agent: agent(number),
            validator: account(50),
            request: [number; 32],
            uri: "ipfs://request".to_owned(),
            tag: None,
        });
    }
    events.push(Event::ValidationResponded {
        agent: agent(2),
        validator: account(50),
        request: [2; 32],
        score: 80,
        uri: "ipfs://response".to_owned(),
        hash: [4; 32],
        tag: ValidationTag::Text("done".to_owned()),
    });
    events
}

/// Chain 0, and the same on Solana.
fn both() -> Server {
    let mut server = Server::start();
    server
        .store
        .commit(server.ids[0], &batch(0, 9_000, more()), None, 64)
        .unwrap();
    let deployment = Deployment {
        chain: ChainId::parse(SOLANA).unwrap(),
        contracts: Contracts::Svm(PROGRAM.into()),
        start: 1,
    };
    let id = server.store.claim(&deployment).unwrap();
    let all = blocks(0).into_iter().chain([(9_000, more())]);
    for (number, events) in all {
        let batch = translated_batch(batch(0, number, events));
        server.store.commit(id, &batch, None, 64).unwrap();
    }
    let digest = server.store.digest(id).unwrap();
    assert_eq!(server.store.rebuild_digest(id).unwrap(), digest); // R45
    server
}

/// Names of the EVM chain as those of Solana: agents, the registry, accounts, transactions.
fn translate(text: &str) -> String {
    let mut text = text.to_owned();
    for number in (1..=AGENTS).rev() {
        let there = format!("{SOLANA}:{}:{}", base58(&PROGRAM), mint(number));
        text = text.replace(&name(0, number), &there);
    }
    text = text.replace(CHAINS[0], SOLANA);
    let mut translated = String::new();
    let mut word = String::new();
    for letter in text.chars().chain([' ']) {
        if letter.is_ascii_alphanumeric() {
            word.push(letter);
            continue;
        }
        let bytes = word.strip_prefix("0x").and_then(|it| hex::decode(it).ok());
        match bytes.as_deref() {
            Some(address) if address.len() == 20 => translated += &base58(&[address[0]; 32]),
            Some(of) if *of == TRANSACTION => translated += &base58(&[6; 64]),
            _ => translated += &word,
        }
        word.clear();
        translated.push(letter);
    }
    translated.pop();
    translated
}

/// An answer with agents' own ids translated, and without cursors.
fn comparable(value: &mut Value, is_evm: bool) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|it| comparable(it, is_evm)),
        Value::Object(members) => {
            for cursor in ["nextCursor", "nextMetadata", "nextResponses"] {
                members.remove(cursor);
            }
            if let (true, Some(Value::String(id))) = (is_evm, members.get_mut("agentId")) {
                *id = mint(id.parse().unwrap()).to_string();
            }
            members.values_mut().for_each(|it| comparable(it, is_evm));
        }
        _ => (),
    }
}

fn compare(mut evm: Value, mut solana: Value, of: &str) {
    comparable(&mut evm, true);
    let mut expected: Value = serde_json::from_str(&translate(&evm.to_string())).unwrap();
    comparable(&mut expected, false);
    comparable(&mut solana, false);
    assert_eq!(solana, expected, "{of}");
    let text = solana.to_string();
    assert!(!text.contains("eip155"), "{of}: {text}");
}

#[tokio::test]
async fn what_is_read_of_an_evm_chain_is_read_of_solana() {
    let server = both();
    let mut paths = vec![
        format!(
            "/v1/validations?chain={}&validator={}",
            CHAINS[0],
            account(50)
        ),
        format!("/v1/raters/{}", account(103)),
    ];
    for number in 1..=AGENTS {
        let agent = format!("/v1/agents/{}", name(0, number));
        let listed = [1, 2, 103].map(|it| account(it).to_string()).join(",");
        paths.extend([
            agent.clone(),
            format!("{agent}/validations"),
            format!("{agent}/given"),
            format!("{agent}/metadata"),
            format!("{agent}/summary?clientAddresses=everyone"),
            format!("{agent}/summary?clientAddresses={listed}&tag1=speed"),
            format!("{agent}/summary?clientAddresses={listed}&profile=authorized"),
        ]);
    }
    for it in all_given(0) {
        let profile = match it.profile {
            Profile::Open => "open",
            Profile::Authorized => "authorized",
        };
        let (agent, client) = (name(0, it.agent), account(it.client));
        let path = format!("/v1/feedback/{agent}/{profile}/{client}/{}", it.index);
        paths.push(format!("{path}/responses"));
        paths.push(path);
    }
    for path in paths {
        let mut evm = server.got(&path).await;
        // An account of the EVM is the wallet of agents on both EVM chains.
        if let Some(Value::Array(agents)) = evm.get_mut("agents") {
            agents.retain(|it| it.as_str().unwrap().starts_with(CHAINS[0]));
        }
        let solana = server.got(&translate(&path)).await;
        compare(evm, solana, &path);
    }
}

/// Every page of a search.
async fn pages(server: &Server, path: &str, mut body: Value) -> Vec<Value> {
    let mut pages = Vec::new();
    loop {
        let page = server.posted(path, body.clone()).await;
        let next = page["nextCursor"].clone();
        pages.push(page);
        if next.is_null() {
            return pages;
        }
        body["options"]["cursor"] = next;
    }
}

#[tokio::test]
async fn what_is_searched_on_an_evm_chain_is_searched_on_solana() {
    let server = both();
    let listed = [1, 2, 3, 103].map(|it| account(it).to_string());
    let chains = [CHAINS[0]];
    let agents = [
        (json!({}), json!([])),
        (
            json!({ "owners": [account(103).to_string(), account(105).to_string()] }),
            json!([]),
        ),
        (
            json!({ "walletAddress": account(104).to_string() }),
            json!([]),
        ),
        (
            json!({ "agentIds": [name(0, 3), name(0, 12)] }),
            json!(["createdAt:asc"]),
        ),
        (
            json!({ "metadataValue": { "key": "key", "value": "value" } }),
            json!([]),
        ),
        (
            json!({ "feedback": { "fromReviewers": "everyone", "minCount": 3 } }),
            json!(["averageValue:desc"]),
        ),
        (
            json!({ "feedback": { "fromReviewers": listed, "tag1": "speed", "minValue": 5 } }),
            json!(["count:desc"]),
        ),
        (
            json!({ "feedback": { "fromReviewers": listed, "profile": "authorized" } }),
            json!(["averageValue:asc"]),
        ),
        (
            json!({ "feedback": { "fromReviewers": listed, "hasNoFeedback": true } }),
            json!([]),
        ),
    ];
    let feedback = [
        json!({}),
        json!({ "includeRevoked": true, "tag": "starred" }),
        json!({ "agentId": name(0, 4) }),
        json!({ "reviewers": listed, "minValue": 10, "maxValue": "50.5" }),
        json!({ "profile": "authorized", "paymentProven": true }),
        json!({ "hasResponse": true, "tags": ["speed", "uptime"] }),
    ];
    let agents = agents.map(|(filters, sort)| {
        (
            "/v1/agents/search",
            filters,
            json!({ "sort": sort, "pageSize": 3 }),
        )
    });
    let feedback = feedback.map(|it| ("/v1/feedback/search", it, json!({ "pageSize": 7 })));
    let mut compared = 0;
    for (path, mut filters, options) in agents.into_iter().chain(feedback) {
        filters["chains"] = json!(chains);
        let body = json!({ "filters": filters, "options": options });
        let there: Value = serde_json::from_str(&translate(&body.to_string())).unwrap();
        let (evm, solana) = (
            pages(&server, path, body.clone()).await,
            pages(&server, path, there).await,
        );
        assert_eq!(evm.len(), solana.len(), "{body}");
        for (evm, solana) in evm.into_iter().zip(solana) {
            compared += evm["items"].as_array().unwrap().len();
            compare(evm, solana, &body.to_string());
        }
    }
    assert!(compared > 300, "{compared}");
    // A cursor is of its own search.
    let evm = json!({ "filters": { "chains": chains }, "options": { "pageSize": 3 } });
    let cursor = server.posted("/v1/agents/search", evm).await["nextCursor"].clone();
    let body = json!({ "filters": { "chains": [SOLANA] }, "options": { "cursor": cursor } });
    let (status, _, field) = server.post("/v1/agents/search", &body).await.error();
    assert_eq!((status, field), (400, json!("cursor")));
}

#[tokio::test]
async fn summaries_of_agents_on_both_chains_are_in_one_answer() {
    let server = both();
    let evm: Vec<String> = (1..=AGENTS).map(|it| name(0, it)).collect();
    let names: Vec<String> = evm
        .iter()
        .map(|it| translate(it))
        .chain(evm.clone())
        .collect();
    let body = json!({ "agentIds": names, "clientAddresses": "everyone" });
    let found = server.posted("/v1/summaries", body).await;
    let items = found["items"].as_array().unwrap();
    let (solana, evm) = items.split_at(AGENTS.into());
    compare(json!(evm), json!(solana), "summaries");
    // Agents of all chains are merged in one order.
    let all = pages(
        &server,
        "/v1/agents/search",
        json!({ "options": { "pageSize": 5 } }),
    )
    .await;
    let ids = all.iter().flat_map(|it| it["items"].as_array().unwrap());
    let ids: Vec<&str> = ids.map(|it| it["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 3 * usize::from(AGENTS));
    let on = |chain: &str| ids.iter().filter(|it| it.starts_with(chain)).count();
    assert_eq!([on(CHAINS[0]), on(CHAINS[1]), on(SOLANA)], [12, 12, 12]);
}

#[tokio::test]
async fn names_that_are_of_no_agent_on_solana_are_refused() {
    let server = both();
    let program = base58(&PROGRAM);
    let cases = [
        (format!("{SOLANA}:{program}:{}", mint(99)), 404),
        (format!("{SOLANA}:{}:{}", mint(99), mint(1)), 404),
        (format!("{SOLANA}:{program}:1"), 400),
        (format!("{SOLANA}:{program}:0x{}", "11".repeat(20)), 400),
        (format!("solana:other:{program}:{}", mint(1)), 404),
    ];
    for (agent, status) in cases {
        let (found, _, _) = server.get(&format!("/v1/agents/{agent}")).await.error();
        assert_eq!(found, status, "{agent}");
    }
}
