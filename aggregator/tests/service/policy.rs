//! Allowed agents, cool-down, rates and budgets (R52, R53): to the second, across restarts, and over HTTP.
use crate::{
    generous::{DAY, REGISTRY, address, aggregator, key, review},
    payload::Draft,
    world::{Running, Settings, World, network},
};
use axum::{
    body::{Body, to_bytes},
    extract::ConnectInfo,
    http::{HeaderName, Request},
};
use concord_aggregator::{Aggregator, AllowedAgents, Limits, Rate, Refusal, Service, router};
use concord_x402::feedback::{FileFolder, FileStore};
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};
use tower::ServiceExt;

async fn submit(to: &Aggregator, draft: &Draft, from: &str, at: u64) -> Result<u64, Refusal> {
    let address = (!from.is_empty()).then(|| from.parse().unwrap());
    let body = draft.json().to_string();
    let row = to.submit(body.as_bytes(), address, at).await?;
    Ok(row.receipt.n)
}

/// The class, and the seconds to wait.
async fn refused(to: &Aggregator, draft: &Draft, from: &str, at: u64) -> (String, u64) {
    let refusal = submit(to, draft, from, at).await.unwrap_err();
    let (status, code) = (refusal.code.status(), refusal.code.name());
    assert_eq!((status, code), (429, "RATE_LIMITED"), "{refusal}");
    (refusal.class, refusal.retry_after.unwrap())
}

fn wait(class: &str, seconds: u64) -> (String, u64) {
    (class.to_owned(), seconds)
}

fn rate(count: u32, seconds: u64) -> Option<Rate> {
    Some(Rate { count, seconds })
}

#[tokio::test]
async fn r53_without_limits_everything_is_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let all = aggregator(folder.path(), Limits::default(), AllowedAgents::new());
    for payment in 1..=40 {
        let draft = review(payment, 1, 1);
        let n = submit(&all, &draft, "203.0.113.7", DAY).await.unwrap();
        assert_eq!(n, payment);
    }
}

#[tokio::test]
async fn r52_a_cool_down_is_of_one_reviewer_and_one_agent_and_survives_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits {
        cool_down: Some(100),
        ..Limits::default()
    };
    let first = aggregator(folder.path(), limits, AllowedAgents::new());
    submit(&first, &review(1, 1, 1), "", DAY).await.unwrap();
    submit(&first, &review(2, 1, 2), "", DAY).await.unwrap();
    submit(&first, &review(3, 2, 1), "", DAY).await.unwrap();
    drop(first);
    let second = aggregator(folder.path(), limits, AllowedAgents::new());
    let next = review(4, 1, 1);
    assert_eq!(
        refused(&second, &next, "", DAY).await,
        wait("CoolDown", 100)
    );
    // the reviewer's address in another spelling is the same reviewer
    let mut shouted = next.clone();
    shouted.reviewer = format!("eip155:84532:0x{}", address(1)[2..].to_uppercase());
    assert_eq!(
        refused(&second, &shouted, "", DAY + 99).await,
        wait("CoolDown", 1)
    );
    // the first one again is not a new submission (R51)
    assert_eq!(submit(&second, &review(1, 1, 1), "", DAY).await, Ok(1));
    assert_eq!(submit(&second, &next, "", DAY + 100).await, Ok(4));
    assert_eq!(
        refused(&second, &review(5, 1, 1), "", DAY + 100).await,
        wait("CoolDown", 100)
    );
}

