use super::{
    Difference, MODEL,
    comparison::{Judged, judge},
    reference::{Reference, References},
    verdicts::{Observation, StepRecord, StepResult, failed},
};
use crate::{
    backend::{Backend, SetupError, StepFault},
    model::{Outcome, Verdict},
    scenario::{Scenario, TimedStep},
};
use std::sync::{
    atomic::{AtomicBool, Ordering},
    mpsc::Sender,
};

/// The model must come to what the file says, for both kinds of chain.
pub(super) fn model(scenario: &Scenario, references: &References) -> Vec<StepRecord> {
    let judge_step = |at: usize, step: &TimedStep| {
        let difference = references.iter().find_map(|(chain, references)| {
            let reference = &references[at];
            let judged = Judged {
                outcome: &reference.outcome,
                state: &reference.state,
                digest: reference.digest,
            };
            judge(step, *chain, None, &judged, None)
                .into_difference()
                .map(|difference| difference.on(*chain))
        });
        StepRecord {
            observed: references.values().next().map(|references| {
                let reference = &references[at];
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
        .map(|(at, step)| judge_step(at, step))
        .collect()
}

/// One backend and the thread that plays it.
pub(super) struct Player<'a> {
    pub backend: &'a mut dyn Backend,
    /// Hears of each scenario played: its name, the participant, the number of failed steps.
    pub reports: Sender<(String, String, usize)>,
    /// Some chain has been lost: there will be no report, so nobody need go on.
    pub has_stopped: &'a AtomicBool,
}

impl Player<'_> {
    /// Every scenario's records, in the scenarios' order; fewer where another player has stopped.
    pub fn play_all(
        mut self,
        scenarios: &[Scenario],
        references: &[References],
    ) -> Result<Vec<Vec<StepRecord>>, SetupError> {
        let mut all = Vec::new();
        for (scenario, references) in scenarios.iter().zip(references) {
            if self.has_stopped.load(Ordering::Relaxed) {
                break;
            }
            let Some(references) = references.get(&self.backend.chain()) else {
                all.push(self.absent_from(scenario));
                continue;
            };
            let records = self
                .play(scenario, references)
                .map_err(|reason| self.lost(scenario, reason))?;
            let name = (scenario.name.clone(), self.backend.name().to_owned());
            let _ = self.reports.send((name.0, name.1, failed(&records))); // progress only
            all.push(records);
        }
        let left = self.backend.leave();
        if let (Err(fault), Some(last)) = (left, scenarios.last()) {
            return Err(self.lost(last, fault.to_string()));
        }
        Ok(all)
    }

    fn lost(&self, scenario: &Scenario, reason: String) -> SetupError {
        self.has_stopped.store(true, Ordering::Relaxed);
        SetupError::Chain {
            participant: self.backend.name().to_owned(),
            scenario: scenario.name.clone(),
            reason,
        }
    }

    fn absent_from(&self, scenario: &Scenario) -> Vec<StepRecord> {
        scenario
            .steps
            .iter()
            .map(|step| StepRecord::new(scenario, step, self.backend.name(), StepResult::Absent))
            .collect()
    }

    /// A backend is stopped in a scenario at its first difference: what follows would only repeat
    /// it.
    fn play(
        &mut self,
        scenario: &Scenario,
        references: &[Reference],
    ) -> Result<Vec<StepRecord>, String> {
        self.backend
            .reset(scenario.start, &scenario.actors)
            .map_err(|fault| fault.to_string())?;
        let name = self.backend.name().to_owned();
        let mut records: Vec<StepRecord> = Vec::new();
        let mut is_beyond_judgement = false;
        for (step, reference) in scenario.steps.iter().zip(references) {
            let has_failed = records
                .last()
                .is_some_and(|last| !last.result.is_as_expected());
            let lacks = self.backend.is_known_to_lack(&step.operation);
            let (result, observed) = if has_failed {
                (StepResult::NotReached, None)
            } else if is_beyond_judgement {
                (StepResult::Absent, None)
            } else if lacks {
                (StepResult::Varied, None)
            } else {
                self.step(step, reference)?
            };
            let known = step.source.foreign_to(self.backend.foreign());
            is_beyond_judgement |= lacks || known.is_some_and(|known| known.outcome.is_none());
            records.push(StepRecord {
                observed,
                ..StepRecord::new(scenario, step, &name, result)
            });
        }
        Ok(records)
    }

    /// What came of one step; the reason where the chain does not answer.
    fn step(
        &mut self,
        step: &TimedStep,
        reference: &Reference,
    ) -> Result<(StepResult, Option<Observation>), String> {
        let is_expressible = self.backend.supports(&step.operation);
        if !is_expressible && reference.outcome.verdict != Verdict::Unsupported {
            let difference = Difference::missing_capability(step.operation.name());
            return Ok((StepResult::failed(difference), None));
        }
        let executed = if is_expressible {
            self.backend.execute(&step.operation, step.time)
        } else {
            Ok(Outcome::unsupported().into())
        };
        let read = executed.and_then(|observed| Ok((observed, self.backend.state()?)));
        let (observed, state) = match read {
            Err(StepFault::Unreachable(reason)) => return Err(reason),
            Err(fault) => return Ok((StepResult::error(&fault), None)),
            Ok(read) => read,
        };
        let judged = Judged {
            outcome: &observed.outcome,
            digest: state.digest(),
            state: &state,
        };
        let observation = Observation::of(&observed, judged.digest);
        let result = judge(
            step,
            self.backend.chain(),
            self.backend.foreign(),
            &judged,
            Some(reference),
        )
        .in_native_words(observed.native_error);
        Ok((result, Some(observation)))
    }
}
