//! The store is copied while the service runs, and the copy continues where it was.
use crate::{
    end_to_end::check_receipt,
    world::{Running, World},
};
use concord_aggregator::store::{RowState, Store, StoreError};
use std::sync::Arc;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restored_copy_sends_nothing_twice() {
    let world = World::start().await;
    let [folder, other] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let running = Arc::new(Running::start(&world, folder.path()).await);
    let first = world.review(&world.pay(1).await);
    assert_eq!(running.submit(&first).await.status, 200);
    running.finish(1).await;
    // the second is sent and not mined when the copy is made
    let second = world.review(&world.pay(1).await);
    world.stop_mining().await;
    let posted = running.submit_beside(&second);
    running.reach(2, RowState::Sent).await;
    let path = folder.path().join("aggregator.sqlite");
    let copy = other.path().join("aggregator.sqlite");
    Store::backup(&path, &copy).unwrap();
    let again = Store::backup(&path, &copy);
    assert!(
        matches!(again, Err(StoreError::Database { .. })),
        "it is not overwritten"
    );
    world.mine_again().await;
    running.finish(2).await;
    assert_eq!(posted.await.unwrap(), 200);
    Arc::into_inner(running).unwrap().stop().await;
    assert_eq!(world.feedbacks().await, 2);

    let restored = Running::start(&world, other.path()).await;
    let row = restored.finish(2).await;
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
