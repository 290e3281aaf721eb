//! A block that is not final yet keeps no signal waiting, and is no failure.
use crate::world::{
    DAY, GENEROUS, MONDAY, World, file, files, node, place, place_final_after, settings,
};
use async_trait::async_trait;
use concord_chain::{
    Amount, ChainError,
    submission::{Landing, SignedTx, TxRecord},
};
use concord_testkit::hooked_registry::{Hooked, Hooks};
use concord_watchtower::{
    Agent, PassReport, Publisher, Sample, SignalState, Store, StoreRecord, Watch,
    signals_of_ended_windows,
};
use concord_x402::feedback::{FeedbackError, FeedbackJob, FeedbackRegistry};
use serde_json::{Value, json};
use std::{path::Path, sync::Arc, time::Duration};

const NOW: u64 = MONDAY + DAY + 3_600;

/// A day of an agent's service has ended: five signals are due.
async fn five_signals(world: &World, folder: &Path) -> (Watch, Agent) {
    let url = "https://agent.example/";
    let agent = world.register(world.owner, &file(&[("web", url)])).await;
    let watched = world.watch(folder, settings(), vec![agent.clone()]).await;
    let sample = Sample {
        at: MONDAY,
        kind: "http".to_owned(),
        answered: true,
        succeeded: Some(true),
        millis: 7,
        owned: Some(true),
        finding: "as promised".to_owned(),
    };
    let (store, accounts, files) = (&watched.store, world.accounts(), files(folder));
    store
        .keep(&agent.key(), &[(url.to_owned(), sample)])
        .unwrap();
    let (agents, settings) = (&watched.agents, &watched.settings);
    let due = signals_of_ended_windows(store, settings, agents, &accounts, &files, NOW);
    assert_eq!(due.unwrap(), 5);
    (watched, agent)
}

/// Publishes on the world's chain, with hooks.
async fn hooked(
    world: &World,
    folder: &Path,
    store: &Store,
    hooks: impl Hooks + 'static,
) -> Publisher {
    let (identity, open) = (world.identity, world.open);
    let registry = place(&world.url, identity, open, &world.watchtower, "20").await;
    let registry = Box::new(registry);
    publisher(world, folder, store, Box::new(Hooked { registry, hooks })).await
}

async fn publisher(
    world: &World,
    folder: &Path,
    store: &Store,
    registry: Box<dyn FeedbackRegistry>,
) -> Publisher {
    let (chains, files) = (Arc::new(world.chains().await), Arc::new(files(folder)));
    let publisher = Publisher::new(
        registry,
        GENEROUS,
        world.own(),
        chains,
        files,
        store.clone(),
    );
    publisher.with_patience(Duration::ZERO)
}

async fn ask_anvil(world: &World, method: &'static str, params: Value) {
    let node = node(&world.url);
    let _: Value = node.endpoint().expect(method, params).await.unwrap();
}

fn counts(report: &PassReport) -> [u64; 5] {
    [
        report.published,
        report.landed,
        report.late,
        report.refused,
        report.over_budget,
    ]
}

/// Final with the second block after it: the last two of five are not. A reorganisation takes these back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r60_signals_land_before_the_one_before_is_final_and_once() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (watched, agent) = five_signals(&world, folder).await;
    let store = &watched.store;
    let (places, key) = ((world.identity, world.open), &world.watchtower);
    let registry = async || Box::new(place_final_after(3, &world.url, places, key, "20").await);
    let mut first = publisher(&world, folder, store, registry().await).await;
    let key = first.registry_key();
    store.postpone(1, "the node hung up", NOW, 0).unwrap();
    assert!(store.has_late(&key).unwrap());
    let other = key.replace("eip155:", "eip155:1");
    assert!(
        !store.has_late(&other).unwrap(),
        "no publisher has this registry"
    );
    let before = world.balance().await;
    let report = first.pass(NOW).await.unwrap();
    assert_eq!(counts(&report), [3, 2, 0, 0, 0], "{report:?}");
    assert_eq!(world.feedbacks(&agent).await, 5);
    assert_eq!(before - world.balance().await, report.spent.0);
    let states = || store.signals().unwrap().into_iter().map(|it| it.state);
    let landed = states().filter(|it| *it == SignalState::Landed);
    assert_eq!(landed.count(), 2);
    assert!(!store.has_late(&key).unwrap());

    let report = first.pass(NOW + 60).await.unwrap();
    assert_eq!(counts(&report), [0, 2, 0, 0, 0], "{report:?}");
    assert_eq!(report.spent, Amount::default(), "it was spent before");

    ask_anvil(&world, "anvil_reorg", json!([2, []])).await;
    assert_eq!(world.feedbacks(&agent).await, 3, "two are gone");
    drop(first); // a restart
    let mut second = publisher(&world, folder, store, registry().await).await;
    let mut published = 0;
    for time in (NOW + 120..).step_by(60).take(4) {
        let report = second.pass(time).await.unwrap();
        assert_eq!(counts(&report)[2..], [0, 0, 0], "{report:?}");
        published += report.published;
        ask_anvil(&world, "anvil_mine", json!([3])).await;
    }
    assert_eq!((published, world.feedbacks(&agent).await), (2, 5));
    assert!(states().all(|it| it == SignalState::Final));
    for signal in store.signals().unwrap() {
        let record = store.record(&signal).unwrap();
        let id = StoreRecord::job_id(signal.n);
        assert_eq!(record.transactions(&id).len(), 1, "the same bytes");
    }
}

