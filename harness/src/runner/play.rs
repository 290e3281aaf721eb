use super::{
    Difference, Lost, MODEL,
    comparison::{ActualResult, check},
    reference::{ModelRun, Reference, References},
    verdicts::{Observation, StepRecord, StepResult, failed},
    views::{self, ViewRecord},
};
use crate::{
    backend::{Backend, StepFault, views::Known},
    model::{Outcome, RegistryProfile, Verdict},
    scenario::{Scenario, TimedStep},
};
use std::{collections::BTreeSet, sync::mpsc::Sender};

/// How often a backend that does not answer is started again.
const RESTARTS_MAX: usize = 3;

/// The model must agree with the file, for both kinds of chain. If it does not, its states say
/// nothing about the backends'.
pub(super) fn model(scenario: &Scenario, references: &mut References) -> Vec<StepRecord> {
    let records = model_steps(scenario, references);
    let is_sound = failed(&records) == 0;
    for run in references.values_mut() {
        run.is_sound = is_sound;
    }
    records
}

fn model_steps(scenario: &Scenario, references: &References) -> Vec<StepRecord> {
    let check_step = |at: usize, step: &TimedStep| {
        let difference = references.iter().find_map(|(chain, references)| {
            let reference = &references.steps[at];
            let actual = ActualResult {
                outcome: &reference.outcome,
                token_events: None,
                state: &reference.state,
                digest: reference.digest,
            };
            check(step, *chain, None, &actual, None)
                .into_difference()
                .map(|difference| difference.on(*chain))
        });
        StepRecord {
            observed: references.values().next().map(|references| {
                let reference = &references.steps[at];
                Observation::of(&reference.outcome.clone().into(), reference.digest)
            }),
            ..StepRecord::new(
                scenario,
                step,
                MODEL,
                difference.map_or(StepResult::Passed, StepResult::failed),
            )
        }
    };
    scenario
        .steps
        .iter()
        .enumerate()
        .map(|(at, step)| check_step(at, step))
        .collect()
}

/// One backend and the thread that plays it.
pub(super) struct Player<'a> {
    backend: &'a mut dyn Backend,
    /// What is checked.
    declared: BTreeSet<RegistryProfile>,
    /// Hears of each scenario played: its name, the participant, the number of failed steps.
    reports: Sender<(String, String, usize)>,
    restarts: usize,
    /// Why the backend cannot be asked at present.
    silent: Option<String>,
    played: Played,
}

/// What came of a backend.
#[derive(Default)]
pub(super) struct Played {
    /// By scenario.
    pub records: Vec<Vec<StepRecord>>,
    pub views: Vec<ViewRecord>,
    pub lost: Vec<Lost>,
}

impl<'a> Player<'a> {
    pub fn new(
        backend: &'a mut dyn Backend,
        declared: &BTreeSet<RegistryProfile>,
        reports: Sender<(String, String, usize)>,
    ) -> Self {
        Self {
            declared: &backend.profiles() & declared,
            backend,
            reports,
            restarts: 0,
            silent: None,
            played: Played::default(),
        }
    }

    /// Plays every scenario for the backend's chain.
    pub fn play_all(mut self, scenarios: &[Scenario], references: &[References]) -> Played {
        for (scenario, references) in scenarios.iter().zip(references) {
            let Some(reference) = references.get(&self.backend.chain()) else {
                let records = self.every_step(scenario, &StepResult::Absent);
                self.played.records.push(records);
                continue;
            };
            let records = self.play(scenario, reference);
            let mut bad = failed(&records);
            if let Some(views) = self
                .played
                .views
                .last()
                .filter(|it| it.scenario == scenario.name)
            {
                bad += views.wrong + usize::from(views.fault.is_some());
            }
            let name = (scenario.name.clone(), self.backend.name().to_owned());
            let _ = self.reports.send((name.0, name.1, bad)); // progress only
            self.played.records.push(records);
        }
        if self.silent.is_none()
            && let Err(fault) = self.backend.leave()
            && let Some(last) = scenarios.last()
        {
            self.lose(last, fault.to_string());
        }
        self.played
    }

    fn lose(&mut self, scenario: &Scenario, reason: String) {
        self.silent = Some(reason.clone());
        self.played.lost.push(Lost {
            participant: self.backend.name().to_owned(),
            scenario: scenario.name.clone(),
            reason,
        });
    }

    fn every_step(&self, scenario: &Scenario, result: &StepResult) -> Vec<StepRecord> {
        let name = self.backend.name();
        let steps = scenario.steps.iter();
        steps
            .map(|step| StepRecord::new(scenario, step, name, result.clone()))
            .collect()
    }

    /// A scenario that could not begin: its first step inconclusive.
    fn not_begun(&mut self, scenario: &Scenario, reason: &str) -> Vec<StepRecord> {
        let mut records = self.every_step(scenario, &StepResult::NotReached);
        if let Some(first) = records.first_mut() {
            first.result = StepResult::lost(reason);
        }
        records
    }