#[tokio::test]
async fn r52_a_reviewer_and_an_address_have_so_many_in_any_span() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits {
        per_reviewer: rate(2, 60),
        per_address: rate(3, 10),
        ..Limits::default()
    };
    let all = aggregator(folder.path(), limits, AllowedAgents::new());
    let (here, there) = ("203.0.113.7", "203.0.113.8");
    submit(&all, &review(1, 1, 1), here, DAY).await.unwrap();
    submit(&all, &review(2, 1, 2), here, DAY + 5).await.unwrap();
    let third = review(3, 1, 3);
    assert_eq!(
        refused(&all, &third, there, DAY + 5).await,
        wait("ReviewerRate", 55)
    );
    submit(&all, &review(4, 2, 1), here, DAY + 6).await.unwrap();
    let fourth = review(5, 3, 1);
    assert_eq!(
        refused(&all, &fourth, here, DAY + 6).await,
        wait("AddressRate", 4)
    );
    // the same address, mapped into IPv6
    let mapped = "::ffff:203.0.113.7";
    assert_eq!(
        refused(&all, &fourth, mapped, DAY + 9).await,
        wait("AddressRate", 1)
    );
    // a reviewer's rate comes before an address's
    assert_eq!(
        refused(&all, &third, here, DAY + 6).await,
        wait("ReviewerRate", 54)
    );
    submit(&all, &fourth, there, DAY + 6).await.unwrap();
    submit(&all, &review(6, 3, 2), here, DAY + 10)
        .await
        .unwrap();
    submit(&all, &third, there, DAY + 60).await.unwrap();
}

#[tokio::test]
async fn r52_an_ipv6_client_has_one_rate_for_its_64_bits() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits {
        per_address: rate(1, 10),
        ..Limits::default()
    };
    let all = aggregator(folder.path(), limits, AllowedAgents::new());
    submit(&all, &review(1, 1, 1), "2001:db8:1:2::1", DAY)
        .await
        .unwrap();
    let next = review(2, 2, 1);
    let neighbour = "2001:db8:1:2:ffff::9";
    assert_eq!(
        refused(&all, &next, neighbour, DAY).await,
        wait("AddressRate", 10)
    );
    submit(&all, &next, "2001:db8:1:3::1", DAY).await.unwrap();
    // clients whose address is not known share one
    submit(&all, &review(3, 3, 1), "", DAY).await.unwrap();
    assert_eq!(
        refused(&all, &review(4, 4, 1), "", DAY).await,
        wait("AddressRate", 10)
    );
}

#[tokio::test]
async fn r52_budgets_are_of_an_agent_and_of_the_day() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits {
        per_agent_and_day: Some(2),
        per_day: Some(3),
        ..Limits::default()
    };
    let all = aggregator(folder.path(), limits, AllowedAgents::new());
    let noon = DAY + 43_200;
    submit(&all, &review(1, 1, 1), "", DAY).await.unwrap();
    submit(&all, &review(2, 2, 1), "", noon).await.unwrap();
    let third = review(3, 3, 1);
    assert_eq!(
        refused(&all, &third, "", noon).await,
        wait("AgentBudget", 43_200)
    );
    submit(&all, &review(4, 3, 2), "", noon).await.unwrap();
    let fourth = review(5, 3, 3);
    assert_eq!(
        refused(&all, &fourth, "", noon + 1).await,
        wait("DayBudget", 43_199)
    );
    assert_eq!(
        refused(&all, &third, "", DAY + 86_399).await,
        wait("AgentBudget", 1)
    );
    submit(&all, &third, "", DAY + 86_400).await.unwrap();
}

/// R52: cool-down, then rate, then budget, and all of them after every other check.
#[tokio::test]
async fn r52_limits_come_last_and_in_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits {
        cool_down: Some(10),
        per_reviewer: rate(1, 20),
        per_address: rate(1, 30),
        per_agent_and_day: Some(1),
        per_day: Some(1),
    };
    let all = aggregator(folder.path(), limits, AllowedAgents::new());
    submit(&all, &review(1, 1, 1), "", DAY).await.unwrap();
    let next = review(2, 1, 1);
    let mut unsigned = next.clone();
    unsigned.agent_key = key(5);
    let refusal = submit(&all, &unsigned, "", DAY).await.unwrap_err();
    assert_eq!(refusal.class, "SignerUnknown");
    let mut other = review(1, 1, 1);
    other.value = 1;
    let refusal = submit(&all, &other, "", DAY).await.unwrap_err();
    assert_eq!(refusal.code.name(), "DUPLICATE_TASK_REF");
    for (at, class) in [
        (9, "CoolDown"),
        (10, "ReviewerRate"),
        (20, "AddressRate"),
        (30, "AgentBudget"),
    ] {
        assert_eq!(refused(&all, &next, "", DAY + at).await.0, class, "{at}");
    }
    let elsewhere = review(3, 2, 2);
    assert_eq!(refused(&all, &elsewhere, "", DAY + 30).await.0, "DayBudget");
}

