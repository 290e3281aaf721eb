//! How many submissions a second get a receipt that survives a crash: one by one, and many at once, when one commit
//! takes all that wait (AGG-26); in SQLite, and in Postgres with one and with two instances. Signatures, forms and the disk
//! are real, and the chains agree with everything. The store alone accepts what was checked before.
#[allow(dead_code)] // written for the tests, as the next two are
#[path = "../tests/service/generous.rs"]
mod generous;
#[path = "../tests/service/payload.rs"]
mod payload;
#[allow(dead_code)]
use std::{fs, path::Path, sync::Arc, time::Instant};

use concord_aggregator::{
    Aggregator, AllowedAgents, Claim, Limits, Seal, Sealed,
    form::Form,
    store::{Acceptance, Accepted, Location, Store},
};
use concord_canonical::sign::PreparedKey;
use concord_testkit::postgres::{Server, create};
use concord_x402::feedback::FileFolder;
use generous::{DAY, aggregator_with, place, review};
use tokio::task::JoinSet;

/// Clients at once, and how many submissions all of them make.
const RUNS: [(usize, usize); 3] = [(1, 200), (16, 2_000), (256, 6_000)];
/// The fastest of so many runs counts: whatever else the machine does makes a run slower, and none faster.
const SAMPLES: usize = 3;

/// A database, how many instances share it, and whether they check what they accept.
struct Place<'a> {
    name: &'static str,
    server: Option<&'a Server>,
    instances: usize,
    checks: bool,
}

/// A payload, and what its checks and its seal made of it.
struct Submission {
    body: String,
    claim: Claim,
    sealed: Sealed,
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
        "store     instances  checks  clients  submissions  accepts/s  x one by one  accepts/commit  own CPU us/accept"
    );
    for checks in [true, false] {
        for (name, server, instances) in places {
            measure(&Place {
                name,
                server,
                instances,
                checks,
            });
        }
    }
}

fn measure(place: &Place<'_>) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_time()
        .build();
    let runtime = runtime.expect("a runtime");
    let mut one_by_one = None;
    for (clients, count) in RUNS {
        let submissions: Arc<Vec<_>> = Arc::new((0..count as u64).map(submission).collect());
        let runs = (0..SAMPLES).map(|_| runtime.block_on(run(place, clients, &submissions)));
        let best = runs.min_by(|a, b| a.seconds.total_cmp(&b.seconds));
        let best = best.expect("a sample");
        let rate = count as f64 / best.seconds;
        let ratio = rate / *one_by_one.get_or_insert(rate);
        let together = count as f64 / best.commits as f64;
        let cpu = best.cpu_seconds * 1e6 / count as f64;
        let Place {
            name,
            instances,
            checks,
            ..
        } = place;
        let checks = if *checks { "all" } else { "before" };
        println!(
            "{name:<8}  {instances:>9}  {checks:<6}  {clients:>7}  {count:>11}  {rate:>9.0}  {ratio:>12.1}  {together:>14.1}  {cpu:>17.0}"
        );
    }
}

fn submission(payment: u64) -> Submission {
    let body = review(payment, 1, 1).json().to_string();
    let form = Form::read(body.as_bytes()).expect("well-formed");
    let seal = Seal {
        client: &place().client,
        accepted_at: DAY,
        is_payment_checked: true,
    };
    let files = FileFolder::ipfs(Path::new("unused"));
    Submission {
        body,
        claim: form.claim,
        sealed: form.content.seal(seal, &files).expect("a file"),
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

async fn run(place: &Place<'_>, clients: usize, submissions: &Arc<Vec<Submission>>) -> Sample {
    let folder = tempfile::tempdir().expect("a folder");
    let instances = open(place, folder.path());
    let changes: Vec<_> = instances.iter().map(|it| it.store().changes()).collect();
    let committed = || changes.iter().map(|it| *it.borrow()).sum::<u64>();
    let (before, cpu) = (committed(), cpu_seconds());
    let begun = Instant::now();
    let mut tasks = JoinSet::new();
    for client in 0..clients {
        let instance = instances[client % instances.len()].clone();
        let share = (submissions.clone(), (client, clients));
        if place.checks {
            tasks.spawn(submit_share(instance, share))
        } else {
            tasks.spawn(accept_share(instance, share))
        };
    }
    tasks.join_all().await;
    Sample {
        seconds: begun.elapsed().as_secs_f64(),
        cpu_seconds: cpu_seconds() - cpu,
        commits: committed() - before,
    }
}

/// All submissions, and of them the first and every n-th after it.
type Share = (Arc<Vec<Submission>>, (usize, usize));

/// One after the other.
async fn submit_share(instance: Arc<Aggregator>, (all, (first, step)): Share) {
    for it in all.iter().skip(first).step_by(step) {
        let accepted = instance.submit(it.body.as_bytes(), None, DAY).await;
        accepted.expect("it is accepted");
    }
}

/// One after the other, without checks.
async fn accept_share(instance: Arc<Aggregator>, (all, (first, step)): Share) {
    let place = place();
    for it in all.iter().skip(first).step_by(step) {
        let acceptance = Acceptance::new(&place, &it.claim, Arc::default(), (None, DAY));
        let accepted = instance
            .store()
            .accept(&it.claim, it.sealed.clone(), acceptance);
        assert!(matches!(accepted.await, Ok(Accepted::Now(_))));
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
