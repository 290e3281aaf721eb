//! How many submissions a second get a receipt that survives a crash: alone, and many at once, when one commit
//! takes all that wait (AGG-6). Signatures, forms and the disk are real, and the chains agree with everything.
#[path = "../tests/service/generous.rs"]
mod generous;
#[path = "../tests/service/payload.rs"]
mod payload;

use std::{sync::Arc, time::Instant};

use concord_aggregator::{Aggregator, AllowedAgents, Limits};
use generous::{DAY, aggregator, review};
use tokio::task::JoinSet;

/// Clients at once, and how many submissions all of them make.
const RUNS: [(usize, usize); 3] = [(1, 200), (16, 2_000), (256, 5_000)];

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().build();
    let runtime = runtime.expect("a runtime");
    println!("clients  submissions  accepts/s  accepts/commit");
    for (clients, count) in RUNS {
        let bodies: Vec<String> = (0..count as u64)
            .map(|payment| review(payment, 1, 1).json().to_string())
            .collect();
        let (seconds, commits) = runtime.block_on(run(clients, bodies));
        let rate = count as f64 / seconds;
        let together = count as f64 / commits as f64;
        println!("{clients:>7}  {count:>11}  {rate:>9.0}  {together:>14.1}");
    }
}

/// Seconds, and commits of the store.
async fn run(clients: usize, bodies: Vec<String>) -> (f64, u64) {
    let folder = tempfile::tempdir().expect("a folder");
    let limits = Limits::default();
    let aggregator = Arc::new(aggregator(folder.path(), limits, AllowedAgents::new()));
    let changes = aggregator.store().changes();
    let before = *changes.borrow();
    let mut shares: Vec<Vec<String>> = vec![Vec::new(); clients];
    for (index, body) in bodies.into_iter().enumerate() {
        shares[index % clients].push(body);
    }
    let begun = Instant::now();
    let mut tasks = JoinSet::new();
    for share in shares {
        tasks.spawn(submit_all(aggregator.clone(), share));
    }
    tasks.join_all().await;
    let seconds = begun.elapsed().as_secs_f64();
    (seconds, *changes.borrow() - before)
}

async fn submit_all(aggregator: Arc<Aggregator>, bodies: Vec<String>) {
    for body in bodies {
        let accepted = aggregator.submit(body.as_bytes(), None, DAY).await;
        accepted.expect("it is accepted");
    }
}