#[tokio::test]
async fn r52_of_many_at_once_only_the_budget_is_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits {
        per_agent_and_day: Some(5),
        ..Limits::default()
    };
    let all = Arc::new(aggregator(folder.path(), limits, AllowedAgents::new()));
    let mut posts = Vec::new();
    for payment in 1..=30 {
        let all = all.clone();
        let post = async move { submit(&all, &review(payment, 1, 1), "", DAY).await.is_ok() };
        posts.push(tokio::spawn(post));
    }
    let mut accepted = 0;
    for post in posts {
        accepted += u32::from(post.await.unwrap());
    }
    assert_eq!(accepted, 5);
    assert_eq!(all.store().page(1, 100).unwrap().len(), 5);
}

#[tokio::test]
async fn r52_an_agent_that_is_not_served_is_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let agents = BTreeMap::from([(REGISTRY.to_owned(), BTreeSet::from(["2".to_owned()]))]);
    let some = aggregator(folder.path(), Limits::default(), agents);
    let refusal = submit(&some, &review(1, 1, 1), "", DAY).await.unwrap_err();
    let found = (
        refusal.code.name(),
        &*refusal.class,
        refusal.field.as_deref(),
    );
    let field = Some("interactionData.agentId");
    assert_eq!(found, ("UNKNOWN_AGENT", "AgentNotServed", field));
    submit(&some, &review(2, 1, 2), "", DAY).await.unwrap();
}

/// A store of the first version: what it has counts as well.
#[tokio::test]
async fn r52_what_an_older_version_accepted_counts() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits {
        cool_down: Some(100),
        per_agent_and_day: Some(2),
        ..Limits::default()
    };
    let first = aggregator(folder.path(), limits, AllowedAgents::new());
    let mut shouted = review(1, 1, 1);
    shouted.reviewer = format!("eip155:84532:0x{}", address(1)[2..].to_uppercase());
    submit(&first, &shouted, "", DAY).await.unwrap();
    drop(first);
    let older = rusqlite::Connection::open(folder.path().join("aggregator.sqlite")).unwrap();
    let undo = "DROP INDEX submission_work; CREATE INDEX submission_open ON submission (lane, n) WHERE is_done = 0; \
                DROP TABLE response_tx; DROP TABLE response; DROP VIEW acceptance; DROP TABLE sponsored; DROP TABLE lease; DROP TABLE settled; DROP INDEX submission_agent; DROP INDEX submission_reviewer; \
                DROP INDEX submission_time; DROP INDEX submission_of_uri; ALTER TABLE submission DROP COLUMN uri; DROP INDEX submission_state; DROP TABLE revocation_tx; \
                DROP TABLE revocation; ALTER TABLE submission DROP COLUMN agent; \
                ALTER TABLE submission DROP COLUMN reviewer; \
                ALTER TABLE submission DROP COLUMN reverts; \
                ALTER TABLE submission DROP COLUMN landed_at; ALTER TABLE submission DROP COLUMN yields; PRAGMA user_version = 1;";
    older.execute_batch(undo).unwrap();
    drop(older);
    let second = aggregator(folder.path(), limits, AllowedAgents::new());
    assert_eq!(
        refused(&second, &review(2, 1, 1), "", DAY + 1).await,
        wait("CoolDown", 99)
    );
    submit(&second, &review(3, 2, 1), "", DAY + 1)
        .await
        .unwrap();
    let (class, _) = refused(&second, &review(4, 3, 1), "", DAY + 1).await;
    assert_eq!(class, "AgentBudget");
}

