use crate::api::server::{Server, patient};
use crate::worlds::given::{AGENTS, account, agent, all_given, batch, name};
use axum::http::StatusCode;
use concord_canonical::summary::{Feedback, Query, summarize};
use concord_registry::{
    Event,
    event::{Profile, ValidationTag},
};
use serde_json::json;

#[tokio::test]
async fn r47_summaries_equal_the_canonical_ones_and_r48_state_their_set() {
    let server = Server::start();
    let given = all_given(1);
    let names: Vec<String> = (1..=AGENTS).map(|it| name(1, it)).collect();
    let clients = [2, 5, 103];
    let listed = clients.map(|it| account(it).to_string());
    let body = json!({ "agentIds": names, "clientAddresses": listed, "tag1": "speed" });
    let found = server.posted("/v1/summaries", body).await;
    for number in 1..=AGENTS {
        let feedback: Vec<Feedback<'_, u8>> = (given.iter())
            .filter(|it| it.profile == Profile::Open && it.agent == number)
            .map(|it| Feedback {
                client: it.client,
                value: it.value,
                decimals: it.decimals,
                tag1: it.tag1,
                tag2: it.tag2,
                is_revoked: it.is_revoked,
            })
            .collect();
        let query = Query {
            clients: &clients,
            tag1: "speed",
            tag2: "",
        };
        let expected = summarize(&feedback, &query).unwrap();
        let item = &found["items"][usize::from(number) - 1];
        assert_eq!(item["agent"], json!(names[usize::from(number) - 1]));
        assert_eq!(item["clientAddresses"], json!(listed));
        let summary = &item["summary"];
        assert_eq!(summary["count"], json!(expected.count), "{number}");
        assert_eq!(summary["summaryValue"], json!(expected.value.to_string()));
        assert_eq!(summary["summaryValueDecimals"], json!(expected.decimals));
        // By URL, the same.
        let (agent, listed) = (&names[usize::from(number) - 1], listed.join(","));
        let path = format!("/v1/agents/{agent}/summary?clientAddresses={listed}&tag1=speed");
        assert_eq!(&server.got(&path).await, item);
    }
}

#[tokio::test]
async fn r13_a_summary_of_scores_separates_what_has_proof_of_payment() {
    let server = Server::start();
    let given = all_given(0);
    for number in 1..=AGENTS {
        let of = given
            .iter()
            .filter(|it| it.profile == Profile::Authorized && it.agent == number && !it.is_revoked);
        let (paid, unpaid): (Vec<_>, Vec<_>) = of.partition(|it| it.paid.is_some());
        let path = format!(
            "/v1/agents/{}/summary?clientAddresses=everyone&profile=authorized",
            name(0, number)
        );
        let found = server.got(&path).await;
        assert_eq!(found["clientAddresses"], "everyone");
        let average = |of: &[&crate::worlds::given::Given]| match of.len() as i128 {
            0 => 0,
            count => of.iter().map(|it| it.value).sum::<i128>() / count,
        };
        let summary = &found["summary"];
        assert_eq!(summary["verified"]["count"], json!(paid.len()));
        assert_eq!(summary["verified"]["averageScore"], json!(average(&paid)));
        assert_eq!(summary["unverified"]["count"], json!(unpaid.len()));
        assert_eq!(
            summary["unverified"]["averageScore"],
            json!(average(&unpaid))
        );
        assert_eq!(summary["count"], json!(paid.len() + unpaid.len()));
    }
}

#[tokio::test]
async fn r48_a_summary_without_reviewers_is_refused() {
    let server = Server::start();
    let path = "/v1/summaries";
    let names = [name(0, 1)];
    for body in [
        json!({ "agentIds": names }),
        json!({ "agentIds": names, "clientAddresses": [] }),
        json!({ "agentIds": names, "clientAddresses": "all" }),
    ] {
        let (status, code, field) = server.post(path, &body).await.error();
        assert_eq!((status, code.as_str()), (400, "malformed"), "{body}");
        assert_eq!(field, json!("clientAddresses"), "{body}");
    }
    let url = format!("/v1/agents/{}/summary", names[0]);
    assert_eq!(server.get(&url).await.error().2, json!("clientAddresses"));
    let body = json!({ "filters": { "feedback": { "minValue": 80 } } });
    let refused = server.post("/v1/agents/search", &body).await.error();
    assert_eq!(refused.2, json!("filters.feedback.fromReviewers"));
}

#[tokio::test]
async fn validations_are_paged_by_agent_and_by_validator() {
    let mut server = Server::start();
    let requests: Vec<Event> = (1..=9)
        .map(|number| Event::ValidationRequested {
            agent: agent(number % 3 + 1),
            validator: account(50 + number % 2),
            request: [number; 32],
            uri: "ipfs://request".to_owned(),
            tag: None,
        })
        .collect();
    let answered = Event::ValidationResponded {
        agent: agent(2),
        validator: account(50),
        request: [4; 32],
        score: 80,
        uri: "ipfs://evidence".to_owned(),
        hash: [5; 32],
        tag: ValidationTag::Text("done".to_owned()),
    };
    let events = [requests, vec![answered]].concat();
    let id = server.ids[0];
    server
        .store
        .commit(id, &batch(0, 1_000, events), None, 64)
        .unwrap();
    let hash = |number: u8| format!("0x{}", hex::encode([number; 32]));
    // Of agent 2: requests 1, 4 and 7; of validator 50: 2, 6, 4, 8 by agent, then by hash.
    let cases = [
        (
            format!("/v1/agents/{}/validations?", name(0, 2)),
            vec![1, 4, 7],
        ),
        (
            format!(
                "/v1/validations?chain=eip155:31337&validator={}&",
                account(50)
            ),
            vec![6, 4, 2, 8],
        ),
        (
            format!("/v1/agents/{}/validations?answered=true&", name(0, 2)),
            vec![4],
        ),
    ];
    for (path, expected) in cases {
        let mut found = Vec::new();
        let mut cursor = String::new();
        loop {
            let page = server.got(&format!("{path}pageSize=2{cursor}")).await;
            let items = page["items"].as_array().unwrap();
            found.extend(items.iter().map(|it| it["requestHash"].clone()));
            match page["nextCursor"].as_str() {
                None => break,
                Some(next) => cursor = format!("&cursor={next}"),
            }
        }
        let expected: Vec<_> = expected.into_iter().map(|it| json!(hash(it))).collect();
        assert_eq!(found, expected, "{path}");
    }
}

/// Tags and reviewers are in the answer once for each agent.
#[tokio::test]
async fn summaries_of_many_agents_have_a_limit() {
    let server = Server::with(concord_index::api::Limits {
        bytes: 100_000,
        ..patient()
    });
    let body = |agents: usize| {
        json!({
            "agentIds": vec![name(0, 1); agents],
            "clientAddresses": "everyone",
            "tag1": "x".repeat(10_000),
        })
    };
    let few = server.posted("/v1/summaries", body(9)).await;
    assert_eq!(few["items"].as_array().unwrap().len(), 9);
    let many = server.post("/v1/summaries", &body(10)).await;
    assert_eq!(many.status, StatusCode::BAD_REQUEST);
    let expected = "agentIds: the answer has more than 100000 bytes; ask for fewer agents";
    assert_eq!(many.json()["error"]["message"], expected);
}
