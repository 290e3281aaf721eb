use crate::api::{
    furnished::{FAILED, FETCHED, complete},
    server::Server,
    subgraph::data_uri,
};
use crate::worlds::given::{
    AGENTS, CHAINS, Given, account, agent, all_given, batch, deployment, name, open, time,
};
use concord_index::Contracts;
use concord_registry::{Event, event::Profile, evm::RegistryAddresses};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Every item of every page.
async fn pages(server: &Server, path: &str, filters: Value, options: Value) -> Vec<Value> {
    let mut options = options;
    let mut items = Vec::new();
    loop {
        let body = json!({ "filters": filters, "options": options });
        let page = server.posted(path, body).await;
        items.extend(page["items"].as_array().unwrap().iter().cloned());
        match &page["nextCursor"] {
            Value::Null => return items,
            cursor => options["cursor"] = cursor.clone(),
        }
    }
}

fn ids(items: &[Value]) -> Vec<String> {
    let ids = items.iter().map(|it| it["id"].as_str().unwrap().to_owned());
    ids.collect()
}

/// BP's own example, less `active` and `hasMCP`.
#[tokio::test]
async fn agents_are_searched_with_bps_filter_object() {
    let server = Server::start();
    let reviewers = [1, 2, 3].map(|it| account(it).to_string());
    let filters = json!({ "feedback": {
        "hasFeedback": true,
        "minValue": 20,
        "maxValue": 60.5,
        "minCount": 2,
        "maxCount": 1000,
        "tag1": "starred",
        "fromReviewers": reviewers,
    } });
    let options = json!({ "sort": ["averageValue:desc"], "pageSize": 2 });
    let items = pages(&server, "/v1/agents/search", filters, options).await;
    let mut expected = Vec::new();
    for chain in [0, 1] {
        let mut sums: BTreeMap<u8, (i128, i128)> = BTreeMap::new();
        for it in all_given(chain) {
            let is_wanted = it.profile == Profile::Open
                && !it.is_revoked
                && it.tag1 == "starred"
                && it.client <= 3;
            if is_wanted {
                let sum = sums.entry(it.agent).or_default();
                sum.0 += it.value * 10i128.pow(2 - u32::from(it.decimals));
                sum.1 += 1;
            }
        }
        sums.retain(|_, (cents, count)| {
            *count >= 2 && *cents >= 2_000 * *count && *cents <= 6_050 * *count
        });
        expected.extend(sums.into_keys().map(|agent| name(chain, agent)));
    }
    assert!(expected.len() > 3);
    expected.sort_unstable();
    let mut found = ids(&items);
    found.sort_unstable();
    assert_eq!(found, expected);
    let averages = items.iter().map(|it| {
        let average = it["feedback"]["average"]["decimal"].as_str().unwrap();
        average.parse::<f64>().unwrap()
    });
    assert!(
        averages
            .collect::<Vec<_>>()
            .is_sorted_by(|a, b| *a + 1.0 >= *b)
    );
}

/// agent0's filter: the approved account of an agent, and those that its owner approved for all agents.
#[tokio::test]
async fn agents_are_found_by_who_may_act_for_them() {
    let mut server = Server::start();
    let set = |owner: u8, operator: u8, approved| Event::OperatorSet {
        owner: account(owner),
        operator: account(operator),
        approved,
    };
    let approve = |number: u8, approved: Option<u8>| Event::ApprovalSet {
        agent: agent(number),
        owner: account(100 + number),
        approved: approved.map(account),
    };
    // Agent n is account 100 + n's.
    let events = vec![
        approve(2, Some(30)),
        approve(3, Some(30)),
        approve(3, None),
        set(104, 31, true),
        set(105, 31, true),
        set(105, 31, false),
        set(106, 30, true),
    ];
    let id = server.ids[0];
    let batch = batch(0, 1_000, events);
    server.store.commit(id, &batch, None, 64).unwrap();
    let solana = "11111111111111111111111111111111".to_owned();
    let cases = [
        (vec![account(30).to_string()], vec![2, 6]),
        (vec![account(31).to_string()], vec![4]),
        (
            [30, 31].map(|it| account(it).to_string()).into(),
            vec![2, 4, 6],
        ),
        (vec![account(104).to_string()], vec![]), // an owner is no operator
        (vec![account(32).to_string(), solana], vec![]),
    ];
    for (operators, expected) in cases {
        let filters = json!({ "operators": operators });
        let items = pages(&server, "/v1/agents/search", filters, json!({})).await;
        let mut found = ids(&items);
        found.sort_unstable();
        let expected: Vec<String> = expected.into_iter().map(|it| name(0, it)).collect();
        assert_eq!(found, expected, "{operators:?}");
    }
    let filters =
        json!({ "operators": [account(30).to_string()], "owners": [account(106).to_string()] });
    let both = pages(&server, "/v1/agents/search", filters, json!({})).await;
    assert_eq!(ids(&both), [name(0, 6)]);
}

