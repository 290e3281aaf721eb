//! Many at once, with duplicates among them.
use crate::{
    end_to_end::check_receipt,
    world::{Running, World, pause},
};
use serde_json::Value;
use std::{env, sync::Arc, time::Instant};
use tokio::sync::Semaphore;

/// So many, unless `CONCORD_CROWD` has another number: `scripts/deep aggregator` submits 10,000.
const PAYMENTS: usize = 60;
const SAME: usize = 3;
/// Clients at once.
const TOGETHER: usize = 100;
const PAGE: u64 = 200;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r51_each_payment_has_one_feedback_however_often_it_is_submitted() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let running = Arc::new(Running::start(&world, folder.path()).await);
    let crowd = env::var("CONCORD_CROWD").map(|it| it.parse::<usize>().unwrap());
    let payments = crowd.clone().unwrap_or(PAYMENTS);
    let begun = Instant::now();
    let (mut posts, clients) = (Vec::new(), Arc::new(Semaphore::new(TOGETHER)));
    for _ in 0..payments {
        let good = world.review(&world.pay(1).await);
        let mut other = good.clone();
        other.value = 1;
        let mut drafts = vec![good; SAME];
        drafts.push(other);
        for draft in drafts {
            let (running, key) = (running.clone(), draft.task_ref.clone());
            let client = clients.clone().acquire_owned().await.unwrap();
            let post = async move {
                let answer = running.submit(&draft).await;
                drop(client);
                (key, answer)
            };
            posts.push(tokio::spawn(post));
        }
    }
    let mut answers: Vec<(String, u16, Value)> = Vec::new();
    for post in posts {
        let (key, answer) = post.await.unwrap();
        answers.push((key, answer.status, answer.body));
    }
    let answered = begun.elapsed().as_secs();
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
    while store.open_count().unwrap() > 0 {
        pause().await;
    }
    let (mut from, mut previous) = (1, vec![0; 32]);
    let mut indices = Vec::new();
    loop {
        let page = running
            .get(&format!("/receipts?from={from}&limit={PAGE}"))
            .await;
        let entries = page.body["receipts"].as_array().unwrap().clone();
        if entries.is_empty() {
            break;
        }
        for entry in entries {
            assert_eq!(entry["receipt"]["n"], from);
            assert_eq!(entry["state"], "final");
            previous = check_receipt(&entry["receipt"], &previous);
            let index = entry["feedbackIndex"].as_str().unwrap();
            indices.push(index.parse::<usize>().unwrap());
            from += 1;
        }
    }
    indices.sort_unstable();
    assert_eq!(indices, (1..=payments).collect::<Vec<_>>(), "one each");
    assert_eq!(world.feedbacks().await, payments as u64);
    let second = running.get("/receipts?from=2&limit=1").await;
    assert_eq!(second.body["receipts"][0]["receipt"]["n"], 2);
    if crowd.is_ok() {
        let posts = answers.len();
        let seconds = begun.elapsed().as_secs();
        println!(
            "{payments} payments, {posts} submissions by {TOGETHER} clients: paid and answered after {answered} s, \
             {payments} feedbacks and receipts after {seconds} s"
        );
    }
}
