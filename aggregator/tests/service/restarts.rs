//! The store across processes, a client that is asked to come back, a registry that refuses,
//! and a reorganisation.
use crate::world::{RECEIPT_SEED, Running, Settings, World, pause, store};
use alloy::transports::http::reqwest;
use async_trait::async_trait;
use concord_aggregator::store::{RowState, Store, StoreError};
use concord_canonical::sign::PreparedKey;
use concord_chain::{ChainError, submission::TxRecord};
use concord_testkit::hooked_registry::{Hooked, Hooks};
use concord_x402::feedback::{FeedbackError, FeedbackJob, FeedbackRegistry};
use serde_json::json;
use std::sync::Arc;

#[test]
fn a_store_has_one_process_one_key_and_a_known_schema() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("aggregator.sqlite");
    let open = |seed: [u8; 32]| Store::open(&path, PreparedKey::ed25519(&seed));
    let first = store(folder.path());
    let second = open(RECEIPT_SEED).err();
    assert!(matches!(second, Some(StoreError::Locked(_))), "{second:?}");
    drop(first);
    let other = open([1; 32]).err();
    assert!(
        matches!(other, Some(StoreError::OtherKey { .. })),
        "{other:?}"
    );
    open(RECEIPT_SEED).unwrap();
    let later = rusqlite::Connection::open(&path).unwrap();
    later.execute_batch("PRAGMA user_version = 99").unwrap();
    drop(later);
    let newer = open(RECEIPT_SEED).err();
    assert!(
        matches!(newer, Some(StoreError::Schema { found: 99, .. })),
        "{newer:?}"
    );
}

/// R56: no block comes for longer than a client waits.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r56_a_client_that_waited_is_told_where_to_ask() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings {
        wait: None,
        ..Settings::default()
    };
    let running = Running::start_with(settings, 1, &world, folder.path()).await;
    let draft = world.review(&world.pay(1).await);
    world.stop_mining().await;
    let waiting = running.submit(&draft).await;
    assert_eq!(
        (waiting.status, &waiting.body["status"]),
        (202, &json!("accepted")),
        "{}",
        waiting.body
    );
    assert_eq!(waiting.body.get("txRef"), None);
    assert!(waiting.body["receipt"]["signature"].is_string());
    // relative to the request, so that it holds wherever the routes are mounted
    let posted: reqwest::Url = format!("{}/feedback", running.origin).parse().unwrap();
    let polled = posted.join(&waiting.location.unwrap()).unwrap();
    let place = polled.path().to_owned();
    let still = running.get(&place).await;
    assert_eq!(still.status, 202);
    assert_eq!(polled.join(&still.location.unwrap()).unwrap(), polled);
    world.mine_again().await;
    let answer = loop {
        let answer = running.get(&place).await;
        if answer.status != 202 {
            break answer;
        }
        pause().await;
    };
    assert_eq!(
        (answer.status, &answer.body["status"]),
        (200, &json!("submitted"))
    );
    assert_eq!(answer.body["receipt"], waiting.body["receipt"]);
    assert_eq!(world.feedbacks().await, 1);
    running.stop().await;
}

/// The registry reverts what was accepted. The receipt stays, with the reason.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_registry_refuses_for_good_is_shown_and_can_be_retried() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let draft = world.review(&world.pay(1).await);
    let code = world.break_registry().await;
    let running = Running::start(&world, folder.path()).await;
    let answer = running.submit(&draft).await;
    assert_eq!(
        (answer.status, &answer.body["class"]),
        (422, &json!("RefusedByRegistry")),
        "{}",
        answer.body
    );
    assert!(answer.body["message"].as_str().unwrap().contains("revert"));
    assert!(answer.body["receipt"]["signature"].is_string());
    assert_eq!(
        running.store.get(1).unwrap().unwrap().state,
        RowState::Refused
    );
    world.set_code(&code).await;
    assert_eq!(running.store.retry().await.unwrap(), 1);
    running.finish(1).await;
    assert_eq!(running.submit(&draft).await.status, 200);
    assert_eq!(world.feedbacks().await, 1);
    running.stop().await;
}