/// Agents 21 to 29, each in a block of its own, of which each says something that the others do not.
fn different(server: &mut Server) {
    let service = |name: &str, more: Value| {
        let endpoint = format!("https://{}.example", name.to_lowercase());
        let mut service = json!({ "name": name, "endpoint": endpoint });
        for (name, value) in more.as_object().unwrap() {
            service[name] = value.clone();
        }
        service
    };
    let file = |more: Value| {
        let mut file = json!({ "name": "Bob", "active": true });
        for (name, value) in more.as_object().unwrap() {
            file[name] = value.clone();
        }
        data_uri(&file.to_string())
    };
    let one = |service: Value| json!({ "services": [service] });
    let tools =
        json!({ "mcpTools": ["tool"], "mcpPrompts": ["prompt"], "mcpResources": ["resource"] });
    let mut mcp = one(service("MCP", tools));
    mcp["x402Support"] = json!(true);
    let mut a2a = one(service("A2A", json!({ "a2aSkills": ["skill"] })));
    a2a["supportedTrust"] = json!(["tee"]);
    let mut web = one(service("web", json!({})));
    web["description"] = json!("It sings");
    let names = [
        json!({ "name": "ENS", "endpoint": "zoe.eth" }),
        json!({ "name": "DID", "endpoint": "did:web:zoe" }),
    ];
    let uris = [
        file(web),
        file(mcp),
        file(a2a),
        file(one(service("OASF", json!({})))),
        file(one(service("OASF", json!({ "domains": ["d/1"] })))),
        file(json!({ "name": "Zoe", "active": false, "services": names })),
        String::new(),
        "ipfs://not-read".to_owned(),
        file(one(service("OASF", json!({ "skills": ["s/1"] })))),
    ];
    let id = server.ids[0];
    let mut commit = |block, event| {
        let batch = batch(0, block, vec![event]);
        server.store.commit(id, &batch, None, 64).unwrap();
    };
    for (number, uri) in (21..).zip(uris) {
        let registered = Event::AgentRegistered {
            agent: agent(number),
            owner: account(100 + number),
            uri,
        };
        commit(1_000 + u64::from(number), registered);
    }
    for (block, number, key) in [(1_100, 21, "other"), (1_101, 28, "key")] {
        let set = Event::MetadataSet {
            agent: agent(number),
            key: key.to_owned(),
            value: b"value".to_vec(),
        };
        commit(block, set);
    }
}

