//! Stateful differential fuzzing: random operations on the model and on real registries at once,
//! compared after every step.
//!
//! A run is a row of worlds. A world is a fresh deployment and at most [`WORLD_STEPS`] steps, all
//! derived from the run's seed and the world's number, so that each can be had again.
//!
//! - [`world`]: what a generator has to know of the registries; a proptest state machine
//! - [`generators`]: operations that a registry should accept
//! - [`mutators`]: ways to break one rule each, with the error class that must come of it
//! - [`runner`]: plays steps on model and backends, and finds the first difference
//! - [`regression`]: a world that ended in a difference, as a scenario file
//! - [`metrics`]: what was tried and what came of it
mod generators;
mod metrics;
mod mutators;
mod random;
mod regression;
mod runner;
mod world;

pub use metrics::{Metrics, STEPS_MIN, Tally, Vacuous};
pub use regression::document;
pub use runner::{Divergence, NewReferee, Subject};
pub use world::{ACTORS, START, Transition};

use crate::{
    backend::{Backend, StepFault, views::ViewName},
    model::Model,
};
use concord_canonical::hash::keccak256v;
use proptest::{
    strategy::{Strategy, ValueTree},
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};
use proptest_state_machine::ReferenceStateMachine;
use runner::Runner;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};
use world::Registries;

/// The most steps of one world.
pub const WORLD_STEPS: usize = 200;
/// How often a world that differs is played again to find a shorter one.
const SHRINKS_MAX: usize = 600;

/// How much to run.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub seed: u64,
    /// Ends after this many steps, if not by `time` before.
    pub steps: u64,
    /// Starts no world after this time.
    pub time: Option<Duration>,
}

/// What came of a run.
#[derive(Debug)]
pub struct Report {
    pub steps: u64,
    pub worlds: u64,
    pub elapsed: Duration,
    pub metrics: Metrics,
    /// The views that no world asked, by backend.
    pub not_asked: BTreeMap<String, BTreeSet<ViewName>>,
    pub finding: Option<Finding>,
}

/// A world in which the participants differ, made as short as possible.
#[derive(Debug)]
pub struct Finding {
    pub world: u64,
    pub steps: Vec<Transition>,
    pub divergence: Divergence,
}

/// Runs worlds until the plan is done or participants differ, one worker for each set of backends.
/// `progress` hears the number of steps done so far.
///
/// # Errors
/// A chain that does not answer any more.
pub fn run(
    plan: Plan,
    workers: Vec<Vec<Box<dyn Backend>>>,
    progress: impl Fn(u64) + Sync,
) -> Result<Report, StepFault> {
    run_under(|chain| Box::new(Model::new(chain)), plan, workers, progress)
}

/// As [`run`], under another referee than the model.
///
/// # Errors
/// As [`run`].
pub fn run_under(
    referee: NewReferee,
    plan: Plan,
    workers: Vec<Vec<Box<dyn Backend>>>,
    progress: impl Fn(u64) + Sync,
) -> Result<Report, StepFault> {
    let begun = Instant::now();
    let shared = Shared {
        plan,
        begun,
        next_world: AtomicU64::new(0),
        steps: AtomicU64::new(0),
        is_over: AtomicBool::new(false),
        found: Mutex::default(),
    };
    thread::scope(|scope| {
        for backends in workers {
            let (shared, progress) = (&shared, &progress);
            scope.spawn(move || shared.work(Runner::new(backends, referee), progress));
        }
    });
    let found = shared
        .found
        .into_inner()
        .unwrap_or_else(|it| it.into_inner());
    if let Some(fault) = found.fault {
        return Err(fault);
    }
    Ok(Report {
        steps: shared.steps.into_inner(),
        worlds: found.worlds,
        elapsed: begun.elapsed(),
        metrics: found.metrics,
        not_asked: found.not_asked.unwrap_or_default(),
        finding: found.finding,
    })
}

struct Shared {
    plan: Plan,
    begun: Instant,
    next_world: AtomicU64,
    steps: AtomicU64,
    is_over: AtomicBool,
    found: Mutex<Found>,
}

#[derive(Default)]
struct Found {
    worlds: u64,
    metrics: Metrics,
    /// `None`: no worker has ended yet.
    not_asked: Option<BTreeMap<String, BTreeSet<ViewName>>>,
    finding: Option<Finding>,
    fault: Option<StepFault>,
}

impl Found {
    /// What every worker that has ended left out.
    fn leave_out(&mut self, of_worker: &BTreeMap<String, BTreeSet<ViewName>>) {
        let left = self.not_asked.get_or_insert_with(|| of_worker.clone());
        for (participant, left) in left.iter_mut() {
            let other = of_worker.get(participant);
            left.retain(|view| other.is_some_and(|other| other.contains(view)));
        }
        left.retain(|_, left| !left.is_empty());
    }
}

