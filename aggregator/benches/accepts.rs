//! How many submissions a second get a receipt that survives a crash: one by one, and many at once, when one commit
//! takes all that wait (AGG-6); in SQLite, and in Postgres with one and with two instances. Signatures, forms and the disk
//! are real, and the chains agree with everything.
#[allow(dead_code)] // written for the tests, as the next two are
#[path = "../tests/service/generous.rs"]
mod generous;
#[path = "../tests/service/payload.rs"]
mod payload;
#[allow(dead_code)]
#[path = "../../index/tests/worlds/server.rs"]
mod server;

use std::{fs, path::Path, sync::Arc, time::Instant};

use concord_aggregator::{
    Aggregator, AllowedAgents, Limits,
    store::{Location, Store},
};
use concord_canonical::sign::PreparedKey;
use generous::{DAY, aggregator_with, review};
use server::{Server, create};
use tokio::task::JoinSet;

/// Clients at once, and how many submissions all of them make.
const RUNS: [(usize, usize); 3] = [(1, 200), (16, 2_000), (256, 6_000)];
/// The fastest of so many runs counts: whatever else the machine does makes a run slower, and none faster.
const SAMPLES: usize = 3;

/// A database, and how many instances share it.
struct Place<'a> {
    name: &'static str,
    server: Option<&'a Server>,
    instances: usize,
}

/// What a run took.
struct Sample {
    seconds: f64,
    /// Of this process. A server's is not in it.
    cpu_seconds: f64,
    commits: u64,
}

fn main() {
    let server = Server::durable();
    let places = [
        ("SQLite", None, 1),
        ("Postgres", Some(&server), 1),
        ("Postgres", Some(&server), 2),
    ];
    println!(
        "store     instances  clients  submissions  accepts/s  x one by one  accepts/commit  own CPU us/accept"
    );
    for (name, server, instances) in places {
        measure(&Place {
            name,
            server,
            instances,
        });
    }
}

fn measure(place: &Place<'_>) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_time()
        .build();
    let runtime = runtime.expect("a runtime");
    let mut one_by_one = None;
    for (clients, count) in RUNS {
        let bodies: Arc<Vec<String>> = Arc::new(
            (0..count as u64)
                .map(|payment| review(payment, 1, 1).json().to_string())
                .collect(),
        );
        let runs = (0..SAMPLES).map(|_| runtime.block_on(run(place, clients, bodies.clone())));
        let best = runs.min_by(|a, b| a.seconds.total_cmp(&b.seconds));
        let best = best.expect("a sample");
        let rate = count as f64 / best.seconds;
        let ratio = rate / *one_by_one.get_or_insert(rate);
        let together = count as f64 / best.commits as f64;
        let cpu = best.cpu_seconds * 1e6 / count as f64;
        let Place {
            name, instances, ..
        } = place;
        println!(
            "{name:<8}  {instances:>9}  {clients:>7}  {count:>11}  {rate:>9.0}  {ratio:>12.1}  {together:>14.1}  {cpu:>17.0}"
        );
    }
}

fn open(place: &Place<'_>, folder: &Path) -> Vec<Arc<Aggregator>> {
    let location = match place.server {
        None => Location::File(folder.join("aggregator.sqlite")),
        Some(server) => create(&server.address(), "template1"),
    };
    let instances = (0..place.instances).map(|_| {
        let store = Store::open_at(&location, PreparedKey::ed25519(&[77; 32]));
        let store = store.expect("a store");
        let (limits, agents) = (Limits::default(), AllowedAgents::new());
        Arc::new(aggregator_with(store, folder, limits, agents))
    });
    instances.collect()
}

async fn run(place: &Place<'_>, clients: usize, bodies: Arc<Vec<String>>) -> Sample {
    let folder = tempfile::tempdir().expect("a folder");
    let instances = open(place, folder.path());
    let changes: Vec<_> = instances.iter().map(|it| it.store().changes()).collect();
    let committed = || changes.iter().map(|it| *it.borrow()).sum::<u64>();
    let (before, cpu) = (committed(), cpu_seconds());
    let begun = Instant::now();
    let mut tasks = JoinSet::new();
    for client in 0..clients {
        let instance = instances[client % instances.len()].clone();
        tasks.spawn(submit_share(instance, bodies.clone(), (client, clients)));
    }
    tasks.join_all().await;
    Sample {
        seconds: begun.elapsed().as_secs_f64(),
        cpu_seconds: cpu_seconds() - cpu,
        commits: committed() - before,
    }
}

/// Every n-th body, one after the other.
async fn submit_share(
    instance: Arc<Aggregator>,
    bodies: Arc<Vec<String>>,
    (first, step): (usize, usize),
) {
    for body in bodies.iter().skip(first).step_by(step) {
        let accepted = instance.submit(body.as_bytes(), None, DAY).await;
        accepted.expect("it is accepted");
    }
}

/// User and system time of this process (proc(5): fields 14 and 15 of stat, in hundredths of a second).
fn cpu_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").expect("Linux");
    let (_, fields) = stat.rsplit_once(')').expect("a name in parentheses");
    let ticks = fields.split_whitespace().skip(11).take(2);
    ticks
        .map(|it| it.parse::<f64>().expect("ticks"))
        .sum::<f64>()
        / 100.0
}
