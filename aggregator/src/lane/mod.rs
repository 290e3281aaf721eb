//! Brings what was accepted on chain: one account of one registry, one submission after the other.
//!
//! Each step is in the store before the next, so a lane that was killed continues from any state. It never
//! gives up: what fails for a passing reason is tried again, later each time. The next submission does not wait until
//! the one before is final, but until it landed; another worker follows what landed.

mod error;
mod worker;

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
    time::{SystemTime, UNIX_EPOCH},
};

use concord_x402::feedback::{FeedbackRegistry, FileStore};
use futures_util::future::join_all;
use tokio::sync::watch;

use crate::{
    Insiders,
    aggregator::LanePlace,
    store::{Phase, Store},
};
use worker::Worker;

/// A lane.
pub struct Lane {
    workers: Vec<Worker>,
    parts: Arc<Parts>,
    store: Store,
}

/// Connections of one account to one registry.
pub struct LaneRegistries {
    /// Bring work on chain side by side, each for another agent. Transactions of an EVM account are numbered, so it has one.
    pub landing: Vec<Box<dyn FeedbackRegistry>>,
    /// Follows what landed until it is final.
    pub finality: Box<dyn FeedbackRegistry>,
}

/// What the workers of a lane share.
struct Parts {
    place: LanePlace,
    insiders: Arc<dyn Insiders>,
    files: Arc<dyn FileStore>,
    /// The agents for which something is brought on chain now.
    busy: Mutex<BTreeSet<String>>,
}

/// An agent that no other worker serves meanwhile.
struct Claimed {
    parts: Arc<Parts>,
    agent: String,
}

impl Parts {
    fn busy(&self) -> BTreeSet<String> {
        let busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        busy.clone()
    }

    fn claim(self: &Arc<Self>, agent: String) -> Claimed {
        let mut busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        busy.insert(agent.clone());
        Claimed {
            parts: self.clone(),
            agent,
        }
    }
}

impl Drop for Claimed {
    fn drop(&mut self) {
        let busy = &self.parts.busy;
        let mut busy = busy.lock().unwrap_or_else(PoisonError::into_inner);
        busy.remove(&self.agent);
    }
}

impl Lane {
    /// `settlement`: the registry that records the feedback, CAIP-10.
    #[must_use]
    pub fn new(
        registries: LaneRegistries,
        settlement: &str,
        insiders: Arc<dyn Insiders>,
        files: Arc<dyn FileStore>,
        store: Store,
    ) -> Self {
        let LaneRegistries { landing, finality } = registries;
        let place = LanePlace {
            registry: finality.registry(),
            client: finality.client(),
            settlement: settlement.to_owned(),
        };
        let parts = Arc::new(Parts {
            place,
            insiders,
            files,
            busy: Mutex::default(),
        });
        let landing = landing.into_iter().map(|it| (it, Phase::Landing));
        let all = landing.chain([(finality, Phase::Finality)]);
        let workers = all.map(|(registry, phase)| Worker::new(registry, phase, parts.clone()));
        Self {
            workers: workers.collect(),
            parts,
            store,
        }
    }

    /// Where it submits.
    #[must_use]
    pub fn place(&self) -> &LanePlace {
        &self.parts.place
    }

    /// Submits until `stop` becomes true. What is under way then continues at the next start. Of several processes that
    /// share the database, one works on the lane.
    pub async fn run(mut self, mut stop: watch::Receiver<bool>) {
        let lane = self.place().name();
        loop {
            let leased = tokio::select! {
                leased = self.store.leased(&lane) => leased,
                _ = stop.wait_for(|it| *it) => return,
            };
            let working = self.workers.iter_mut().map(|it| it.work(&leased));
            let is_stopped = tokio::select! {
                _ = join_all(working) => false,
                () = leased.keep_lease() => false,
                _ = stop.wait_for(|it| *it) => true,
            };
            if is_stopped {
                return leased.let_go().await;
            }
        }
    }
}

/// Unix seconds.
pub(crate) fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |it| it.as_secs())
}
