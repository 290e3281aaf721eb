//! Runs scenarios on the model and on backends, step by step, and says who is wrong where.
//!
//! The committed expectation stands between the participants: the model must come to it, or the
//! model is named; each backend must come to it, or the backend is named. So a fault is named
//! after whoever stands alone, and all at once disagree only with a stale file.
mod comparison;
mod play;
mod reference;
mod verdicts;

pub use comparison::{Difference, Subject};
pub use verdicts::{
    Failure, Observation, Participant, Run, StepCount, StepRecord, StepResult, VarianceUsed,
};

use crate::{
    backend::{Backend, SetupError},
    scenario::Scenario,
};
use play::Player;
use reference::Reference;
use std::{
    panic,
    sync::{atomic::AtomicBool, mpsc},
    thread,
};

/// The model's name in reports.
pub const MODEL: &str = "model";

/// Runs every scenario on the model and on each backend, each backend in a thread of its own.
/// `progress` hears of each scenario once for each participant that plays it, with the number of
/// failed steps. The order of the results does not depend on who was faster.
///
/// # Errors
/// [`SetupError::Chain`]: a chain does not answer any more, so nothing can be said of its registry.
pub fn run(
    scenarios: &[Scenario],
    backends: &mut [Box<dyn Backend>],
    mut progress: impl FnMut(&str, &str, usize),
) -> Result<Run, SetupError> {
    let references: Vec<_> = scenarios.iter().map(Reference::of_scenario).collect();
    let mut run = Run::new(scenarios, backends);
    let of_model: Vec<_> = scenarios
        .iter()
        .zip(&references)
        .map(|(scenario, references)| play::model(scenario, references))
        .collect();
    for (scenario, records) in scenarios.iter().zip(&of_model) {
        progress(&scenario.name, MODEL, verdicts::failed(records));
    }
    let has_stopped = AtomicBool::new(false);
    let (reports, heard) = mpsc::channel();
    let of_backends: Vec<_> = thread::scope(|scope| {
        let players: Vec<_> = backends
            .iter_mut()
            .map(|backend| {
                let player = Player {
                    backend: backend.as_mut(),
                    reports: reports.clone(),
                    has_stopped: &has_stopped,
                };
                scope.spawn(|| player.play_all(scenarios, &references))
            })
            .collect();
        drop(reports);
        for (scenario, participant, failed) in heard {
            progress(&scenario, &participant, failed);
        }
        players
            .into_iter()
            .map(|player| player.join().unwrap_or_else(|it| panic::resume_unwind(it)))
            .collect()
    });
    run.add(of_model);
    for records in of_backends {
        run.add(records?);
    }
    run.put_in_order();
    Ok(run)
}