impl Shared {
    fn work(&self, mut runner: Runner, progress: &(impl Fn(u64) + Sync)) {
        while let Some((world, length)) = self.next() {
            let mut metrics = Metrics::default();
            let played = play(&mut runner, self.plan.seed, world, length, &mut metrics);
            progress(self.steps.load(Ordering::Relaxed));
            let mut found = self.found.lock().unwrap_or_else(|it| it.into_inner());
            found.worlds += 1;
            found.metrics.add(&metrics);
            match played {
                Ok(None) => continue,
                Ok(Some(finding)) => {
                    // The first world of those that differ, whichever worker was faster.
                    if found
                        .finding
                        .as_ref()
                        .is_none_or(|other| finding.world < other.world)
                    {
                        found.finding = Some(finding);
                    }
                }
                Err(fault) => found.fault = Some(fault),
            }
            self.is_over.store(true, Ordering::Relaxed);
        }
        let mut found = self.found.lock().unwrap_or_else(|it| it.into_inner());
        found.leave_out(runner.not_asked());
    }

    /// The next world's number and length.
    fn next(&self) -> Option<(u64, usize)> {
        let is_late = self
            .plan
            .time
            .is_some_and(|limit| self.begun.elapsed() >= limit);
        if is_late || self.is_over.load(Ordering::Relaxed) {
            return None;
        }
        let full = WORLD_STEPS as u64;
        let before = self.steps.fetch_add(full, Ordering::Relaxed);
        let left = self.plan.steps.saturating_sub(before).min(full);
        if left < full {
            self.steps.fetch_sub(full - left, Ordering::Relaxed);
        }
        (left > 0).then(|| {
            let world = self.next_world.fetch_add(1, Ordering::Relaxed);
            (world, usize::try_from(left).unwrap_or(WORLD_STEPS))
        })
    }
}

/// Plays one world; a difference is shrunk.
fn play(
    runner: &mut Runner,
    seed: u64,
    world: u64,
    length: usize,
    metrics: &mut Metrics,
) -> Result<Option<Finding>, StepFault> {
    let steps = steps(seed, world, length)?;
    let Some(divergence) = runner.play(&steps, Some(metrics))? else {
        return Ok(None);
    };
    let mut finding = Finding {
        world,
        steps: steps[..divergence.step].to_vec(),
        divergence,
    };
    // A mutator's word holds for the world that it was made in.
    if finding.divergence.subject() != Some(Subject::Mutator) {
        finding.steps.iter_mut().for_each(|it| it.mutation = None);
        shrink(runner, &mut finding)?;
    }
    Ok(Some(finding))
}

/// Leaves out steps for as long as the same participants still differ: half of them at once, then
/// ever fewer, single ones until none can go. proptest would try one at a time, in minutes.
///
/// A step that only one chain plays can hide the difference from the other. A shorter world that
/// names other participants would send the reader to the wrong registry, so it does not count.
fn shrink(runner: &mut Runner, finding: &mut Finding) -> Result<(), StepFault> {
    let right = finding.divergence.right.clone();
    let mut length = finding.steps.len() / 2;
    let mut plays = 0;
    while length > 0 {
        let (mut at, before) = (0, finding.steps.len());
        while at < finding.steps.len() && plays < SHRINKS_MAX {
            plays += 1;
            let mut fewer = without(&finding.steps, at, length);
            match runner.play(&fewer, None)? {
                Some(divergence) if divergence.right == right => {
                    fewer.truncate(divergence.step);
                    (finding.steps, finding.divergence) = (fewer, divergence);
                }
                _ => at += length,
            }
        }
        let goes_on = length == 1 && finding.steps.len() < before && plays < SHRINKS_MAX;
        length = if goes_on { 1 } else { length / 2 };
    }
    Ok(())
}

/// The steps without some of them. Later steps keep their times.
fn without(steps: &[Transition], at: usize, length: usize) -> Vec<Transition> {
    let end = (at + length).min(steps.len());
    let (left_out, mut rest) = (&steps[at..end], steps[end..].to_vec());
    let takes_time = |it: &&Transition| !it.operation.is_read();
    let wait: u64 = left_out.iter().filter(takes_time).map(|it| it.wait).sum();
    if let Some(next) = rest.iter_mut().find(|it| !it.operation.is_read()) {
        next.wait += wait;
    }
    [steps[..at].to_vec(), rest].concat()
}

/// The steps of a world.
///
/// # Errors
/// proptest gives up on them.
pub fn steps(seed: u64, world: u64, length: usize) -> Result<Vec<Transition>, StepFault> {
    let mut runner = TestRunner::new_with_rng(Config::default(), rng_of(seed, world));
    let world = Registries::sequential_strategy(length..=length)
        .new_tree(&mut runner)
        .map_err(|reason| StepFault::Inexpressible(reason.to_string()))?;
    let (_, steps, _) = world.current();
    Ok(steps)
}

fn rng_of(seed: u64, world: u64) -> TestRng {
    let seed = keccak256v(&[b"concord fuzz", &seed.to_be_bytes(), &world.to_be_bytes()]);
    TestRng::from_seed(RngAlgorithm::ChaCha, &seed)
}