/// Whose address counts: the connection's, or the last one that the named header has. The day's budget comes
/// after the address's rate, so it answers whoever is not the one who submitted.
#[tokio::test]
async fn an_address_is_the_peers_unless_a_proxy_is_configured() {
    let header = HeaderName::from_static("x-forwarded-for");
    let (peer, proxied) = ("203.0.113.7", "198.51.100.2");
    let limits = Limits {
        per_address: rate(1, 1_000_000),
        per_day: Some(1),
        ..Limits::default()
    };
    for (is_behind_proxy, submitted, expected) in [
        (false, peer, ["AddressRate"; 3]),
        (false, proxied, ["DayBudget"; 3]),
        (true, peer, ["DayBudget"; 3]),
        (true, proxied, ["AddressRate", "DayBudget", "AddressRate"]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let limited = aggregator(folder.path(), limits, AllowedAgents::new());
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let later = now.as_secs() + 200_000; // whatever the day is when the next one comes
        submit(&limited, &review(1, 1, 1), submitted, later)
            .await
            .unwrap();
        let routes = router(Service {
            aggregator: Arc::new(limited),
            files: folder.path().join("files"),
            address_header: is_behind_proxy.then(|| header.clone()),
        });
        let forwarded = [
            "198.51.100.2",
            "198.51.100.2, 198.51.100.1",
            "1.1.1.1,198.51.100.2",
        ];
        for (forwarded, class) in forwarded.iter().zip(expected) {
            let mut request = Request::post("/feedback")
                .header(&header, *forwarded)
                .body(Body::from(review(2, 2, 2).json().to_string()))
                .unwrap();
            let from: SocketAddr = format!("{peer}:4000").parse().unwrap();
            request.extensions_mut().insert(ConnectInfo(from));
            let answer = routes.clone().oneshot(request).await.unwrap();
            assert_eq!(answer.status().as_u16(), 429);
            assert!(answer.headers().contains_key("retry-after"));
            let body = to_bytes(answer.into_body(), 10_000).await.unwrap();
            let body: Value = serde_json::from_slice(&body).unwrap();
            assert_eq!(
                body["class"], class,
                "{is_behind_proxy} {submitted} {forwarded}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r52_a_limit_that_is_reached_is_429_and_the_same_payload_is_still_answered() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let (place, registries) = (world.place(), world.place().registries().await);
    let admission = place.admission(vec![place.served()]).await;
    let files: Arc<dyn FileStore> = Arc::new(FileFolder::ipfs(&folder.path().join("files")));
    let settings = Settings {
        limits: Limits {
            cool_down: Some(1_000),
            ..Limits::default()
        },
        ..Settings::default()
    };
    let settlement = world.place().settlement();
    let folder = folder.path();
    let running =
        Running::configured(settings, folder, registries, &settlement, admission, files).await;
    let first = world.review(&world.pay(1).await);
    assert_eq!(running.submit(&first).await.status, 200);
    let second = world.review(&world.pay(1).await);
    let answer = running.submit(&second).await;
    let found = ["status", "code", "class"].map(|it| answer.body[it].as_str().unwrap());
    assert_eq!(
        found,
        ["error", "RATE_LIMITED", "CoolDown"],
        "{}",
        answer.body
    );
    assert_eq!(answer.status, 429);
    assert!((1..=1_000).contains(&answer.retry_after.unwrap()));
    assert!(
        answer.body["message"]
            .as_str()
            .unwrap()
            .contains(&network())
    );
    assert_eq!(running.submit(&first).await.status, 200, "R51");
    assert_eq!(world.feedbacks().await, 1);
    running.stop().await;
}
