//! How each scenario ended, over all participants.
use crate::runner::{Run, StepResult};
use std::collections::BTreeMap;

/// Beside a scenario's name.
pub(super) const DIFFERS: &str = "differs";

/// The result of the steps and views of one scenario. More than one of these may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ended {
    /// Something differs, or inconclusive.
    pub differs: bool,
    pub varied: bool,
    pub not_declared: bool,
}

pub(super) fn by_scenario(run: &Run) -> BTreeMap<&str, Ended> {
    let mut all: BTreeMap<&str, Ended> = BTreeMap::new();
    for record in &run.records {
        let ended = all.entry(&record.scenario).or_default();
        ended.differs |= !record.result.is_as_expected();
        ended.varied |= matches!(record.result, StepResult::Varied | StepResult::Absent);
        ended.not_declared |= record.result == StepResult::NotDeclared;
    }
    for failure in run.failures() {
        all.entry(failure.scenario).or_default().differs = true;
    }
    for lost in &run.lost {
        all.entry(&lost.scenario).or_default().differs = true;
    }
    all
}