#[tokio::test]
async fn each_filter_finds_the_agents_that_it_means_and_no_others() {
    let mut server = Server::start();
    different(&mut server);
    let all = || (21..=29).collect::<Vec<u8>>();
    let but = |these: &[u8]| {
        let others = all().into_iter().filter(|it| !these.contains(it));
        others.collect::<Vec<u8>>()
    };
    let at = |block: u64| time(0, block);
    let metadata = |key: &str, value: &str| json!({ "key": key, "value": value });
    let cases = [
        ("chains", json!([31337]), all()),
        ("chains", json!(["eip155:1"]), vec![]),
        ("owners", json!([account(122).to_string()]), vec![22]),
        ("walletAddress", json!(account(123).to_string()), vec![23]),
        ("wallets", json!([account(124).to_string()]), vec![24]),
        ("registeredAtFrom", json!(at(1_025)), (25..=29).collect()),
        ("registeredAtTo", json!(at(1_025)), (21..=25).collect()),
        ("updatedAtFrom", json!(at(1_100)), vec![21, 28]),
        ("updatedAtTo", json!(at(1_024)), vec![22, 23, 24]),
        ("hasAgentURI", json!(true), but(&[27])),
        ("hasAgentURI", json!(false), vec![27]),
        ("hasMetadataKey", json!("key"), vec![28]),
        ("hasMetadataKey", json!("value"), vec![]),
        ("metadataValue", metadata("key", "value"), vec![28]),
        ("metadataValue", metadata("key", "0x76616c7565"), vec![28]),
        ("metadataValue", metadata("key", "other"), vec![]),
        ("incomplete", json!(true), vec![]),
        ("incomplete", json!(false), all()),
        ("active", json!(true), but(&[26, 27, 28])),
        ("active", json!(false), vec![26]),
        ("x402support", json!(true), vec![22]),
        ("hasRegistrationFile", json!(true), but(&[27, 28])),
        ("hasRegistrationFile", json!(false), vec![27, 28]),
        ("hasMCP", json!(true), vec![22]),
        ("hasMCP", json!(false), but(&[22])),
        ("hasA2A", json!(true), vec![23]),
        ("hasWeb", json!(true), vec![21]),
        ("hasOASF", json!(true), vec![25, 29]),
        ("hasOASF", json!(false), but(&[25, 29])),
        ("hasEndpoints", json!(true), vec![21, 22, 23, 24, 25, 29]),
        ("hasEndpoints", json!(false), vec![26, 27, 28]),
        ("name", json!("zO"), vec![26]),
        ("description", json!("SINGS"), vec![21]),
        ("keyword", json!("sing"), vec![21]),
        ("keyword", json!("zoe"), vec![26]),
        ("mcpContains", json!("MCP.ex"), vec![22]),
        ("mcpContains", json!("a2a"), vec![]),
        ("a2aContains", json!("a2a.ex"), vec![23]),
        ("webContains", json!("web.ex"), vec![21]),
        ("ensContains", json!("zoe."), vec![26]),
        ("didContains", json!("web:zoe"), vec![26]),
        ("supportedTrust", json!(["tee", "other"]), vec![23]),
        ("a2aSkills", json!(["skill"]), vec![23]),
        ("mcpTools", json!(["tool"]), vec![22]),
        ("mcpPrompts", json!(["prompt"]), vec![22]),
        ("mcpResources", json!(["resource"]), vec![22]),
        ("oasfSkills", json!(["s/1"]), vec![29]),
        ("oasfDomains", json!(["d/1"]), vec![25]),
    ];
    let names: Vec<String> = all().into_iter().map(|it| name(0, it)).collect();
    for (filter, value, expected) in &cases {
        let filters = json!({ "agentIds": names, *filter: value });
        let options = json!({ "sort": ["createdAt:asc"] });
        let items = pages(&server, "/v1/agents/search", filters, options).await;
        let expected: Vec<String> = expected.iter().map(|it| name(0, *it)).collect();
        assert_eq!(ids(&items), expected, "{filter}: {value}");
    }
    let elsewhere = ["agentIds", "operators", "feedback"];
    let tried: BTreeSet<&str> = (cases.iter().map(|it| it.0)).chain(elsewhere).collect();
    let document = server.got("/v1/openapi.json").await;
    let known = &document["components"]["schemas"]["AgentFilters"]["properties"];
    let known: BTreeSet<&str> = (known.as_object().unwrap().keys())
        .map(String::as_str)
        .collect();
    assert_eq!(tried, known);
}

