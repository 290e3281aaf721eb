//! A watchtower that is killed (SIGKILL) at each step, and again after it continued.
use crate::{
    hooked_registry::{Hooked, Hooks},
    world::{
        CHAIN_ID, DAY, GENEROUS, MONDAY, World, file, files, network, node, place, settings, store,
    },
};
use alloy::{primitives::Address, signers::local::PrivateKeySigner};
use async_trait::async_trait;
use concord_chain::{
    ChainError,
    submission::{Landing, SignedTx, TxRecord},
};
use concord_watchtower::{
    Agent, OwnAccounts, Publisher, Sample, Settings, SignalState, Store, StoreRecord, Tag,
    WindowKind, signals_of_ended_windows,
};
use concord_x402::{
    feedback::{FeedbackError, FeedbackJob, FeedbackRegistry, FileFolder, FileStore},
    verify::{ChainInsiders, Chains, EvmChains},
};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    env,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    sync::Arc,
    thread,
};

/// What the child's environment says it is to publish.
const ERRAND: &str = "CONCORD_TEST_ERRAND";
const REACHED: &str = "reached";
const ENDED: &str = "ended";
/// What was done last before it is killed. Nothing later is on disk.
const POINTS: [&str; 7] = [
    "probed", "intended", "stored", "signed", "sent", "landed", "final",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r60_one_signal_wherever_it_is_killed() {
    match env::var(ERRAND) {
        Ok(errand) => run_errand(&serde_json::from_str(&errand).unwrap()).await,
        Err(_) => kill_at_every_point().await,
    }
}

fn one_signal_a_day() -> Settings {
    Settings {
        windows: vec![WindowKind::Day],
        tags: vec![Tag::Uptime],
        ..settings()
    }
}

async fn kill_at_every_point() {
    let world = World::start().await;
    let url = "https://agent.example/";
    let agent = world.register(world.owner, &file(&[("web", url)])).await;
    let folder = tempfile::tempdir().unwrap();
    let mut reached = Vec::new();
    let next = POINTS.iter().zip(&POINTS[1..]);
    let same = POINTS.iter().zip(&POINTS);
    for (n, (first, second)) in (1u64..).zip(next.chain(same)) {
        let pair = format!("{first}, then {second}");
        let day = MONDAY + n * DAY;
        probe(&store(folder.path()), &agent, url, day);
        let mut bytes: Option<String> = None;
        for point in [first, second] {
            if !kill_at(&world, folder.path(), &agent, point, day + DAY + 3_600).await {
                continue;
            }
            reached.push(*point);
            let store = store(folder.path());
            let signal = store.signal(n).unwrap();
            assert_eq!(signal.is_none(), *point == "probed", "{pair}");
            let Some(signal) = signal else { continue };
            assert_eq!(signal.state.name(), *point, "{pair}");
            let file = bytes.get_or_insert(signal.file.clone());
            assert_eq!(*file, signal.file, "{pair}: the same bytes");
            let is_stored = files(folder.path()).path(file.as_bytes()).is_file();
            assert_eq!(is_stored, *point != "intended", "{pair}");
            let is_signed = store.record(&signal).unwrap().is_signed();
            let is_before = ["intended", "stored"].contains(point);
            assert_eq!(is_signed, !is_before, "{pair}");
        }
        finish(&world, folder.path(), &agent, n, day + 2 * DAY).await;
        assert_eq!(world.feedbacks(&agent).await, n, "{pair}: one feedback");
    }
    for point in POINTS {
        assert!(reached.contains(&point), "{point} was never reached");
    }
}

/// The samples of a day, as a round leaves them.
fn probe(store: &Store, agent: &Agent, url: &str, day: u64) {
    let sample = |at| Sample {
        at,
        kind: "http".to_owned(),
        answered: true,
        succeeded: Some(true),
        millis: 7,
        owned: None,
        finding: "as promised".to_owned(),
    };
    let samples = [0, 3_600].map(|it| (url.to_owned(), sample(day + it)));
    store.keep(&agent.key(), &samples).unwrap();
}

/// A watchtower without a stop continues, until nothing is left to do.
async fn finish(world: &World, folder: &Path, agent: &Agent, n: u64, now: u64) {
    let store = store(folder);
    let (agents, files) = ([agent.clone()], files(folder));
    let accounts = world.accounts();
    signals_of_ended_windows(&store, &one_signal_a_day(), &agents, &accounts, &files, now).unwrap();
    let mut publisher = world.publisher(folder, &store, GENEROUS).await;
    let report = publisher.pass(now + DAY).await.unwrap();
    assert_eq!((report.late, report.refused), (0, 0), "{report:?}");
    let signal = store.signal(n).unwrap().unwrap();
    assert_eq!((signal.state, signal.index), (SignalState::Final, Some(n)));
    assert_eq!(store.signals().unwrap().len() as u64, n);
}

/// Starts a watchtower, and kills it at the point. Whether it came there before it ended.
async fn kill_at(world: &World, folder: &Path, agent: &Agent, point: &str, now: u64) -> bool {
    let errand = json!({
        "rpc": world.url,
        "identity": world.identity.to_string(),
        "open": world.open.to_string(),
        "key": alloy::primitives::hex::encode(world.watchtower.to_bytes()),
        "agent": agent.key(),
        "folder": folder,
        "now": now,
        "stop": point,
    });
    let mut child = Command::new(env::current_exe().unwrap())
        .args([
            "--exact",
            "killed::r60_one_signal_wherever_it_is_killed",
            "--nocapture",
        ])
        .env(ERRAND, errand.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let said = first_word(&mut child).await;
    child.kill().unwrap(); // SIGKILL
    child.wait().unwrap();
    said == REACHED
}

/// The first of the two words that the child prints.
async fn first_word(child: &mut Child) -> &'static str {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let found = tokio::task::spawn_blocking(|| {
        lines.map_while(Result::ok).find_map(|line| {
            let words = [REACHED, ENDED].into_iter();
            words.into_iter().find(|word| line.ends_with(word))
        })
    });
    found.await.unwrap().expect("it ends without a word")
}

