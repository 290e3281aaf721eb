use super::{Difference, MODEL};
use crate::{
    model::{Chain, Verdict},
    scenario::{Moment, Rule, Scenario},
};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// What came of a whole run.
#[derive(Clone, Debug)]
pub struct Run {
    /// The model first, then the backends.
    pub participants: Vec<&'static str>,
    pub records: Vec<StepRecord>,
    pub variances: Vec<VarianceUsed>,
}

/// One step as one participant did it.
#[derive(Clone, Debug)]
pub struct StepRecord {
    pub scenario: String,
    /// Counted from 1, as in the file.
    pub step: usize,
    pub operation: &'static str,
    pub rules: Vec<Rule>,
    pub participant: &'static str,
    pub result: StepResult,
}

#[derive(Clone, Debug, PartialEq)]
pub enum StepResult {
    Passed,
    Failed(Box<Difference>),
    /// An earlier step of the scenario failed on this participant.
    NotReached,
    /// The scenario is told for the other chain only, as it declares.
    Absent,
}

/// A failed step, for reports.
#[derive(Clone, Debug, Serialize)]
pub struct Failure<'a> {
    pub scenario: &'a str,
    pub step: usize,
    pub operation: &'static str,
    pub rules: &'a [Rule],
    pub participant: &'static str,
    #[serde(flatten)]
    pub difference: &'a Difference,
}

/// A declared difference between chains that a backend has shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VarianceUsed {
    pub scenario: String,
    /// `None`: the whole scenario.
    pub step: Option<usize>,
    /// The number in the specification's list.
    pub kind: u8,
    pub participant: &'static str,
    /// What the chain came to, and what it would have come to without the variance.
    pub outcome: String,
    pub elsewhere: String,
    pub reason: String,
}

/// How many steps that cite a rule ended how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StepCount {
    pub passed: usize,
    pub failed: usize,
    pub not_reached: usize,
    /// Steps that the scenario declares to be the other chain's only.
    pub absent: usize,
}

impl StepResult {
    pub(super) fn failed(difference: Difference) -> Self {
        Self::Failed(Box::new(difference))
    }
}

impl StepCount {
    fn add(&mut self, result: &StepResult) {
        match result {
            StepResult::Passed => self.passed += 1,
            StepResult::Failed(_) => self.failed += 1,
            StepResult::NotReached => self.not_reached += 1,
            StepResult::Absent => self.absent += 1,
        }
    }
}

impl Run {
    pub(super) fn new(backends: impl Iterator<Item = &'static str>) -> Self {
        Self {
            participants: [MODEL].into_iter().chain(backends).collect(),
            records: Vec::new(),
            variances: Vec::new(),
        }
    }

    pub(super) fn record(
        &mut self,
        scenario: &Scenario,
        moment: &Moment,
        participant: &'static str,
        result: StepResult,
    ) {
        self.records.push(StepRecord {
            scenario: scenario.name.clone(),
            step: moment.number,
            operation: moment.operation.name(),
            rules: moment.rules.clone(),
            participant,
            result,
        });
    }

    /// The scenario's declared variance, and a record for each of its steps.
    pub(super) fn record_absence(&mut self, scenario: &Scenario, participant: &'static str) {
        let Some(only) = &scenario.only else {
            return;
        };
        self.variances.push(VarianceUsed {
            scenario: scenario.name.clone(),
            step: None,
            kind: only.kind,
            participant,
            outcome: Verdict::Unsupported.to_string(),
            elsewhere: format!("told for {} only", only.chain),
            reason: only.reason.clone(),
        });
        for moment in &scenario.moments {
            self.record(scenario, moment, participant, StepResult::Absent);
        }
    }

    pub(super) fn note_variances(
        &mut self,
        scenario: &Scenario,
        moment: &Moment,
        chain: Chain,
        participant: &'static str,
    ) {
        let shown = moment.step.variance.iter().filter(|it| it.chain == chain);
        self.variances.extend(shown.map(|variance| {
            VarianceUsed {
                scenario: scenario.name.clone(),
                step: Some(moment.number),
                kind: variance.kind,
                participant,
                outcome: variance.expect.outcome.to_string(),
                elsewhere: moment
                    .step
                    .expect
                    .as_ref()
                    .map_or_else(String::new, |expect| expect.outcome.to_string()),
                reason: variance.reason.clone(),
            }
        }));
    }

    /// Did every participant come to what is expected at every step?
    pub fn agrees(&self) -> bool {
        self.records
            .iter()
            .all(|record| matches!(record.result, StepResult::Passed | StepResult::Absent))
    }

    pub fn failures(&self) -> impl Iterator<Item = Failure<'_>> {
        self.records
            .iter()
            .filter_map(|record| match &record.result {
                StepResult::Failed(difference) => Some(Failure {
                    scenario: &record.scenario,
                    step: record.step,
                    operation: record.operation,
                    rules: &record.rules,
                    participant: record.participant,
                    difference,
                }),
                _ => None,
            })
    }

    /// Steps by rule and participant. A step counts once for each rule that it cites.
    pub fn matrix(&self) -> BTreeMap<Rule, BTreeMap<&'static str, StepCount>> {
        let mut matrix: BTreeMap<_, BTreeMap<_, StepCount>> = BTreeMap::new();
        for record in &self.records {
            for rule in &record.rules {
                let row = matrix.entry(*rule).or_default();
                row.entry(record.participant)
                    .or_default()
                    .add(&record.result);
            }
        }
        matrix
    }

    /// Every participant's count over all steps, each step once.
    pub fn totals(&self) -> BTreeMap<&'static str, StepCount> {
        let mut totals: BTreeMap<_, StepCount> = BTreeMap::new();
        for record in &self.records {
            totals
                .entry(record.participant)
                .or_default()
                .add(&record.result);
        }
        totals
    }

    pub fn scenarios(&self) -> BTreeSet<&str> {
        self.records
            .iter()
            .map(|record| record.scenario.as_str())
            .collect()
    }

    /// Rules that no step of this run cites.
    pub fn rules_without_steps(&self) -> Vec<Rule> {
        let cited: BTreeSet<_> = self.records.iter().flat_map(|it| &it.rules).collect();
        Rule::all().filter(|rule| !cited.contains(rule)).collect()
    }
}
