//! Stateful differential fuzzing: random operations on the model and on real registries at once,
//! compared after every step.
//!
//! A run is a row of worlds. A world is a fresh deployment and at most [`WORLD_STEPS`] steps, all
//! derived from the run's seed and the world's number, so that each can be had again.
//!
//! - [`world`]: what a generator has to know of the registries
//! - [`generators`]: operations that a registry should accept
//! - [`mutators`]: ways to break one rule each, with the error class that must come of it
//! - [`bounds`]: every bound of an argument, and values below, at and above it
//! - [`recipe`]: what a world is made from, and the steps that it makes
//! - [`corpus`]: worlds that reached something new, kept from run to run; [`coverage`] says what
//! - [`runner`]: plays steps on model and backends, and finds the first difference
//! - [`trial`]: what may come of a step with accounts that are not what they seem
//! - [`shrink`]: makes a world with a difference shorter
//! - [`regression`]: a world that ended in a difference, as a scenario file
//! - [`metrics`]: what was tried and what came of it
mod bounds;
mod corpus;
mod coverage;
mod generators;
mod metrics;
mod mutators;
mod random;
mod recipe;
mod regression;
mod runner;
mod shrink;
mod trial;
mod world;

pub use bounds::{Place, Reached, places as bounds};
pub use corpus::{Corpus, CorpusFault};
pub use metrics::{BOUNDS_STEPS_MIN, Metrics, STEPS_MIN, Tally, Vacuous};
pub use mutators::classes as mutated_classes;
pub use recipe::{Recipe, Segment};
pub use regression::document;
pub use runner::{Divergence, NewReferee, Subject};
pub use world::{ACTORS, START, Transition};

use crate::{
    backend::{Backend, StepFault, views::ViewName},
    model::Model,
};
use coverage::Features;
use runner::Runner;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// The most steps of one world.
pub const WORLD_STEPS: usize = 200;

/// How much to run.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub seed: u64,
    /// Ends after this many steps, those of a corpus's earlier runs among them, if not by `time`
    /// before.
    pub steps: u64,
    /// Starts no world after this time.
    pub time: Option<Duration>,
}

/// What a run goes by besides its plan.
#[derive(Default)]
pub struct Setting {
    /// Where worlds that reach something new are kept, and gone on from.
    pub corpus: Option<Corpus>,
    /// The one world to play, instead of those of the plan.
    pub only: Option<Recipe>,
    /// Set to stop the run: the world that is being played is left unfinished.
    pub stop: Arc<AtomicBool>,
}

/// What came of a run.
#[derive(Debug)]
pub struct Report {
    /// Of this run.
    pub steps: u64,
    pub worlds: u64,
    pub elapsed: Duration,
    pub metrics: Metrics,
    /// The views that no world asked, by backend.
    pub not_asked: BTreeMap<String, BTreeSet<ViewName>>,
    pub finding: Option<Finding>,
    pub corpus: Option<Corpus>,
    /// Somebody ended the run before the plan did.
    pub is_stopped: bool,
}

/// A world in which the participants differ, made as short as possible.
#[derive(Debug)]
pub struct Finding {
    /// What made the world in which it was found.
    pub recipe: Recipe,
    pub steps: Vec<Transition>,
    pub divergence: Divergence,
    number: u64,
}