#[tokio::test]
async fn each_order_is_by_what_it_names() {
    let server = Server::start();
    let mut keys: BTreeMap<String, [f64; 5]> = BTreeMap::new();
    for chain in [0, 1] {
        for number in 1..=AGENTS {
            let given = all_given(chain).into_iter();
            let given: Vec<Given> = given.filter(|it| it.agent == number).collect();
            let created = time(chain, number.into()) as f64;
            let updated = given.iter().map(|it| it.at as f64).fold(created, f64::max);
            let open = |it: &&Given| it.profile == Profile::Open && !it.is_revoked;
            let open: Vec<f64> = (given.iter().filter(open))
                .map(|it| it.value as f64 / 10f64.powi(it.decimals.into()))
                .collect();
            let count = open.len() as f64;
            let average = open.iter().sum::<f64>() / count;
            let key = [created, updated, given.len() as f64, average, count];
            keys.insert(name(chain, number), key);
        }
    }
    let orders = [
        "createdAt",
        "updatedAt",
        "totalFeedback",
        "averageValue",
        "count",
    ];
    for (place, order) in orders.into_iter().enumerate() {
        let is_rated = place > 2;
        let filters = if is_rated {
            json!({ "feedback": { "fromReviewers": "everyone" } })
        } else {
            json!({})
        };
        let rated = keys.values().filter(|it| !is_rated || it[4] > 0.0);
        let mut expected: Vec<f64> = rated.map(|it| it[place]).collect();
        expected.sort_by(f64::total_cmp);
        for direction in ["asc", "desc"] {
            let options = json!({ "sort": [format!("{order}:{direction}")], "pageSize": 5 });
            let items = pages(&server, "/v1/agents/search", filters.clone(), options).await;
            let found: Vec<f64> = ids(&items).iter().map(|it| keys[it][place]).collect();
            assert_eq!(found, expected, "{order}:{direction}");
            expected.reverse();
        }
    }
}

#[tokio::test]
async fn feedback_is_searched_as_bp_does() {
    let server = Server::start();
    let agents = [name(0, 2), "1:5".to_owned()];
    let filters = json!({ "agents": agents, "tags": ["starred"] });
    let path = "/v1/feedback/search";
    let items = pages(&server, path, filters, json!({ "pageSize": 3 })).await;
    let mut given: Vec<Given> = [0, 1].into_iter().flat_map(all_given).collect();
    given.sort_by_key(|it| std::cmp::Reverse(it.at));
    let expected: Vec<(String, String, u64, String)> = (given.iter())
        .filter(|it| {
            !it.is_revoked
                && [(0, 2), (1, 5)].contains(&(it.chain, it.agent))
                && (it.tag1 == "starred" || it.tag2 == "starred")
        })
        .map(|it| {
            (
                name(it.chain, it.agent),
                account(it.client).to_string(),
                it.index,
                it.value.to_string(),
            )
        })
        .collect();
    let text = |it: &Value| it.as_str().unwrap().to_owned();
    let found: Vec<_> = (items.iter())
        .map(|it| {
            let index = it["feedbackIndex"].as_u64().unwrap();
            (
                text(&it["agent"]),
                text(&it["clientAddress"]),
                index,
                text(&it["value"]),
            )
        })
        .collect();
    assert!(expected.len() > 5);
    assert_eq!(found, expected);
    // BP: a client that is the wallet of an agent is that agent.
    for it in &items {
        let client = it["clientAddress"].as_str().unwrap();
        let chain = CHAINS
            .iter()
            .position(|it2| text(&it["agent"]).starts_with(&format!("{it2}:")));
        let chain = chain.unwrap();
        let expected: Vec<String> = [3, 4]
            .into_iter()
            .filter(|agent| account(100 + agent).to_string() == client)
            .map(|agent| name(chain, agent))
            .collect();
        assert_eq!(it["raterAgents"], json!(expected));
    }
}

#[tokio::test]
async fn an_agents_own_ratings_are_those_of_its_wallet() {
    let server = Server::start();
    let path = format!("/v1/agents/{}/given?pageSize=200", name(0, 3));
    let found = server.got(&path).await;
    let expected = all_given(0);
    let expected = expected
        .iter()
        .filter(|it| it.client == 103 && !it.is_revoked);
    assert_eq!(found["items"].as_array().unwrap().len(), expected.count());
    let rater = server.got(&format!("/v1/raters/{}", account(103))).await;
    assert_eq!(rater["agents"], json!([name(0, 3), name(1, 3)]));
}

