//! A node that is away for a while: its port is closed, and its connections are cut.
use crate::world::{Running, Settings, World};
use async_trait::async_trait;
use concord_aggregator::{admission::Admission, store::RowState};
use concord_x402::verify::{Payment, Payments, Unavailable};
use serde_json::{Value, json};
use std::{collections::BTreeSet, sync::Arc, time::Duration};
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    sync::watch,
};

/// A port that leads to another one, as long as it is up.
struct Line {
    url: String,
    is_up: watch::Sender<bool>,
}

impl Line {
    async fn to(url: &str) -> Self {
        let target = url
            .trim_start_matches("http://")
            .trim_end_matches('/')
            .to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (is_up, seen) = watch::channel(true);
        tokio::spawn(async move {
            loop {
                let (mut from, _) = listener.accept().await.unwrap();
                let (mut seen, target) = (seen.clone(), target.clone());
                tokio::spawn(async move {
                    if !*seen.borrow() {
                        return; // the connection is closed
                    }
                    let mut to = TcpStream::connect(target).await.unwrap();
                    tokio::select! {
                        _ = copy_bidirectional(&mut from, &mut to) => {}
                        _ = seen.wait_for(|it| !*it) => {}
                    }
                });
            }
        });
        Self { url, is_up }
    }
}

/// What was accepted waits, what comes is neither accepted nor refused, and afterwards everything goes on by itself.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r36_a_node_that_is_down_for_a_while_loses_nothing() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let line = Line::to(&world.chain.url).await;
    let mut place = world.place();
    place.url.clone_from(&line.url);
    let registries = place.registries().await;
    let settings = Settings {
        wait: Some(Duration::ZERO),
        ..Settings::default()
    };
    let running = Running::at(&place, settings, registries, folder.path()).await;
    let drafts = [
        world.review(&world.pay(1).await),
        world.review(&world.pay(1).await),
    ];
    world.stop_mining().await;
    assert_eq!(running.submit(&drafts[0]).await.status, 202);
    let row = |n| running.store.get(n).unwrap();
    running.reach(1, RowState::Sent).await;
    line.is_up.send_replace(false);
    let answer = running.submit(&drafts[1]).await;
    let found = (answer.status, &answer.body["class"]);
    assert_eq!(found, (503, &json!("Unavailable")), "{}", answer.body);
    assert!(row(2).is_none(), "nothing was accepted");
    // the lane has given up asking, at least twice
    while row(1).unwrap().attempts < 2 {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let late = row(1).unwrap();
    assert_eq!((late.state, late.reverts), (RowState::Sent, 0));
    world.mine_again().await; // it lands while the aggregator cannot see it
    line.is_up.send_replace(true);
    while running.submit(&drafts[1]).await.status == 503 {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    for n in [1, 2] {
        let row = running.finish(n).await;
        let record = running.store.record(&row).unwrap();
        use concord_chain::submission::TxRecord;
        assert_eq!(record.transactions(&n.to_string()).len(), 1, "signed once");
    }
    assert_eq!(world.feedbacks().await, 2);
    running.stop().await;
}

/// A node that does not answer for payments, beside one that answers for agents.
struct SilentAboutPayments;

#[async_trait]
impl Payments for SilentAboutPayments {
    async fn payment(&self, _: &str) -> Result<Option<Payment>, Unavailable> {
        Err(Unavailable("the node does not answer".to_owned()))
    }
}

/// The agent has a new owner. Its present wallet did not sign, and without the payment's block its earlier wallet is unknown.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r52_without_the_payment_s_block_an_agent_s_signature_is_not_refused() {
    let world = World::start().await;
    let draft = world.review(&world.pay(1).await);
    world.chain.transfer_agent().await;
    for is_silent in [true, false] {
        let silence = |admission: &mut Admission| {
            if is_silent {
                admission.payments = Arc::new(SilentAboutPayments);
            }
        };
        let folder = tempfile::tempdir().unwrap();
        let running = Running::admitting(&world, folder.path(), silence).await;
        let answer = running.submit(&draft).await;
        let expected = if is_silent { 503 } else { 200 };
        assert_eq!(answer.status, expected, "{}", answer.body);
        running.stop().await;
    }
}

/// R54: a payment that is not looked up has no block at which the agent could be read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r54_an_unchecked_payment_on_the_registry_s_own_chain_is_accepted() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let unchecked = |admission: &mut Admission| {
        (admission.payment_chains, admission.takes_unchecked) = (BTreeSet::new(), true);
    };
    let running = Running::admitting(&world, folder.path(), unchecked).await;
    let answer = running
        .submit(&world.review(&format!("0x{}", "5d".repeat(32))))
        .await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let file = running.store.file(1).unwrap().unwrap();
    let file: Value = serde_json::from_str(&file).unwrap();
    assert_eq!(file["payments"], "unchecked");
    running.stop().await;
}
