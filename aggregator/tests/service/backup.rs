//! The store is copied while the service runs, and the copy continues where it was.
use crate::{
    end_to_end::check_receipt,
    world::{Running, World},
};
use alloy::providers::Provider;
use concord_aggregator::store::{RowState, Store, StoreError};
use std::{sync::Arc, time::Duration};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restored_copy_sends_nothing_twice() {
    let world = World::start().await;
    let [folder, other] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let running = Arc::new(Running::start(&world, folder.path()).await);
    let first = world.review(&world.pay(1).await);
    assert_eq!(running.submit(&first).await.status, 200);
    while running.store.get(1).unwrap().unwrap().index.is_none() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // the second is sent and not mined when the copy is made
    let second = world.review(&world.pay(1).await);
    let provider = &world.chain.provider;
    let set = |on: bool| provider.raw_request::<_, ()>("evm_setAutomine".into(), [on]);
    set(false).await.unwrap();
    let posted = tokio::spawn({
        let (running, second) = (running.clone(), second.clone());
        async move { running.submit(&second).await.status }
    });
    let state = || Some(running.store.get(2).unwrap()?.state);
    while state() != Some(RowState::Sent) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let path = folder.path().join("aggregator.sqlite");
    let copy = other.path().join("aggregator.sqlite");
    Store::backup(&path, &copy).unwrap();
    let again = Store::backup(&path, &copy);
    assert!(
        matches!(again, Err(StoreError::Database { .. })),
        "it is not overwritten"
    );
    set(true).await.unwrap();
    let mine = provider.raw_request::<_, serde_json::Value>("evm_mine".into(), ());
    mine.await.unwrap();
    while running.store.get(2).unwrap().unwrap().index.is_none() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(posted.await.unwrap(), 200);
    Arc::into_inner(running).unwrap().stop().await;
    assert_eq!(world.feedbacks().await, 2);

    let restored = Running::start(&world, other.path()).await;
    while restored.store.get(2).unwrap().unwrap().index.is_none() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let row = restored.store.get(2).unwrap().unwrap();
    assert_eq!((row.state, row.index), (RowState::Final, Some(2)));
    for draft in [&first, &second] {
        assert_eq!(restored.submit(draft).await.status, 200, "R51");
    }
    let third = restored.submit(&world.review(&world.pay(1).await)).await;
    assert_eq!(third.status, 200, "{}", third.body);
    let page = restored.get("/receipts").await;
    let mut previous = vec![0; 32];
    for entry in page.body["receipts"].as_array().unwrap() {
        previous = check_receipt(&entry["receipt"], &previous);
    }
    assert_eq!(page.body["receipts"].as_array().unwrap().len(), 3);
    assert_eq!(world.feedbacks().await, 3);
    restored.stop().await;
}