/// Why a run ends without a result.
#[derive(Debug, thiserror::Error)]
pub enum FuzzFault {
    #[error(transparent)]
    Chain(#[from] StepFault),
    #[error(transparent)]
    Corpus(#[from] CorpusFault),
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
) -> Result<Report, FuzzFault> {
    run_in(Setting::default(), plan, workers, progress)
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
) -> Result<Report, FuzzFault> {
    run_with(referee, Setting::default(), plan, workers, progress)
}

/// As [`run`], with a corpus, one world alone, or somebody who may end it.
///
/// # Errors
/// As [`run`]; the corpus cannot be written.
pub fn run_in(
    setting: Setting,
    plan: Plan,
    workers: Vec<Vec<Box<dyn Backend>>>,
    progress: impl Fn(u64) + Sync,
) -> Result<Report, FuzzFault> {
    let referee: NewReferee = |chain| Box::new(Model::new(chain));
    run_with(referee, setting, plan, workers, progress)
}

fn run_with(
    referee: NewReferee,
    setting: Setting,
    plan: Plan,
    workers: Vec<Vec<Box<dyn Backend>>>,
    progress: impl Fn(u64) + Sync,
) -> Result<Report, FuzzFault> {
    let begun = Instant::now();
    let (worlds_before, steps_before) =
        (setting.corpus.as_ref()).map_or((0, 0), |it| (it.begun(), it.steps()));
    let stop = setting.stop;
    let shared = Shared {
        plan,
        begun,
        only: setting.only,
        next_world: AtomicU64::new(worlds_before),
        steps: AtomicU64::new(steps_before),
        is_over: AtomicBool::new(false),
        corpus: setting.corpus.map(Mutex::new),
        found: Mutex::default(),
    };
    thread::scope(|scope| {
        for backends in workers {
            let (shared, progress) = (&shared, &progress);
            let runner = Runner::new(backends, referee, stop.clone());
            scope.spawn(move || shared.work(runner, progress));
        }
    });
    let mut found = into_inner(shared.found);
    if let Some(fault) = found.fault.take() {
        return Err(fault);
    }
    let mut corpus = shared.corpus.map(into_inner);
    if let Some(corpus) = &mut corpus {
        corpus.save()?;
    }
    Ok(Report {
        steps: found.metrics.steps,
        worlds: found.worlds,
        elapsed: begun.elapsed(),
        metrics: found.metrics,
        not_asked: found.not_asked.unwrap_or_default(),
        finding: found.finding,
        corpus,
        is_stopped: stop.load(Ordering::Relaxed),
    })
}

struct Shared {
    plan: Plan,
    begun: Instant,
    only: Option<Recipe>,
    next_world: AtomicU64,
    steps: AtomicU64,
    is_over: AtomicBool,
    corpus: Option<Mutex<Corpus>>,
    found: Mutex<Found>,
}

#[derive(Default)]
struct Found {
    worlds: u64,
    metrics: Metrics,
    /// `None`: no worker has ended yet.
    not_asked: Option<BTreeMap<String, BTreeSet<ViewName>>>,
    finding: Option<Finding>,
    fault: Option<FuzzFault>,
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

    /// The first world of those that differ, whichever worker was faster.
    fn take(&mut self, finding: Finding) {
        let is_first = |other: &Finding| finding.number < other.number;
        if self.finding.as_ref().is_none_or(is_first) {
            self.finding = Some(finding);
        }
    }
}

/// A world to play.
struct Task {
    number: u64,
    recipe: Recipe,
}

impl Shared {
    fn work(&self, mut runner: Runner, progress: &(impl Fn(u64) + Sync)) {
        while !runner.must_stop()
            && let Some(task) = self.next()
        {
            let mut metrics = Metrics::default();
            let played = self.play(&mut runner, &task, &mut metrics);
            progress(self.steps.load(Ordering::Relaxed));
            let mut found = lock(&self.found);
            found.worlds += 1;
            found.metrics.add(&metrics);
            match played {
                Ok(None) => continue,
                Ok(Some(finding)) => found.take(finding),
                // Whoever ended this run may have ended its chains as well.
                Err(_) if runner.must_stop() => (),
                Err(fault) => found.fault = Some(fault),
            }
            self.is_over.store(true, Ordering::Relaxed);
        }
        lock(&self.found).leave_out(runner.not_asked());
    }

    /// The next world.
    fn next(&self) -> Option<Task> {
        let is_late = self
            .plan
            .time
            .is_some_and(|limit| self.begun.elapsed() >= limit);
        if is_late || self.is_over.load(Ordering::Relaxed) {
            return None;
        }
        if let Some(only) = &self.only {
            let number = self.next_world.fetch_add(1, Ordering::Relaxed);
            let recipe = only.clone();
            return (number == 0).then_some(Task { number, recipe });
        }
        let full = WORLD_STEPS as u64;
        let before = self.steps.fetch_add(full, Ordering::Relaxed);
        let left = self.plan.steps.saturating_sub(before).min(full);
        if left < full {
            self.steps.fetch_sub(full - left, Ordering::Relaxed);
        }
        (left > 0).then(|| {
            let number = self.next_world.fetch_add(1, Ordering::Relaxed);
            let length = usize::try_from(left).unwrap_or(WORLD_STEPS);
            let recipe = match &self.corpus {
                Some(corpus) => lock(corpus).recipe(number, length),
                None => Recipe::fresh(self.plan.seed, number, length),
            };
            Task { number, recipe }
        })
    }

    /// Plays one world; a difference is shrunk.
    fn play(
        &self,
        runner: &mut Runner,
        task: &Task,
        metrics: &mut Metrics,
    ) -> Result<Option<Finding>, FuzzFault> {
        let begun = Instant::now();
        let (steps, features) = self.draw(&task.recipe);
        let Some(divergence) = runner.play(&steps, Some(metrics))? else {
            if let Some(corpus) = self.corpus.as_ref().filter(|_| !runner.must_stop()) {
                let seconds = begun.elapsed().as_secs_f64();
                lock(corpus).note(&task.recipe, &features, seconds)?;
            }
            return Ok(None);
        };
        let mut finding = Finding {
            recipe: task.recipe.clone(),
            steps: steps[..divergence.step].to_vec(),
            divergence,
            number: task.number,
        };
        // A mutator's word holds for the world that it was made in, and no scenario names impostors.
        let is_of_its_world = |it| matches!(it, Subject::Mutator | Subject::Impostor);
        if !finding.divergence.subject().is_some_and(is_of_its_world) {
            for step in &mut finding.steps {
                (step.mutation, step.impostors) = (None, None);
            }
            shrink::shrink(runner, &mut finding)?;
        }
        Ok(Some(finding))
    }

    /// What steps reached is only asked for a corpus: it takes as long as the model's part.
    fn draw(&self, recipe: &Recipe) -> (Vec<Transition>, Vec<Features>) {
        if self.corpus.is_none() {
            return (recipe.steps(), Vec::new());
        }
        let drawn = recipe.with_features();
        (drawn.steps, drawn.features)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn into_inner<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}
