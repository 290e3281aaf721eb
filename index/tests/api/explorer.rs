//! The explorer's pages over a store with two chains. A browser looks at them in `tests/index`.
use crate::api::{
    furnished::{FAILED, complete},
    server::{Server, patient},
};
use crate::worlds::given::{CHAINS, account, agent, all_given, batch, blocks, name, open};
use axum::http::{StatusCode, header};
use concord_index::api::ExplainPage;
use concord_registry::{Event, event::Profile};
use serde_json::json;

async fn page(server: &Server, path: &str) -> String {
    let answer = server.get(path).await;
    assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.text);
    assert_eq!(
        answer.headers[header::CONTENT_TYPE],
        "text/html; charset=utf-8"
    );
    answer.text
}

#[tokio::test]
async fn agents_of_every_chain_are_listed_page_by_page() {
    let server = Server::start();
    let both = page(&server, "/").await;
    let one = page(&server, &format!("/?chain={}", CHAINS[1])).await;
    for number in 1..=12 {
        for chain in 0..2 {
            let name = name(chain, number);
            assert!(both.contains(&format!(">{name}<")), "{name}");
            assert_eq!(one.contains(&format!(">{name}<")), chain == 1, "{name}");
        }
    }
    let small = Server::with(concord_index::api::Limits {
        page: 5,
        ..patient()
    });
    let mut path = "/?sort=createdAt:asc".to_owned();
    let mut found = 0;
    loop {
        let text = page(&small, &path).await;
        found += text.matches("class=\"id\"").count();
        let Some((_, link)) = text.split_once("rel=\"next\" href=\"") else {
            break;
        };
        path = link.split_once('"').unwrap().0.replace("&amp;", "&");
    }
    assert_eq!(found, 24);
}

#[tokio::test]
async fn an_agents_page_has_both_profiles_and_its_gaps() {
    let mut server = Server::start();
    let id = name(0, 1);
    let text = page(&server, &format!("/agent/{id}")).await;
    let count = |profile| {
        let given = all_given(0).into_iter();
        given
            .filter(|it| it.agent == 1 && it.profile == profile && !it.is_revoked)
            .count()
    };
    for (kind, profile) in [
        ("Open feedback", Profile::Open),
        ("Authorized scores", Profile::Authorized),
    ] {
        let (_, of) = text
            .split_once(&format!("<h3>{kind}, by everyone"))
            .unwrap();
        let of = of.split_once("</section>").unwrap().0;
        assert!(
            of.contains(&format!("of <strong>{}</strong>", count(profile))),
            "{of}"
        );
    }
    assert!(!text.contains("Events of this agent are missing"));
    let deployment = server.ids[0];
    let batch = batch(0, 1_000, vec![open(77, 1, 3)]);
    server.store.commit(deployment, &batch, None, 64).unwrap();
    let text = page(&server, &format!("/agent/{id}")).await;
    assert!(text.contains("Events of this agent are missing")); // R46
    let gap = format!("feedback 1 to 2 (open) by <code><bdi>{}", account(77));
    assert!(text.contains(&gap), "{text}");
    let status = page(&server, "/status").await;
    assert!(
        status.contains("/?incomplete=1&amp;chain=eip155%3A31337"),
        "{status}"
    );
    assert!(status.contains("none was seen"), "{status}");
}