/// Failures before the registry is asked; the last one comes first.
struct Failures(Vec<ChainError>);

#[async_trait]
impl Hooks for Failures {
    async fn submit(
        &mut self,
        registry: &mut dyn FeedbackRegistry,
        job: FeedbackJob<'_>,
        record: &mut (dyn TxRecord + Sync),
    ) -> Result<(), FeedbackError> {
        match self.0.pop() {
            Some(failure) => Err(failure.into()),
            None => registry.submit(job, record).await,
        }
    }
}

/// A node that was away for a while does not make the first revert after it a refusal for good.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_reverts_one_after_the_other_are_a_refusal() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let draft = world.review(&world.pay(1).await);
    let place = world.place();
    let away = || ChainError::NotLanded {
        job: "1".to_owned(),
        seconds: 1,
    };
    let reverted = ChainError::SimulationFailed {
        title: "1".to_owned(),
        reason: "execution reverted".to_owned(),
    };
    let registry = Hooked {
        registry: Box::new(place.registry().await),
        hooks: Failures(vec![reverted, away(), away()]),
    };
    let registries = place.registries_landing(registry, 1).await;
    let running = Running::at(&place, Settings::default(), registries, folder.path()).await;
    assert_eq!(running.submit(&draft).await.status, 200);
    let row = loop {
        let row = running.store.get(1).unwrap().unwrap();
        if row.index.is_some() || row.state == RowState::Refused {
            break row;
        }
        pause().await;
    };
    assert_eq!((row.state, row.attempts), (RowState::Final, 3));
    assert_eq!(world.feedbacks().await, 1);
    running.stop().await;
}

/// The block of the landing is replaced by one without it: the same bytes land again, and nothing else.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_landing_that_is_reorganised_away_lands_again() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start_final_after(3, &world, folder.path()).await;
    let draft = world.review(&world.pay(1).await);
    let answer = running.submit(&draft).await;
    assert_eq!(
        (answer.status, &answer.body["state"]),
        (200, &json!("landed"))
    );
    let first = running
        .store
        .get(1)
        .unwrap()
        .unwrap()
        .landing()
        .unwrap()
        .clone();
    world.ask("anvil_reorg", json!([1, []])).await;
    assert_eq!(
        world.feedbacks().await,
        0,
        "it is not on the chain any more"
    );
    let second = loop {
        let row = running.store.get(1).unwrap().unwrap();
        match row.landing() {
            Some(landing) if landing.block_hash != first.block_hash => break landing.clone(),
            _ => pause().await,
        }
    };
    assert_eq!(second.transaction, first.transaction, "the same bytes");
    world.mine(3).await;
    let row = running.finish(1).await;
    assert_eq!((row.state, row.index), (RowState::Final, Some(1)));
    assert_eq!(
        running.store.record(&row).unwrap().transactions("1").len(),
        1
    );
    assert_eq!(world.feedbacks().await, 1);
    running.stop().await;
}

/// Each commit wakes all who wait, so no more wait than a limit; any other is told at once where to ask.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn so_many_clients_wait_and_no_more() {
    const WAITING_MAX: usize = 256;
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let running = Arc::new(Running::start(&world, folder.path()).await);
    let draft = world.review(&world.pay(1).await);
    world.stop_mining().await;
    let mut posts = tokio::task::JoinSet::new();
    for _ in 0..=WAITING_MAX {
        let (running, draft) = (running.clone(), draft.clone());
        posts.spawn(async move { running.submit(&draft).await });
    }
    // the others wait for a block that is not mined
    let first = posts.join_next().await.unwrap().unwrap();
    assert_eq!(first.status, 202, "{}", first.body);
    assert_eq!(first.location.as_deref(), Some("./submissions/1"));
    world.mine_again().await;
    while let Some(post) = posts.join_next().await {
        assert_eq!(post.unwrap().status, 200);
    }
    assert_eq!(world.feedbacks().await, 1);
    Arc::into_inner(running).unwrap().stop().await;
}
