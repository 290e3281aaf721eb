//! Many at once, with duplicates among them.
use crate::{
    end_to_end::check_receipt,
    world::{Running, World},
};
use concord_aggregator::store::RowState;
use serde_json::Value;
use std::{sync::Arc, time::Duration};

const PAYMENTS: usize = 12;
const SAME: usize = 3;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r51_each_payment_has_one_feedback_however_often_it_is_submitted() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let running = Arc::new(Running::start(&world, folder.path()).await);
    let mut posts = Vec::new();
    for _ in 0..PAYMENTS {
        let good = world.review(&world.pay(1).await);
        let mut other = good.clone();
        other.value = 1;
        let mut drafts = vec![good; SAME];
        drafts.push(other);
        for draft in drafts {
            let running = running.clone();
            let key = draft.task_ref.clone();
            let post = async move { (key, running.submit(&draft).await) };
            posts.push(tokio::spawn(post));
        }
    }
    let mut answers: Vec<(String, u16, Value)> = Vec::new();
    for post in posts {
        let (key, answer) = post.await.unwrap();
        answers.push((key, answer.status, answer.body));
    }
    for group in answers.chunks(SAME + 1) {
        assert!(group.iter().all(|(key, ..)| *key == group[0].0));
        let taken: Vec<_> = group.iter().filter(|it| it.1 == 200).collect();
        let refused = group.iter().filter(|it| it.1 == 409).count();
        assert!([1, SAME].contains(&taken.len()), "{group:?}");
        assert_eq!(taken.len() + refused, group.len(), "{group:?}");
        assert!(
            taken
                .iter()
                .all(|it| it.2["receipt"] == taken[0].2["receipt"])
        );
    }
    let store = running.store.clone();
    let is_done = || {
        store
            .page(1, 100)
            .unwrap()
            .iter()
            .all(|row| row.index.is_some())
    };
    while !is_done() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let rows = store.page(1, 100).unwrap();
    assert_eq!(rows.len(), PAYMENTS);
    let mut indices: Vec<_> = rows.iter().filter_map(|row| row.index).collect();
    indices.sort_unstable();
    assert_eq!(indices, (1..=PAYMENTS as u64).collect::<Vec<_>>());
    assert!(rows.iter().all(|row| row.state == RowState::Final));
    assert_eq!(world.feedbacks().await, PAYMENTS as u64);

    let page = running.get("/receipts?from=1&limit=100").await;
    let mut previous = vec![0; 32];
    for entry in page.body["receipts"].as_array().unwrap() {
        previous = check_receipt(&entry["receipt"], &previous);
    }
    let second = running.get("/receipts?from=2&limit=1").await;
    assert_eq!(second.body["receipts"][0]["receipt"]["n"], 2);
}
