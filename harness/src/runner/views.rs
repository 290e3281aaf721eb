//! What the backends' views answered at the end of scenarios.
use super::{Difference, StepCount};
use crate::{
    backend::{
        Backend, StepFault,
        views::{Draw, Known, ViewAnswer, ViewName},
    },
    model::RegistryProfile,
    scenario::Scenario,
};
use std::collections::{BTreeMap, BTreeSet};

/// How many views of one scenario are kept with a wrong answer: one fault makes many of them.
const KEPT: usize = 20;

/// One participant's views at the end of one scenario.
#[derive(Clone, Debug)]
pub struct ViewRecord {
    pub scenario: String,
    /// The scenario's last step, counted from 1.
    pub step: usize,
    pub participant: String,
    /// How often each view was asked.
    pub asked: BTreeMap<ViewName, usize>,
    /// How many answers were wrong.
    pub wrong: usize,
    /// The first of each view.
    pub differences: Vec<(ViewName, Difference)>,
    /// Why the views could not be asked.
    pub fault: Option<Difference>,
}

/// Asks a backend every view of its declared profiles, at the end of a scenario that went as it
/// is told.
pub(super) fn ask(
    backend: &mut dyn Backend,
    scenario: &Scenario,
    known: Known<'_>,
    declared: &BTreeSet<RegistryProfile>,
) -> (ViewRecord, Option<String>) {
    let mut record = ViewRecord {
        scenario: scenario.name.clone(),
        step: scenario.steps.last().map_or(0, |step| step.number),
        participant: backend.name().to_owned(),
        asked: BTreeMap::new(),
        wrong: 0,
        differences: Vec::new(),
        fault: None,
    };
    let mut draw = Draw::of(&known.state.digest());
    match backend.ask_views(known, &mut draw) {
        Ok(answers) => {
            let is_declared = |it: &ViewAnswer| declared.contains(&it.view.profile());
            answers
                .into_iter()
                .filter(is_declared)
                .for_each(|it| record.note(it));
            (record, None)
        }
        Err(fault) => {
            let lost = match &fault {
                StepFault::Unreachable(reason) => Some(reason.clone()),
                _ => None,
            };
            record.fault = Some(Difference::fault(&fault));
            (record, lost)
        }
    }
}

impl ViewRecord {
    fn note(&mut self, answer: ViewAnswer) {
        *self.asked.entry(answer.view).or_default() += 1;
        let Some(difference) = answer.difference else {
            return;
        };
        self.wrong += 1;
        let is_kept = self
            .differences
            .iter()
            .any(|(view, _)| *view == answer.view);
        if !is_kept && self.differences.len() < KEPT {
            let difference = Difference::of_view(answer.arguments, difference);
            self.differences.push((answer.view, difference));
        }
    }

    /// Questions that were answered as they must be, that were not, and whether there were any.
    pub(super) fn count(&self) -> StepCount {
        let asked: usize = self.asked.values().sum();
        StepCount {
            passed: asked - self.wrong,
            failed: self.wrong,
            errors: usize::from(self.fault.is_some()),
            ..StepCount::default()
        }
    }
}
