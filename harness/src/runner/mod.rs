//! Runs scenarios on the model and on backends, step by step, and says who is wrong where.
//!
//! The committed expectation stands between the participants: the model must come to it, or the
//! model is named; each backend must come to it, or the backend is named. So a fault is named
//! after the one that differs, and all at once disagree only with a stale file.
mod comparison;
mod conclusion;
mod play;
mod reference;
mod verdicts;
mod views;

pub use comparison::{Difference, Subject};
pub use conclusion::{Conclusion, Lost};
pub use verdicts::{
    Failure, LeftOut, Observation, Participant, Run, StepCount, StepRecord, StepResult,
    VarianceUsed,
};
pub use views::ViewRecord;

use crate::{backend::Backend, model::RegistryProfile, scenario::Scenario};
use play::Player;
use reference::Reference;
use std::{collections::BTreeSet, panic, sync::mpsc, thread};

/// The model's name in reports.
pub const MODEL: &str = "model";

/// Runs every scenario on the model and on each backend, each backend in a thread of its own.
/// `progress` hears of each scenario once for each participant that plays it, with the number of
/// failed steps. The order of the results does not depend on who was faster.
///
/// A backend that does not answer any more fails that step as one that inconclusive, and is
/// started again for the next scenario ([`Backend::restart`]); after three times it is given up.
pub fn run(
    scenarios: &[Scenario],
    backends: &mut [Box<dyn Backend>],
    progress: impl FnMut(&str, &str, usize),
) -> Run {
    run_declared(&RegistryProfile::ALL.into(), scenarios, backends, progress)
}

/// As [`run`], about these profiles alone: a scenario ends for a backend at the first step of another
/// one, or of one that the backend itself does not declare.
pub fn run_declared(
    declared: &BTreeSet<RegistryProfile>,
    scenarios: &[Scenario],
    backends: &mut [Box<dyn Backend>],
    mut progress: impl FnMut(&str, &str, usize),
) -> Run {
    let mut references: Vec<_> = scenarios.iter().map(Reference::of_scenario).collect();
    let mut run = Run::new(scenarios, backends, declared);
    let of_model: Vec<_> = scenarios
        .iter()
        .zip(&mut references)
        .map(|(scenario, references)| play::model(scenario, references))
        .collect();
    for (scenario, records) in scenarios.iter().zip(&of_model) {
        progress(&scenario.name, MODEL, verdicts::failed(records));
    }
    let (reports, heard) = mpsc::channel();
    let of_backends: Vec<_> = thread::scope(|scope| {
        let players: Vec<_> = backends
            .iter_mut()
            .map(|backend| {
                let player = Player::new(backend.as_mut(), declared, reports.clone());
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
    for played in of_backends {
        run.add(played.records);
        run.views.extend(played.views);
        run.lost.extend(played.lost);
    }
    for backend in backends {
        let news = backend.news();
        if !news.is_empty() {
            run.news.insert(backend.name().to_owned(), news);
        }
    }
    run.put_in_order();
    run
}
