//! An aggregator that is killed (SIGKILL) in each state, and again after it continued.
use crate::{
    end_to_end::check_receipt,
    world::{Place, Running, World, network, store},
};
use alloy::{
    network::TransactionBuilder,
    primitives::{Address, U256},
    rpc::types::TransactionRequest,
};
use concord_aggregator::{
    Aggregator,
    lane::{Lane, LaneRegistries},
    store::RowState,
};
use concord_chain::submission::TxRecord;
use concord_testkit::errand;
use concord_testkit::hooked_registry::Hooked;
use concord_testkit::stopping::{StoppingFiles, StopsAt};
use concord_x402::feedback::{FileFolder, FileStore, cid_of};
use serde_json::{Value, json};
use std::{path::Path, sync::Arc, time::Duration};
use tokio::sync::{Notify, watch};

/// The states, in which nothing later is on disk.
const POINTS: [&str; 6] = ["accepted", "stored", "signed", "sent", "landed", "final"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_feedback_wherever_it_is_killed() {
    match errand::errand() {
        Some(errand) => run_errand(&errand).await,
        None => kill_at_every_point().await,
    }
}

/// R55: the file is the same in every run, is stored before anything is signed, and what is signed is on disk.
async fn kill_at_every_point() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let mut reached = Vec::new();
    let next = POINTS.iter().zip(&POINTS[1..]);
    let same = POINTS.iter().zip(&POINTS);
    for (n, (first, second)) in (1u64..).zip(next.chain(same)) {
        let pair = format!("{first}, then {second}");
        let payload = world.review(&world.pay(1).await).json();
        let mut file = None;
        for point in [first, second] {
            if kill_at(&world, folder.path(), &payload, point).await {
                reached.push(*point);
                let store = store(folder.path());
                let row = store.get(n).unwrap().unwrap();
                assert_eq!(row.state.name(), *point, "{pair}");
                let stored = store.file(n).unwrap().unwrap();
                let first = file.get_or_insert(stored.clone());
                assert_eq!(*first, stored, "{pair}");
                let is_stored = folder.path().join("files").join(cid_of(stored.as_bytes()));
                assert_eq!(is_stored.is_file(), *point != "accepted", "{pair}");
                let signed = store.record(&row).unwrap();
                let is_signed = !signed.transactions(&n.to_string()).is_empty();
                let is_before = ["accepted", "stored"].contains(point);
                assert_eq!(is_signed, !is_before, "{pair}");
            }
        }
        finish(&world, folder.path(), n).await;
        assert_eq!(world.feedbacks().await, n, "{pair}: one feedback");
    }
    for point in POINTS {
        assert!(reached.contains(&point), "{point} was never reached");
    }
}

/// An aggregator without a stop continues, until nothing is left to do.
async fn finish(world: &World, folder: &Path, n: u64) {
    let running = Running::start(world, folder).await;
    while running.store.get(n).unwrap().unwrap().index.is_none() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let row = running.store.get(n).unwrap().unwrap();
    assert_eq!((row.state, row.index), (RowState::Final, Some(n)));
    let page = running.get("/receipts").await;
    let mut previous = vec![0; 32];
    for entry in page.body["receipts"].as_array().unwrap() {
        previous = check_receipt(&entry["receipt"], &previous);
    }
    running.stop().await;
}

/// The transaction that is on disk can never land, because its nonce is used by something else.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stolen_nonce_costs_a_signature_and_no_feedback() {
    if errand::errand().is_some() {
        return; // a child of the other test
    }
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let payload = world.review(&world.pay(1).await).json();
    assert!(kill_at(&world, folder.path(), &payload, "signed").await);
    let other = TransactionRequest::default()
        .with_to(Address::repeat_byte(9))
        .with_value(U256::from(1));
    assert!(world.send(&world.chain.facilitator, other).await.status());
    finish(&world, folder.path(), 1).await;
    assert_eq!(world.feedbacks().await, 1);
    let store = store(folder.path());
    let row = store.get(1).unwrap().unwrap();
    let record = store.record(&row).unwrap();
    let signed = record.transactions("1");
    assert_eq!(signed.len(), 2, "{signed:?}");
    assert_ne!(row.landing().unwrap().transaction, signed[0].transaction);
}

/// Starts an aggregator, and kills it at the point. Whether it came there before it ended.
async fn kill_at(world: &World, folder: &Path, payload: &Value, point: &str) -> bool {
    let errand = json!({
        "rpc": world.chain.url,
        "identity": world.chain.registry.to_string(),
        "open": world.open.to_string(),
        "token": world.chain.token.to_string(),
        "key": hex::encode(world.chain.facilitator.to_bytes()),
        "folder": folder,
        "payload": payload.to_string(),
        "stop": point,
    });
    errand::kill(
        "killed::one_feedback_wherever_it_is_killed",
        &errand,
        &Notify::new(),
    )
    .await
}

/// Both phases stop at the point.
pub async fn stopping(place: &Place, stop: &str) -> LaneRegistries {
    let connect = async || {
        Box::new(Hooked {
            registry: Box::new(place.registry().await),
            hooks: StopsAt(stop.to_owned()),
        })
    };
    LaneRegistries {
        landing: vec![connect().await],
        finality: connect().await,
    }
}

/// The child: accepts the submission, and submits it up to the point it was given.
async fn run_errand(errand: &Value) {
    let text = |key: &str| errand[key].as_str().unwrap();
    let place = Place {
        url: text("rpc").to_owned(),
        identity: text("identity").parse().unwrap(),
        open: text("open").parse().unwrap(),
        token: text("token").parse().unwrap(),
        key: text("key").parse().unwrap(),
    };
    let folder = Path::new(text("folder"));
    let stop = text("stop").to_owned();
    let registries = stopping(&place, &stop).await;
    let registry_account = format!("{}:{}", network(), place.identity);
    let admission = place.admission(vec![registry_account]).await;
    let files: Arc<dyn FileStore> = Arc::new(StoppingFiles {
        files: FileFolder::ipfs(&folder.join("files")),
        before: "accepted",
        stop,
    });
    let store = store(folder);
    let lane = Lane::new(
        registries,
        &place.settlement(),
        admission.insiders.clone(),
        files.clone(),
        store.clone(),
    );
    let places = vec![lane.place().clone()];
    let aggregator = Aggregator::new(store.clone(), admission, files, places);
    let (_go_on, stopped) = watch::channel(false);
    let row = aggregator
        .submit(text("payload").as_bytes(), None, 1_769_428_800)
        .await
        .unwrap();
    tokio::spawn(lane.run(stopped));
    while store.get(row.receipt.n).unwrap().unwrap().index.is_none() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    errand::end();
}