#[tokio::test]
async fn r44_one_feedback_has_its_responses_and_its_payment() {
    let server = Server::start();
    let given = all_given(0);
    let is_whole = |it: &&Given| it.paid.is_some() && it.has_response;
    let it = given.iter().find(is_whole).unwrap();
    let path = |index: u64| {
        let (agent, client) = (name(0, it.agent), account(it.client));
        format!("/v1/feedback/{agent}/authorized/{client}/{index}")
    };
    let found = server.got(&path(it.index)).await;
    assert_eq!(found["value"], json!(it.value.to_string()));
    assert_eq!(found["isRevoked"], json!(it.is_revoked));
    assert_eq!(found["responses"][0]["responseURI"], "ipfs://response");
    assert_eq!(found["responses"][0]["number"], 1);
    let (token, amount) = it.paid.unwrap();
    assert_eq!(found["payment"]["token"], json!(account(token).to_string()));
    assert_eq!(found["payment"]["amount"], json!(amount.to_string()));
    let none = server.get(&path(0)).await.error();
    assert_eq!(none, (400, "malformed".to_owned(), json!("index")));
    assert_eq!(server.get(&path(999)).await.error().0, 404);
}

const HOSTILE: [&str; 4] = [
    "</script><script>alert(1)</script>",
    "\u{202e}gpj.exe",
    "\u{0}\u{7f}\"\\\n",
    "<img src=x onerror=alert(1)>",
];

#[tokio::test]
async fn hostile_texts_are_values_of_json_and_nothing_else() {
    let mut server = Server::start();
    let agent = crate::worlds::given::agent(1);
    let mut events = vec![Event::AgentUriSet {
        agent,
        by: account(101),
        uri: "<svg onload=alert(1)>".repeat(500),
    }];
    for (index, text) in (1..).zip(HOSTILE) {
        events.push(Event::OpenFeedback {
            agent,
            client: account(66),
            index,
            value: 1,
            decimals: 0,
            tag1: text.to_owned(),
            tag2: text.to_owned(),
            endpoint: text.to_owned(),
            uri: text.to_owned(),
            hash: [0; 32],
        });
    }
    let id = server.ids[0];
    server
        .store
        .commit(id, &batch(0, 1_000, events), None, 64)
        .unwrap();
    let filters = json!({ "reviewers": [account(66).to_string()] });
    let body = json!({ "filters": filters });
    let answer = server.post("/v1/feedback/search", &body).await;
    let found = answer.json();
    let texts: Vec<&str> = (found["items"].as_array().unwrap().iter())
        .map(|it| it["endpoint"].as_str().unwrap())
        .collect();
    let mut expected = HOSTILE.to_vec();
    expected.reverse(); // the newest first
    assert_eq!(texts, expected);
    assert_eq!(answer.headers["x-content-type-options"], "nosniff");
    let policy = answer.headers["content-security-policy"].to_str().unwrap();
    assert!(policy.starts_with("default-src 'none'"), "{policy}");
    let found = server.got(&format!("/v1/agents/{}", name(0, 1))).await;
    assert_eq!(found["agentURI"].as_str().unwrap().len(), 21 * 500);
    // A hostile tag is a filter like any other.
    for text in HOSTILE {
        let body = json!({ "filters": { "tag": text } });
        let found = server.posted("/v1/feedback/search", body).await;
        assert_eq!(found["items"].as_array().unwrap().len(), 1, "{text:?}");
    }
}

/// A host may fail for a month before anyone looks: what was read then is said with its time.
#[tokio::test]
async fn answers_say_when_files_were_fetched_and_how_their_hosts_failed_since() {
    let mut server = Server::start();
    complete(&mut server);
    let expected = (json!(FETCHED[0]), json!(FETCHED[1]), json!("status 503"));
    let said = |file: &Value| {
        let of = |name: &str| file[name].clone();
        (of("fetchedAt"), of("checkedAt"), of("fetchError"))
    };
    let failed = name(0, FAILED);
    let one = server.got(&format!("/v1/agents/{failed}")).await;
    assert_eq!(one["registrationFile"]["name"], "Bob");
    assert_eq!(said(&one["registrationFile"]), expected);
    let filters = json!({ "agentIds": [failed, name(0, 21), name(0, 1)] });
    let options = json!({ "sort": ["createdAt:asc"] });
    let found = pages(&server, "/v1/agents/search", filters, options).await;
    let found: BTreeMap<_, _> = (found.iter())
        .map(|it| (it["id"].as_str().unwrap(), said(&it["registrationFile"])))
        .collect();
    let never = (Value::Null, Value::Null, Value::Null);
    assert_eq!(found[&*failed], expected);
    assert_eq!(found[&*name(0, 21)], never); // its URI holds it
    assert_eq!(found[&*name(0, 1)], never); // it waits
    let filters = json!({ "agents": [name(0, 20)], "reviewers": [account(120).to_string()] });
    let found = pages(&server, "/v1/feedback/search", filters, json!({})).await;
    let found: Vec<_> = found.iter().map(|it| said(&it["evidence"])).collect();
    assert_eq!(found, [expected.clone(), never.clone(), never]); // the newest first
    let path = format!("/v1/feedback/{}/open/{}/3", name(0, 20), account(120));
    assert_eq!(said(&server.got(&path).await["evidence"]), expected);
}

