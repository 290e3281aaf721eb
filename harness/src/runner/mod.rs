//! Runs scenarios on the model and on backends, step by step, and says who is wrong where.
//!
//! The committed expectation stands between the participants: the model must come to it, or the
//! model is named; each backend must come to it, or the backend is named. So a fault is named
//! after whoever stands alone, and all at once disagree only with a stale file.
mod comparison;
mod verdicts;

pub use comparison::{Difference, Subject};
pub use verdicts::{Failure, Run, StepCount, StepRecord, StepResult, VarianceUsed};

use crate::{
    backend::{Backend, Missing, Observed, StepFault},
    model::{CanonicalState, Chain, Model, Outcome, Verdict},
    scenario::{Moment, Scenario},
};
use comparison::compare;
use std::collections::BTreeMap;

/// The model's name in reports.
pub const MODEL: &str = "model";

/// Runs every scenario on the model and on each backend. `progress` hears of each scenario once
/// for each participant, with the number of failed steps.
///
/// # Errors
/// [`Missing::Chain`]: a chain does not answer any more, so nothing can be said of its registry.
pub fn run(
    scenarios: &[Scenario],
    backends: &mut [Box<dyn Backend>],
    mut progress: impl FnMut(&str, &str, usize),
) -> Result<Run, Missing> {
    let mut run = Run::new(backends.iter().map(|backend| backend.name()));
    for scenario in scenarios {
        let references: BTreeMap<_, _> = scenario
            .chains()
            .map(|chain| (chain, model_states(scenario, chain)))
            .collect();
        let mut failed = run_model(scenario, &references, &mut run);
        progress(&scenario.name, MODEL, failed);
        for backend in backends.iter_mut() {
            if !references.contains_key(&backend.chain()) {
                run.record_absence(scenario, backend.name());
                continue;
            }
            failed = run_backend(scenario, backend.as_mut(), &references, &mut run)?;
            progress(&scenario.name, backend.name(), failed);
        }
    }
    Ok(run)
}

/// What the model comes to at each step.
struct Reference {
    outcome: Outcome,
    state: CanonicalState,
}

fn model_states(scenario: &Scenario, chain: Chain) -> Vec<Reference> {
    let mut model = Model::new(chain);
    scenario
        .moments
        .iter()
        .map(|moment| Reference {
            outcome: model.apply(&moment.operation, moment.time),
            state: model.state().clone(),
        })
        .collect()
}

/// The model must come to what the file says, for both kinds of chain.
fn run_model(
    scenario: &Scenario,
    references: &BTreeMap<Chain, Vec<Reference>>,
    run: &mut Run,
) -> usize {
    let mut failed = 0;
    for (at, moment) in scenario.moments.iter().enumerate() {
        let difference = references.iter().find_map(|(chain, references)| {
            let reference = &references[at];
            compare(moment, *chain, &reference.outcome, &reference.state, None)
                .map(|difference| difference.on(*chain))
        });
        failed += usize::from(difference.is_some());
        let result = difference.map_or(StepResult::Passed, StepResult::failed);
        run.record(scenario, moment, MODEL, result);
    }
    failed
}

/// A backend is stopped in a scenario at its first difference: what follows would only repeat it.
fn run_backend(
    scenario: &Scenario,
    backend: &mut dyn Backend,
    references: &BTreeMap<Chain, Vec<Reference>>,
    run: &mut Run,
) -> Result<usize, Missing> {
    let name = backend.name();
    let lost = |reason: String| Missing::Chain {
        participant: name,
        scenario: scenario.name.clone(),
        reason,
    };
    backend
        .reset(scenario.start, &scenario.actors)
        .map_err(|fault| lost(fault.to_string()))?;
    let references = &references[&backend.chain()];
    let mut has_failed = false;
    for (moment, reference) in scenario.moments.iter().zip(references) {
        if has_failed {
            run.record(scenario, moment, name, StepResult::NotReached);
            continue;
        }
        let difference = play(moment, backend, reference).map_err(lost)?;
        has_failed = difference.is_some();
        if !has_failed {
            run.note_variances(scenario, moment, backend.chain(), name);
        }
        let result = difference.map_or(StepResult::Passed, StepResult::failed);
        run.record(scenario, moment, name, result);
    }
    Ok(usize::from(has_failed))
}

/// How the backend differs at this step; the reason where its chain does not answer.
fn play(
    moment: &Moment,
    backend: &mut dyn Backend,
    reference: &Reference,
) -> Result<Option<Difference>, String> {
    let expected = reference.outcome.verdict;
    if !backend.supports(&moment.operation) && expected != Verdict::Unsupported {
        let operation = moment.operation.name();
        return Ok(Some(Difference::missing_capability(operation)));
    }
    match observe(moment, backend) {
        Err(StepFault::Unreachable(reason)) => Err(reason),
        Err(fault) => Ok(Some(Difference::fault(&fault))),
        Ok((observed, state)) => Ok(compare(
            moment,
            backend.chain(),
            &observed.outcome,
            &state,
            Some(&reference.state),
        )
        .map(|difference| difference.in_native_words(observed.native_error))),
    }
}

fn observe(
    moment: &Moment,
    backend: &mut dyn Backend,
) -> Result<(Observed, CanonicalState), StepFault> {
    let observed = if backend.supports(&moment.operation) {
        backend.execute(&moment.operation, moment.time)?
    } else {
        Outcome::unsupported().into()
    };
    Ok((observed, backend.state()?))
}
