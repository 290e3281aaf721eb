//! A watchtower that is killed (SIGKILL) at each step, and again after it continued.
use crate::{
    cluster::Solana,
    world::{
        CHAIN_ID, DAY, GENEROUS, MONDAY, World, file, files, network, node, place, settings, store,
    },
};
use alloy::{primitives::Address, signers::local::PrivateKeySigner};
use concord_testkit::errand;
use concord_testkit::hooked_registry::Hooked;
use concord_testkit::stopping::{StoppingFiles, StopsAt, reach};
use concord_watchtower::{
    Agent, OwnAccounts, Publisher, Sample, Settings, SignalState, Store, StoreRecord, Tag,
    WindowKind, signals_of_ended_windows,
};
use concord_x402::{
    feedback::{FeedbackRegistry, FileStore},
    verify::{ChainInsiders, Chains, EvmChains},
};
use serde_json::{Value, json};
use std::{collections::BTreeMap, path::Path, sync::Arc};
use tokio::sync::Notify;

/// What was done last before it is killed. Nothing later is on disk.
const POINTS: [&str; 7] = [
    "probed", "intended", "stored", "signed", "sent", "landed", "final",
];
const URL: &str = "https://agent.example/";

/// A chain on which a watchtower publishes.
trait Place {
    /// The test that a child runs.
    const TEST: &'static str;

    /// What a child needs to publish there, beside folder, agent, time and point.
    fn errand(&self) -> Value;

    /// The account that publishes.
    fn client(&self) -> String;

    async fn publisher(&self, folder: &Path, store: &Store) -> Publisher;

    /// How many feedbacks of the watchtower the agent has.
    async fn feedbacks(&self, agent: &Agent) -> u64;
}

impl Place for World {
    const TEST: &'static str = "killed::r60_one_signal_wherever_it_is_killed";

    fn errand(&self) -> Value {
        json!({
            "rpc": self.url,
            "identity": self.identity.to_string(),
            "open": self.open.to_string(),
            "key": alloy::primitives::hex::encode(self.watchtower.to_bytes()),
        })
    }

    fn client(&self) -> String {
        World::client(self)
    }

    async fn publisher(&self, folder: &Path, store: &Store) -> Publisher {
        World::publisher(self, folder, store, GENEROUS).await
    }

    async fn feedbacks(&self, agent: &Agent) -> u64 {
        World::feedbacks(self, agent).await
    }
}

impl Place for Solana {
    const TEST: &'static str = "killed::r60_one_signal_on_solana_wherever_it_is_killed";

    fn errand(&self) -> Value {
        json!({ "rpc": self.url })
    }

    fn client(&self) -> String {
        Solana::client(self)
    }

    async fn publisher(&self, folder: &Path, store: &Store) -> Publisher {
        let (chains, own) = (self.chains().await, self.own());
        let registry = Box::new(self.registry().await);
        let files = Arc::new(files(folder));
        Publisher::new(
            registry,
            GENEROUS,
            own,
            Arc::new(chains),
            files,
            store.clone(),
        )
    }