/// Anyone can give so much feedback that none of a listed reviewer's is among the newest.
#[tokio::test]
async fn what_the_listed_reviewers_gave_is_drawn_however_much_others_gave() {
    let mut server = Server::start();
    let loud = (1..=600).map(|index| open(77, 20, index));
    let deployment = server.ids[0];
    for (block, events) in [
        (1_000, vec![open(1, 20, 1), open(1, 20, 2)]),
        (1_001, loud.collect()),
    ] {
        let batch = batch(0, block, events);
        server.store.commit(deployment, &batch, None, 64).unwrap();
    }
    let path = format!("/agent/{}?reviewers={}", name(0, 20), account(1));
    let text = page(&server, &path).await;
    for words in [
        "Of everyone's feedback, the newest 500 are drawn, and their averages.",
        "2 by the listed reviewers.",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(
        !text.contains("Of the listed reviewers' feedback"),
        "{text}"
    );
    let path = format!("/agent/{}?reviewers={}", name(0, 20), account(2));
    let text = page(&server, &path).await;
    assert!(text.contains("The listed reviewers gave none."), "{text}");
}

#[tokio::test]
async fn scores_are_drawn_as_open_feedback_is() {
    let server = Server::start();
    let text = page(&server, &format!("/agent/{}", name(0, 1))).await;
    let (open, authorized) = text.split_once("<h3>Authorized scores").unwrap();
    for (of, profile) in [(open, Profile::Open), (authorized, Profile::Authorized)] {
        let given = all_given(0).into_iter();
        let given = given.filter(|it| it.agent == 1 && it.profile == profile && !it.is_revoked);
        let drawn = format!("{} feedbacks from", given.count());
        assert!(of.contains(&drawn), "{drawn}: {of}");
    }
}

#[tokio::test]
async fn what_a_chain_took_back_is_shown_as_it_was_noted() {
    let mut server = Server::start();
    let (id, fork) = (server.ids[0], batch(0, 309, vec![]).through);
    let taken: usize = blocks(0).iter().skip(309).map(|(_, it)| it.len()).sum();
    let noticed = 1_700_000_000;
    server.store.roll_back(id, &fork, noticed).unwrap();
    let status = server.got("/v1/status").await;
    let one = serde_json::json!({
        "noticedAt": noticed,
        "fromBlock": 310,
        "toBlock": 312,
        "depth": 3,
        "forkHash": format!("0x{}", "01".repeat(32)),
        "replacedHash": format!("0x{}", "01".repeat(32)),
        "events": taken,
    });
    let expected = serde_json::json!({ "count": 1, "deepest": 3, "newest": [one] });
    assert_eq!(status["deployments"][0]["reorganizations"], expected);
    assert_eq!(status["deployments"][1]["reorganizations"]["count"], 0);
    let text = page(&server, "/status").await;
    for words in [
        "1 since this index began; the deepest took 3 blocks back".to_owned(),
        format!("Blocks 310 to 312 (depth 3) were taken back, with {taken} events"),
        "2023-11-14 22:13:20 UTC".to_owned(),
    ] {
        assert!(text.contains(&words), "{words}: {text}");
    }
    let metrics = server.get("/metrics").await.text;
    assert!(
        metrics.contains("concord_index_reorganizations{chain=\"eip155:31337\""),
        "{metrics}"
    );
}

/// R49: that the content is proven does not mean that it is a file, or agrees with the chain.
#[tokio::test]
async fn verified_content_that_cannot_be_read_or_differs_has_a_warning() {
    let mut server = Server::start();
    complete(&mut server);
    let text = page(&server, &format!("/agent/{}", name(0, 20))).await;
    let rows: Vec<&str> = text.split("<li>").collect();
    let verified = "<span class=\"good\">content verified</span>";
    for warning in ["file unreadable", "file differs from the chain"] {
        let warning = format!("<span class=\"warn\">{warning}</span>");
        let mut found = rows.iter().filter(|it| it.contains(&warning));
        assert!(found.any(|it| it.contains(verified)), "{text}");
    }
}

#[tokio::test]
async fn a_page_that_cannot_be_shown_says_why() {
    let server = Server::start();
    for (path, status) in [
        ("/?sort=stars:up", 400),
        ("/?tag=x", 400),
        ("/?cursor=00", 400),
        ("/agent/eip155:2:0x12:1", 404),
        ("/agent/%3Cscript%3E", 400),
        ("/feedback/31337:1/open/0x12/1", 400),
        ("/agent/%FF", 400),
        ("/feedback/31337:1/open/%FF/1", 400),
    ] {
        let answer = server.get(path).await;
        assert_eq!(answer.status.as_u16(), status, "{path}: {}", answer.text);
        assert!(answer.text.contains("role=\"alert\""), "{path}");
        assert!(!answer.text.contains("<script"), "{path}");
    }
}

/// Chromium opens the page that is built, in `tests/index/explain.test.mjs`.
#[tokio::test]
async fn the_page_that_verifies_bundles_is_served_as_it_is_with_its_own_policy() {
    let policy = "default-src 'none'; script-src 'sha256-AA==' 'wasm-unsafe-eval'";
    let html = format!(
        "<!doctype html><meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\"><p>page"
    );
    let server = Server::with_explain_page(ExplainPage::new(html.clone()).unwrap());
    let answer = server.get("/explain").await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(answer.text, html);
    let header = |name| answer.headers[name].to_str().unwrap().to_owned();
    assert_eq!(header(header::CONTENT_TYPE), "text/html; charset=utf-8");
    let served = header(header::CONTENT_SECURITY_POLICY);
    assert_eq!(served, format!("{policy}; frame-ancestors 'none'"));
    assert_eq!(header(header::X_CONTENT_TYPE_OPTIONS), "nosniff");
    // every other page keeps the policy without a script
    let other = server.get("/").await.headers[header::CONTENT_SECURITY_POLICY].clone();
    assert!(!other.to_str().unwrap().contains("script-src"), "{other:?}");
}

#[tokio::test]
async fn without_that_page_the_command_is_named() {
    let server = Server::start();
    let text = page(&server, "/explain").await;
    assert!(text.contains("concord explain --from FILE"), "{text}");
}

#[tokio::test]
async fn a_feedback_and_an_agent_say_which_command_verifies_them() {
    let server = Server::start();
    for (chain, network) in CHAINS.iter().enumerate() {
        let id = name(chain, 1);
        let agent = page(&server, &format!("/agent/{id}")).await;
        let words = format!("concord explain agent {id} --rpc {network}=URL");
        assert!(agent.contains(&words), "{agent}");
        let reviewer = account(3);
        let listed = page(&server, &format!("/agent/{id}?reviewers={reviewer}")).await;
        let words = format!("concord explain summary {id} --reviewer {reviewer} --rpc");
        assert!(listed.contains(&words), "{listed}");
        let link = "href=\"/feedback/";
        let (_, rest) = agent.split_once(link).unwrap();
        let path = rest.split_once('"').unwrap().0;
        let feedback = page(&server, &format!("/feedback/{path}")).await;
        let words = format!("concord explain {network}:");
        assert!(feedback.contains(&words), "{feedback}");
        assert!(feedback.contains("href=\"/explain\""));
    }
}

#[tokio::test]
async fn a_page_says_when_a_file_was_fetched_and_that_its_host_has_failed_since() {
    let mut server = Server::start();
    complete(&mut server);
    let (client, about) = (account(120), name(0, 20));
    for path in [
        format!("/agent/{}", name(0, FAILED)),
        format!("/feedback/{about}/open/{client}/3"),
    ] {
        let text = page(&server, &path).await;
        assert!(text.contains("2023-11-16 02:00:00 UTC</time>."), "{text}"); // FETCHED, by date(1)
        assert!(text.contains("Its host has failed since"), "{text}");
        assert!(text.contains("2023-11-17 05:46:40 UTC"), "{text}");
        assert!(text.contains("status 503"), "{text}");
    }
    let text = page(&server, &format!("/agent/{}", name(0, 21))).await; // its URI holds the file
    assert!(!text.contains("Fetched on") && !text.contains("failed since"));
}

/// ERC-8217: agent 20 names a contract that confirms the binding and does not own the agent, until it does.
#[tokio::test]
async fn a_binding_is_shown_as_declared_until_the_owner_is_the_contract() {
    let mut server = Server::start();
    complete(&mut server);
    let (path, api) = (
        format!("/agent/{}", name(0, 20)),
        format!("/v1/agents/{}", name(0, 20)),
    );
    let contract = account(0x55).to_string();
    let declared = json!({
        "contract": contract,
        "proven": false,
        "reason": "the binding contract does not own the agent",
        "standard": "ERC1155",
        "tokenContract": account(0x99).to_string(),
        "tokenId": "0",
        "block": 1_001,
    });
    assert_eq!(server.got(&api).await["binding"], declared);
    let text = page(&server, &path).await;
    assert!(text.contains("<dt>Bound to</dt>") && text.contains("only declared"));
    assert!(!text.contains(">proven<"), "{text}");

    let given = Event::AgentTransferred {
        agent: agent(20),
        from: account(120),
        to: account(0x55),
    };
    let batch = batch(0, 1_002, vec![given]);
    server
        .store
        .commit(server.ids[0], &batch, None, 64)
        .unwrap();
    let proven = server.got(&api).await["binding"].clone();
    assert_eq!(
        (&proven["proven"], &proven["reason"]),
        (&json!(true), &json!(null))
    );
    let text = page(&server, &path).await;
    assert!(text.contains(">proven</span> (block 1001)"), "{text}");
    assert!(!text.contains("only declared"), "{text}");
    let other = server.got(&format!("/v1/agents/{}", name(0, 1))).await;
    assert_eq!(other["binding"], json!(null));
}