/// A second registry on the first chain, with an agent, feedback and a validation of its own.
fn second_registry(server: &mut Server) -> String {
    let mut second = deployment(0);
    second.contracts = Contracts::Evm(RegistryAddresses {
        identity: [0xcd; 20].into(),
        open_reputation: Some([5; 20].into()),
        authorized_reputation: None,
        validation: Some([6; 20].into()),
    });
    let id = server.store.claim(&second).unwrap();
    let validation = |request: u8| Event::ValidationRequested {
        agent: agent(1),
        validator: account(40),
        request: [request; 32],
        uri: String::new(),
        tag: None,
    };
    let registered = Event::AgentRegistered {
        agent: agent(1),
        owner: account(101),
        uri: String::new(),
    };
    let events = vec![registered, open(1, 1, 1), validation(2)];
    server
        .store
        .commit(id, &batch(0, 1, events), None, 64)
        .unwrap();
    let first = server.ids[0];
    server
        .store
        .commit(first, &batch(0, 1_000, vec![validation(1)]), None, 64)
        .unwrap();
    format!("{}:0x{}", CHAINS[0], "cd".repeat(20))
}

#[tokio::test]
async fn a_registry_of_several_on_a_chain_is_asked_by_its_name() {
    let mut server = Server::start();
    let second = second_registry(&mut server);
    let first = format!("{}:0x{}", CHAINS[0], "ab".repeat(20));
    let path = |chain: &str| {
        let validator = account(40);
        format!("/v1/validations?chain={chain}&validator={validator}")
    };
    let upper = second.replace("cd", "CD");
    for (chain, request) in [(&first, 1), (&second, 2), (&upper, 2)] {
        let found = server.got(&path(chain)).await;
        let items = found["items"].as_array().unwrap();
        assert_eq!(items.len(), 1, "{chain}");
        let expected = format!("0x{}", format!("{request:02x}").repeat(32));
        assert_eq!(items[0]["requestHash"], expected);
        assert_eq!(items[0]["agent"], format!("{}:1", chain.to_lowercase()));
    }
    let both = server.get(&path(CHAINS[0])).await;
    for name in [&first, &second, &"name one".to_owned()] {
        assert!(both.text.contains(name.as_str()), "{}", both.text);
    }
    assert_eq!(both.error().2, json!("chain"));
    let other = format!("{}:0x{}", CHAINS[0], "ef".repeat(20));
    let other = server.get(&path(&other)).await;
    assert!(other.text.contains("is not indexed here"), "{}", other.text);
    let own = all_given(0).iter().filter(|it| !it.is_revoked).count();
    for (chains, agents, feedback) in [
        (json!([second]), 1, 1),
        (json!([first]), 12, own),
        (json!([CHAINS[0]]), 13, own + 1),
        (json!([31_337]), 13, own + 1),
        (json!([first, second]), 13, own + 1),
    ] {
        let filters = json!({ "chains": chains });
        let options = json!({ "pageSize": 200 });
        let found = pages(
            &server,
            "/v1/agents/search",
            filters.clone(),
            options.clone(),
        )
        .await;
        assert_eq!(found.len(), agents, "{chains}");
        let found = pages(&server, "/v1/feedback/search", filters, options).await;
        assert_eq!(found.len(), feedback, "{chains}");
    }
}