fn reach(point: &str, stop: &str) {
    if point == stop {
        println!("{REACHED}");
        loop {
            thread::park();
        }
    }
}

struct StoppingFiles {
    files: FileFolder,
    stop: String,
}

#[async_trait]
impl FileStore for StoppingFiles {
    fn uri(&self, file: &[u8]) -> String {
        self.files.uri(file)
    }

    async fn store(&self, file: &[u8]) -> Result<(), ChainError> {
        reach("intended", &self.stop);
        self.files.store(file).await
    }
}

struct StoppingRecord<'r> {
    record: &'r mut (dyn TxRecord + Sync),
    stop: &'r str,
}

impl TxRecord for StoppingRecord<'_> {
    fn transactions(&self, job: &str) -> &[SignedTx] {
        self.record.transactions(job)
    }

    fn landing(&self, job: &str) -> Option<&Landing> {
        self.record.landing(job)
    }

    fn signed(&mut self, signed: &[(&str, SignedTx)]) -> Result<(), ChainError> {
        self.record.signed(signed)?;
        if !signed.is_empty() {
            reach("signed", self.stop);
        }
        Ok(())
    }

    fn sent(&mut self, sent: &[(&str, SignedTx)]) -> Result<(), ChainError> {
        self.record.sent(sent)?;
        if !sent.is_empty() {
            reach("sent", self.stop);
        }
        Ok(())
    }

    fn failed(&mut self, failed: &[(&str, SignedTx)]) -> Result<(), ChainError> {
        self.record.failed(failed)
    }

    fn landed(&mut self, landed: &[(&str, Landing)]) -> Result<(), ChainError> {
        self.record.landed(landed)?;
        if !landed.is_empty() {
            reach("landed", self.stop);
        }
        Ok(())
    }

    fn reorganised(&mut self, jobs: &[&str]) -> Result<(), ChainError> {
        self.record.reorganised(jobs)
    }

    fn finalized(&mut self, jobs: &[&str]) -> Result<(), ChainError> {
        self.record.finalized(jobs)?;
        if !jobs.is_empty() {
            reach("final", self.stop);
        }
        Ok(())
    }
}

/// Stops the child at a point of its submission.
struct StopsAt(String);

#[async_trait]
impl Hooks for StopsAt {
    async fn submit(
        &mut self,
        registry: &mut dyn FeedbackRegistry,
        job: FeedbackJob<'_>,
        record: &mut (dyn TxRecord + Sync),
    ) -> Result<(), FeedbackError> {
        let stop = &self.0;
        if record.transactions(job.id).is_empty() {
            reach("stored", stop);
        }
        let mut record = StoppingRecord { record, stop };
        registry.submit(job, &mut record).await
    }
}

/// The child: writes down what is due, and publishes it up to the point it was given.
async fn run_errand(errand: &Value) {
    let text = |key: &str| errand[key].as_str().unwrap();
    let folder = Path::new(text("folder"));
    let (stop, now) = (text("stop").to_owned(), errand["now"].as_u64().unwrap());
    let store = store(folder);
    reach("probed", &stop);
    let key: PrivateKeySigner = text("key").parse().unwrap();
    let [identity, open]: [Address; 2] = ["identity", "open"].map(|it| text(it).parse().unwrap());
    let registry = place(text("rpc"), identity, open, &key, "20").await;
    let agent = Agent::of_key(text("agent")).unwrap();
    let (agents, client) = ([agent.clone()], registry.client());
    let accounts = BTreeMap::from([(agent.registry_key(), client.clone())]);
    let files: Arc<dyn FileStore> = Arc::new(StoppingFiles {
        files: files(folder),
        stop: stop.clone(),
    });
    let settings = one_signal_a_day();
    signals_of_ended_windows(&store, &settings, &agents, &accounts, &*files, now).unwrap();
    let mut evm = EvmChains::default();
    evm.add(CHAIN_ID, node(text("rpc"))).await.unwrap();
    let chains = Arc::new(Chains {
        evm,
        ..Chains::default()
    });
    let mut insiders = ChainInsiders::default();
    insiders.add_evm(&network(), node(text("rpc")));
    let own = OwnAccounts::new(vec![client], Arc::new(insiders));
    let hooked = Box::new(Hooked {
        registry: Box::new(registry),
        hooks: StopsAt(stop),
    });
    let mut publisher = Publisher::new(hooked, GENEROUS, own, chains, files, store);
    publisher.pass(now).await.unwrap();
    println!("{ENDED}");
    std::process::exit(0); // the test's own last words have no reader
}

/// The names of jobs are in no file that is published, and never change: records of transactions have them.
#[test]
fn a_job_keeps_its_name() {
    assert_eq!(StoreRecord::job_id(7), "signal-7");
}