    fn play(&mut self, scenario: &Scenario, reference: &ModelRun) -> Vec<StepRecord> {
        if let Some(reason) = self.silent.take()
            && let Err(reason) = self.start_again(reason)
        {
            let records = self.not_begun(scenario, &reason);
            self.silent = Some(reason);
            return records;
        }
        if let Err(fault) = self.backend.reset(scenario.start, &scenario.actors) {
            let reason = fault.to_string();
            let records = self.not_begun(scenario, &reason);
            self.lose(scenario, fault.in_words());
            return records;
        }
        let (records, is_whole) = self.play_steps(scenario, reference);
        if is_whole && let Some(last) = reference.steps.last() {
            let known = Known {
                state: &last.state,
                records: &reference.records,
            };
            let (record, lost) = views::ask(self.backend, scenario, known, &self.declared);
            self.played.views.push(record);
            if let Some(reason) = lost {
                self.lose(scenario, reason);
            }
        }
        records
    }

    fn start_again(&mut self, reason: String) -> Result<(), String> {
        if self.restarts == RESTARTS_MAX {
            let words = format!("given up after {RESTARTS_MAX} new starts: ");
            let is_told = reason.starts_with(&words);
            return Err(if is_told { reason } else { words + &reason });
        }
        self.restarts += 1;
        let started = self.backend.restart();
        started.map_err(|fault| format!("{fault} (it was started again, because {reason})"))
    }

    /// The steps, and whether all of them could be compared with the model's. A backend is stopped
    /// at its first difference: what follows would only repeat it.
    fn play_steps(&mut self, scenario: &Scenario, run: &ModelRun) -> (Vec<StepRecord>, bool) {
        let name = self.backend.name().to_owned();
        let mut records: Vec<StepRecord> = Vec::new();
        let mut is_untestable = false;
        for (step, reference) in scenario.steps.iter().zip(&run.steps) {
            let last = records.last().map(|last| &last.result);
            let lacks = self.backend.is_known_to_lack(&step.operation);
            let unplayed = |result| StepRecord::new(scenario, step, &name, result);
            let record = match last {
                Some(StepResult::NotDeclared) => unplayed(StepResult::NotDeclared),
                Some(last) if !last.is_as_expected() => unplayed(StepResult::NotReached),
                _ if is_untestable => unplayed(StepResult::Absent),
                _ if !self.declares(step) => unplayed(StepResult::NotDeclared),
                _ if lacks => unplayed(StepResult::Varied),
                _ => self.step(scenario, step, reference, run.is_sound),
            };
            let known = step.source.foreign_to(self.backend.foreign());
            is_untestable |= lacks || record.later.is_some();
            is_untestable |= known.is_some_and(|known| known.outcome.is_none());
            records.push(record);
        }
        let is_sound =
            |it: &StepRecord| it.result.is_as_expected() && it.result != StepResult::NotDeclared;
        let is_whole = !is_untestable && records.iter().all(is_sound);
        (records, is_whole)
    }

    /// Operations that only the other chain has are not declared by a profile.
    fn declares(&self, step: &TimedStep) -> bool {
        let only = step.operation.only_on();
        only.is_some_and(|only| only != self.backend.chain())
            || self.declared.contains(&step.operation.profile())
    }

    /// Plays one step.
    fn step(
        &mut self,
        scenario: &Scenario,
        step: &TimedStep,
        reference: &Reference,
        is_sound: bool,
    ) -> StepRecord {
        let name = self.backend.name().to_owned();
        let record = |result| StepRecord::new(scenario, step, &name, result);
        let is_expressible = self.backend.supports(&step.operation);
        if !is_expressible && reference.outcome.verdict != Verdict::Unsupported {
            let difference = Difference::missing_capability(step.operation.name());
            return record(StepResult::failed(difference));
        }
        let executed = if is_expressible {
            self.backend.execute(&step.operation, step.time)
        } else {
            Ok(Outcome::unsupported().into())
        };
        let read = executed.and_then(|observed| Ok((observed, self.backend.state()?)));
        let (observed, state) = match read {
            Err(StepFault::LaterVersion(words)) => {
                return StepRecord {
                    later: Some(words),
                    ..record(StepResult::Varied)
                };
            }
            Err(fault) => {
                let result = StepResult::error(&fault);
                if matches!(fault, StepFault::Unreachable(_)) {
                    self.lose(scenario, fault.in_words());
                }
                return record(result);
            }
            Ok(read) => read,
        };
        let actual = ActualResult {
            outcome: &observed.outcome,
            token_events: observed.token_events.as_ref(),
            digest: state.digest(),
            state: &state,
        };
        let observation = Observation::of(&observed, actual.digest);
        let result = check(
            step,
            self.backend.chain(),
            self.backend.foreign(),
            &actual,
            is_sound.then_some(reference),
        )
        .in_native_words(observed.native_error);
        StepRecord {
            observed: Some(observation),
            ..record(result)
        }
    }
}