    async fn feedbacks(&self, agent: &Agent) -> u64 {
        let mut count = 0;
        while self.feedback(agent, count + 1).await.is_some() {
            count += 1;
        }
        count
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r60_one_signal_wherever_it_is_killed() {
    if let Some(errand) = errand::errand() {
        return run_on_evm(&errand).await;
    }
    let world = World::start().await;
    let agent = world.register(world.owner, &file(&[("web", URL)])).await;
    kill_at_every_point(&world, &agent).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r60_one_signal_on_solana_wherever_it_is_killed() {
    if let Some(errand) = errand::errand() {
        return run_on_solana(&errand).await;
    }
    let solana = Solana::start().await;
    let agent = solana.register(31, "").await;
    kill_at_every_point(&solana, &agent).await;
}

fn one_signal_a_day() -> Settings {
    Settings {
        windows: vec![WindowKind::Day],
        tags: vec![Tag::Uptime],
        ..settings()
    }
}

async fn kill_at_every_point(place: &impl Place, agent: &Agent) {
    let folder = tempfile::tempdir().unwrap();
    let mut reached = Vec::new();
    let next = POINTS.iter().zip(&POINTS[1..]);
    let same = POINTS.iter().zip(&POINTS);
    for (n, (first, second)) in (1u64..).zip(next.chain(same)) {
        let pair = format!("{first}, then {second}");
        let day = MONDAY + n * DAY;
        probe(&store(folder.path()), agent, day);
        let mut bytes: Option<String> = None;
        for point in [first, second] {
            if !kill_at(place, folder.path(), agent, point, day + DAY + 3_600).await {
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
        finish(place, folder.path(), agent, n, day + 2 * DAY).await;
        assert_eq!(place.feedbacks(agent).await, n, "{pair}: one feedback");
    }
    for point in POINTS {
        assert!(reached.contains(&point), "{point} was never reached");
    }
}

/// The samples of a day, as a round leaves them.
fn probe(store: &Store, agent: &Agent, day: u64) {
    let sample = |at| Sample {
        at,
        kind: "http".to_owned(),
        answered: true,
        succeeded: Some(true),
        millis: 7,
        owned: None,
        finding: "as promised".to_owned(),
    };
    let samples = [0, 3_600].map(|it| (URL.to_owned(), sample(day + it)));
    store.keep(&agent.key(), &samples).unwrap();
}

/// A watchtower without a stop continues, until nothing is left to do.
async fn finish(place: &impl Place, folder: &Path, agent: &Agent, n: u64, now: u64) {
    let store = store(folder);
    let (agents, files) = ([agent.clone()], files(folder));
    let accounts = BTreeMap::from([(agent.registry_key(), place.client())]);
    signals_of_ended_windows(&store, &one_signal_a_day(), &agents, &accounts, &files, now).unwrap();
    let mut publisher = place.publisher(folder, &store).await;
    let report = publisher.pass(now + DAY).await.unwrap();
    assert_eq!((report.late, report.refused), (0, 0), "{report:?}");
    let signal = store.signal(n).unwrap().unwrap();
    assert_eq!((signal.state, signal.index), (SignalState::Final, Some(n)));
    assert_eq!(store.signals().unwrap().len() as u64, n);
}

/// Starts a watchtower, and kills it at the point. Whether it came there before it ended.
async fn kill_at<P: Place>(place: &P, folder: &Path, agent: &Agent, point: &str, now: u64) -> bool {
    let mut errand = place.errand();
    errand["agent"] = json!(agent.key());
    errand["folder"] = json!(folder);
    errand["now"] = json!(now);
    errand["stop"] = json!(point);
    errand::kill(P::TEST, &errand, &Notify::new()).await
}

async fn run_on_evm(errand: &Value) {
    let text = |key: &str| errand[key].as_str().unwrap();
    let registry = async {
        let key: PrivateKeySigner = text("key").parse().unwrap();
        let [identity, open]: [Address; 2] =
            ["identity", "open"].map(|it| text(it).parse().unwrap());
        let registry = place(text("rpc"), identity, open, &key, "20").await;
        Box::new(registry) as Box<dyn FeedbackRegistry>
    };
    let mut evm = EvmChains::default();
    evm.add(CHAIN_ID, node(text("rpc"))).await.unwrap();
    let chains = Chains {
        evm,
        ..Chains::default()
    };
    let mut insiders = ChainInsiders::default();
    insiders.add_evm(&network(), node(text("rpc")));
    run_errand(errand, registry, chains, insiders).await;
}

async fn run_on_solana(errand: &Value) {
    let solana = Solana::at(errand["rpc"].as_str().unwrap());
    let registry = async { Box::new(solana.registry().await) as Box<dyn FeedbackRegistry> };
    let chains = solana.chains().await;
    run_errand(errand, registry, chains, solana.insiders()).await;
}

/// The child: writes down what is due, and publishes it up to the point it was given.
async fn run_errand(
    errand: &Value,
    registry: impl Future<Output = Box<dyn FeedbackRegistry>>,
    chains: Chains,
    insiders: ChainInsiders,
) {
    let text = |key: &str| errand[key].as_str().unwrap();
    let folder = Path::new(text("folder"));
    let (stop, now) = (text("stop").to_owned(), errand["now"].as_u64().unwrap());
    let store = store(folder);
    reach("probed", &stop);
    let registry = registry.await;
    let agent = Agent::of_key(text("agent")).unwrap();
    let (agents, client) = ([agent.clone()], registry.client());
    let accounts = BTreeMap::from([(agent.registry_key(), client.clone())]);
    let files: Arc<dyn FileStore> = Arc::new(StoppingFiles {
        files: files(folder),
        before: "intended",
        stop: stop.clone(),
    });
    let settings = one_signal_a_day();
    signals_of_ended_windows(&store, &settings, &agents, &accounts, &*files, now).unwrap();
    let own = OwnAccounts::new(vec![client], Arc::new(insiders));
    let hooked = Box::new(Hooked {
        registry,
        hooks: StopsAt(stop),
    });
    let mut publisher = Publisher::new(hooked, GENEROUS, own, Arc::new(chains), files, store);
    publisher.pass(now).await.unwrap();
    errand::end();
}

/// The names of jobs are in no file that is published, and never change: records of transactions have them.
#[test]
fn a_job_keeps_its_name() {
    assert_eq!(StoreRecord::job_id(7), "signal-7");
}