/// Each submission lands, and never becomes final: the first one's wait ends, the others' go on.
struct NeverFinal;

#[async_trait]
impl Hooks for NeverFinal {
    async fn submit(
        &mut self,
        _registry: &mut dyn FeedbackRegistry,
        job: FeedbackJob<'_>,
        record: &mut (dyn TxRecord + Sync),
    ) -> Result<(), FeedbackError> {
        let (id, block) = (job.id, 7);
        if record.landing(id).is_none() {
            let transaction = format!("0x{:0>64}", hex::encode(id));
            let signed = SignedTx {
                transaction: transaction.clone(),
                raw: "0x".to_owned(),
                valid_until: None,
                signed_at: None,
                sent: true,
                failure_cost: None,
            };
            record.signed(&[(id, signed)])?;
            let landing = Landing {
                transaction,
                block,
                block_hash: None,
                cost: Amount(5),
                refund: Amount::default(),
            };
            record.landed(&[(id, landing)])?;
        }
        if id == StoreRecord::job_id(1) {
            let (job, seconds) = (id.to_owned(), 600);
            return Err(ChainError::NotFinal {
                job,
                block,
                seconds,
            }
            .into());
        }
        record.waiting(&[id]);
        std::future::pending().await
    }
}

/// The first one's transaction fails, and its failure never becomes final.
struct FirstFails;

#[async_trait]
impl Hooks for FirstFails {
    async fn submit(
        &mut self,
        registry: &mut dyn FeedbackRegistry,
        job: FeedbackJob<'_>,
        record: &mut (dyn TxRecord + Sync),
    ) -> Result<(), FeedbackError> {
        let id = job.id;
        if id != StoreRecord::job_id(1) {
            return NeverFinal.submit(registry, job, record).await;
        }
        let failed = SignedTx {
            transaction: format!("0x{:0>64}", hex::encode(id)),
            raw: "0x".to_owned(),
            valid_until: None,
            signed_at: None,
            sent: true,
            failure_cost: Some(Amount(3)),
        };
        if record.transactions(id).is_empty() {
            record.signed(&[(id, failed)])?;
        }
        record.waiting(&[id]);
        std::future::pending().await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failure_that_is_not_final_keeps_no_other_signal_waiting() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (watched, _) = five_signals(&world, folder).await;
    let store = &watched.store;
    let mut publisher = hooked(&world, folder, store, FirstFails).await;
    store.postpone(1, "reverted", NOW, 2).unwrap();
    for (time, attempts) in [(NOW, 2), (NOW + DAY, 3)] {
        let pass = tokio::time::timeout(Duration::from_secs(60), publisher.pass(time));
        let report = pass.await.expect("the pass ends").unwrap();
        assert_eq!(counts(&report), [0, 4, 1, 0, 0], "{report:?}");
        let signals = store.signals().unwrap();
        let (first, others) = signals.split_first().unwrap();
        assert_eq!(
            (first.state, first.attempts),
            (SignalState::Signed, attempts)
        );
        let reason = first.reason.as_deref().unwrap();
        assert!(reason.contains("is not final yet"), "{reason}");
        assert_eq!(first.reverts, 2, "it counts until something else happens");
        assert!(others.iter().all(|it| it.state == SignalState::Landed));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wait_for_finality_ends_no_pass_and_is_not_late() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (watched, _) = five_signals(&world, folder).await;
    let store = &watched.store;
    let mut publisher = hooked(&world, folder, store, NeverFinal).await;
    for (time, spent) in [(NOW, 25), (NOW + 1, 0), (NOW + DAY, 0)] {
        let report = publisher.pass(time).await.unwrap();
        assert_eq!(counts(&report), [0, 5, 0, 0, 0], "{report:?}");
        assert_eq!(report.spent, Amount(spent));
        for signal in store.signals().unwrap() {
            assert_eq!(signal.state, SignalState::Landed);
            assert_eq!((signal.attempts, signal.reason), (0, None));
        }
    }
    let key = publisher.registry_key();
    assert!(!store.has_late(&key).unwrap());
    // nor is it late after a look that failed
    store.postpone(1, "the node hung up", NOW, 0).unwrap();
    assert!(!store.has_late(&key).unwrap());
}
