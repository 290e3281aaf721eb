use super::{
    Transition,
    bounds::{self, Reached},
    mutators,
};
use crate::{
    backend::impostor::{Impostor, Trial},
    model::{Chain, Operation, Verdict},
};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// What was tried, by operation and by mutator.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Metrics {
    pub operations: BTreeMap<&'static str, Tally>,
    /// Mutated steps; none of them may be accepted where its class was due.
    pub mutators: BTreeMap<&'static str, Tally>,
    /// How often each place of a bound decided what came of a step, by its words.
    pub bounds: BTreeMap<String, u64>,
    /// Places where impostors were put, and kinds of impostors, by their words.
    pub impostors: BTreeMap<String, Tally>,
    /// Steps that were mutated on purpose.
    pub mutated: u64,
    pub steps: u64,
}

/// How often something was tried, and how often a chain accepted it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    pub tried: u64,
    pub accepted: u64,
}

/// What a run did not reach, and therefore says nothing about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Vacuous {
    pub what: String,
    pub tally: Tally,
}

/// An operation that is accepted less often, of a hundred tries, makes a run prove too little.
const ACCEPTED_PERCENT_MIN: u64 = 1;
/// Shorter runs are not checked. In as many steps every mutator is tried ten times and more, so that
/// none is left out by chance.
pub const STEPS_MIN: u64 = 10_000;
/// Of shorter runs it is not checked which bounds they reached. In as many steps each is reached
/// some ten times.
pub const BOUNDS_STEPS_MIN: u64 = 40_000;

impl Metrics {
    /// Counts a step; the verdicts are the model's.
    pub fn count(&mut self, step: &Transition, verdicts: &[(Chain, Verdict)]) {
        let accepted = verdicts.iter().any(|(_, verdict)| *verdict == Verdict::Ok);
        self.steps += 1;
        let tally = self.operations.entry(step.operation.name()).or_default();
        tally.count(accepted);
        if let Some(mutation) = &step.mutation {
            self.mutated += 1;
            self.mutators
                .entry(mutation.name)
                .or_default()
                .count(accepted);
        }
        for reached in &step.bounds {
            let decided = bounds::decided(*reached, verdicts);
            *self.bounds.entry(reached.to_string()).or_default() += u64::from(decided);
        }
    }

    /// What a run is to try, and may not.
    pub fn expect_impostors(&mut self, all: &BTreeSet<Impostor>) {
        for impostor in all {
            self.impostors.entry(impostor.to_string()).or_default();
        }
    }

    /// Counts a step that was played with impostors.
    pub fn count_impostors(&mut self, trial: &Trial) {
        let accepted = trial.observed.outcome.verdict == Verdict::Ok;
        let named: BTreeSet<_> = trial.impostors.iter().map(ToString::to_string).collect();
        for impostor in named {
            self.impostors.entry(impostor).or_default().count(accepted);
        }
    }

    pub fn add(&mut self, other: &Self) {
        self.steps += other.steps;
        self.mutated += other.mutated;
        for (name, tally) in &other.operations {
            self.operations.entry(name).or_default().add(tally);
        }
        for (name, tally) in &other.mutators {
            self.mutators.entry(name).or_default().add(tally);
        }
        for (name, tally) in &other.impostors {
            self.impostors.entry(name.clone()).or_default().add(tally);
        }
        for (place, decided) in &other.bounds {
            *self.bounds.entry(place.clone()).or_default() += decided;
        }
    }

    /// Was enough tried to tell what is vacuous?
    pub const fn can_tell(&self) -> bool {
        self.steps >= STEPS_MIN
    }

    /// Operations that were never tried or hardly ever accepted, mutators and impostors that were never tried,
    /// and bounds that never decided. None if the run is too short to tell.
    pub fn vacuous(&self) -> Vec<Vacuous> {
        if !self.can_tell() {
            return Vec::new();
        }
        let tally_of = |name: &str| self.operations.get(name).copied().unwrap_or_default();
        let operations = Operation::NAMES.map(|name| (name, tally_of(name)));
        let refused = operations.into_iter().filter(|(_, tally)| {
            tally.accepted == 0 || tally.accepted * 100 < tally.tried * ACCEPTED_PERCENT_MIN
        });
        let untried = mutators::names().filter(|name| !self.mutators.contains_key(name));
        refused
            .map(|(name, tally)| Vacuous {
                what: format!("operation {name}"),
                tally,
            })
            .chain(untried.map(|name| Vacuous {
                what: format!("mutator {name}"),
                tally: Tally::default(),
            }))
            .chain(self.untried_impostors())
            .chain(self.undecided())
            .collect()
    }

    fn untried_impostors(&self) -> impl Iterator<Item = Vacuous> {
        let untried = self.impostors.iter().filter(|(_, tally)| tally.tried == 0);
        untried.map(|(name, tally)| Vacuous {
            what: format!("impostor {name}"),
            tally: *tally,
        })
    }

    fn undecided(&self) -> impl Iterator<Item = Vacuous> {
        let places = bounds::places().filter(|_| self.steps >= BOUNDS_STEPS_MIN);
        let decided = |place: &Reached| self.bounds.get(&place.to_string()).copied();
        places
            .filter(move |place| decided(place).unwrap_or(0) == 0)
            .map(|place| Vacuous {
                what: format!("bound {place}"),
                tally: Tally::default(),
            })
    }
}

impl Tally {
    fn count(&mut self, accepted: bool) {
        self.tried += 1;
        self.accepted += u64::from(accepted);
    }

    fn add(&mut self, other: &Self) {
        self.tried += other.tried;
        self.accepted += other.accepted;
    }
}
