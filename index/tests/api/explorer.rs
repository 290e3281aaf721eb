//! The explorer's pages over a store with two chains. A browser looks at them in `tests/index`.
use crate::{
    given::{CHAINS, account, agent, all_given, batch, name},
    server::Server,
};
use axum::http::{StatusCode, header};
use concord_registry::{Event, event::Profile};

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
        ..Default::default()
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
    let third = Event::OpenFeedback {
        agent: agent(1),
        client: account(77),
        index: 3,
        value: 1,
        decimals: 0,
        tag1: String::new(),
        tag2: String::new(),
        endpoint: String::new(),
        uri: String::new(),
        hash: [0; 32],
    };
    let deployment = server.ids[0];
    let batch = batch(0, 1_000, vec![third]);
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
    ] {
        let answer = server.get(path).await;
        assert_eq!(answer.status.as_u16(), status, "{path}: {}", answer.text);
        assert!(answer.text.contains("role=\"alert\""), "{path}");
        assert!(!answer.text.contains("<script"), "{path}");
    }
}
