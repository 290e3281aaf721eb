use super::{Difference, Lost, MODEL, ViewRecord};
use crate::{
    backend::{Backend, Cost, News, Observed, StepFault, views::ViewName},
    model::{Bytes32, Chain, Event, RegistryProfile, Summary, Verdict},
    scenario::{Rule, Scenario, TimedStep},
};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// In the place of a variance's number: the registry is not ours, and known to differ.
pub const FOREIGN: u8 = 0;
/// Why a step was not played by a registry that is not ours.
const LACKING: &str = "These registries have no such operation, or were deployed without it.";

/// Why a scenario ended for a registry that is not ours and of a later version.
const LATER: &str = "A later version of these contracts gives a wallet to one agent only.";

/// What came of a whole run.
#[derive(Clone, Debug)]
pub struct Run {
    /// The model first, then the backends.
    pub participants: Vec<Participant>,
    /// What was played, in order.
    pub scenarios: Vec<Scenario>,
    /// By scenario, then participant, then step.
    pub records: Vec<StepRecord>,
    /// What views answered at the scenarios' ends, by scenario, then participant.
    pub views: Vec<ViewRecord>,
    /// What registries of others have that is not known, by participant.
    pub news: BTreeMap<String, Vec<News>>,
    /// Whoever did not answer any more, each time.
    pub lost: Vec<Lost>,
    /// Scenarios that were chosen and not played, not even by the model.
    pub left_out: Vec<LeftOut>,
}

/// A scenario that a participant cannot be asked, whatever it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    pub scenario: String,
    /// In words that follow "as".
    pub reason: String,
}

/// Who played.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Participant {
    pub name: String,
    /// `None`: the model, which plays both.
    pub chain: Option<Chain>,
    /// What is checked.
    pub profiles: BTreeSet<RegistryProfile>,
    /// Every view of its interface.
    #[serde(skip)]
    pub interface: BTreeSet<ViewName>,
}

/// One step as one participant did it.
#[derive(Clone, Debug)]
pub struct StepRecord {
    pub scenario: String,
    /// Counted from 1, as in the file.
    pub step: usize,
    pub operation: &'static str,
    pub rules: Vec<Rule>,
    pub participant: String,
    pub result: StepResult,
    /// `None` if the step was not played, or is inconclusive. The model's is that of the
    /// first chain.
    pub observed: Option<Observation>,
    /// How a registry of a later version than the known one ended the scenario here.
    pub later: Option<String>,
}

/// The result of a participant at a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Observation {
    pub outcome: Verdict,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<Summary>,
    pub events: Vec<Event>,
    /// Of the canonical state after the step.
    pub digest: Bytes32,
    /// The chain's own words, where it refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub native_error: Option<String>,
    /// None for a read, and for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// The transaction's id, if it was sent on a chain that others can look it up on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transaction: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum StepResult {
    Passed,
    Failed(Box<Difference>),
    /// The step inconclusive, so the registry has not failed; the run does.
    Error(Box<Difference>),
    /// It has the result that the scenario declares for this chain alone.
    Varied,
    /// The step, or an earlier one, is of a profile that the participant does not declare.
    NotDeclared,
    /// An earlier step of the scenario failed on this participant.
    NotReached,
    /// The scenario is for the other chain only, which is a declared variance too.
    Absent,
}

/// A failed step, for reports.
#[derive(Clone, Debug, Serialize)]
pub struct Failure<'a> {
    pub scenario: &'a str,
    pub step: usize,
    /// The step's operation, or the view that was asked after the last step.
    pub operation: String,
    pub rules: &'a [Rule],
    pub participant: &'a str,
    #[serde(flatten)]
    pub difference: &'a Difference,
}

/// A declared difference between chains that a backend has shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VarianceUsed<'a> {
    pub scenario: &'a str,
    /// `None`: the whole scenario.
    pub step: Option<usize>,
    /// The number in the specification's list.
    pub kind: u8,
    pub participant: &'a str,
    /// The result of the chain, and the one that it would have without the variance.
    pub outcome: String,
    pub elsewhere: String,
    pub reason: &'a str,
}

/// How many steps that cite a rule ended how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StepCount {
    pub passed: usize,
    pub failed: usize,
    /// Steps that inconclusive.
    pub errors: usize,
    /// Steps with a declared variance.
    pub varied: usize,
    pub not_reached: usize,
    /// Steps that the scenario declares to be the other chain's only.
    pub absent: usize,
    /// Steps of scenarios that ended at a profile which is not declared.
    pub not_declared: usize,
}

impl StepResult {
    pub(super) fn failed(difference: Difference) -> Self {
        Self::Failed(Box::new(difference))
    }

    pub(super) fn error(fault: &StepFault) -> Self {
        Self::Error(Box::new(Difference::fault(fault)))
    }

    pub(super) fn lost(reason: &str) -> Self {
        Self::Error(Box::new(Difference::lost(reason)))
    }

    /// How the participant differs, or why it inconclusive.
    pub fn difference(&self) -> Option<&Difference> {
        match self {
            Self::Failed(difference) | Self::Error(difference) => Some(difference),
            _ => None,
        }
    }

    pub(super) fn into_difference(self) -> Option<Difference> {
        match self {
            Self::Failed(difference) | Self::Error(difference) => Some(*difference),
            _ => None,
        }
    }

    pub(super) fn in_native_words(self, words: Option<String>) -> Self {
        match self {
            Self::Failed(difference) => Self::failed(difference.in_native_words(words)),
            other => other,
        }
    }

    /// Did the participant do what the scenario expects?
    pub fn is_as_expected(&self) -> bool {
        matches!(
            self,
            Self::Passed | Self::Varied | Self::Absent | Self::NotDeclared
        )
    }

    /// The name in reports.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed(_) => "failed",
            Self::Error(_) => "error",
            Self::Varied => "varied",
            Self::NotDeclared => "not_declared",
            Self::NotReached => "not_reached",
            Self::Absent => "absent",
        }
    }
}

impl StepCount {
    fn add(&mut self, result: &StepResult) {
        let count = match result {
            StepResult::Passed => &mut self.passed,
            StepResult::Failed(_) => &mut self.failed,
            StepResult::Error(_) => &mut self.errors,
            StepResult::Varied => &mut self.varied,
            StepResult::NotDeclared => &mut self.not_declared,
            StepResult::NotReached => &mut self.not_reached,
            StepResult::Absent => &mut self.absent,
        };
        *count += 1;
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.errors += other.errors;
    }

    /// Did every one of these steps do what its scenario expects?
    pub fn is_as_expected(&self) -> bool {
        self.failed + self.errors + self.not_reached == 0
    }
}

impl Observation {
    pub(super) fn of(observed: &Observed, digest: Bytes32) -> Self {
        Self {
            outcome: observed.outcome.verdict,
            summary: observed.outcome.summary,
            events: observed.outcome.events.clone(),
            digest,
            native_error: observed.native_error.clone(),
            cost: observed.cost,
            transaction: observed.transaction.clone(),
        }
    }
}

impl StepRecord {
    pub(super) fn new(
        scenario: &Scenario,
        step: &TimedStep,
        participant: &str,
        result: StepResult,
    ) -> Self {
        Self {
            scenario: scenario.name.clone(),
            step: step.number,
            operation: step.operation.name(),
            rules: step.rules.clone(),
            participant: participant.to_owned(),
            result,
            observed: None,
            later: None,
        }
    }
}

pub(super) fn failed(records: &[StepRecord]) -> usize {
    let failed = |record: &&StepRecord| record.result.difference().is_some();
    records.iter().filter(failed).count()
}

impl Run {
    /// `declared`: what the run is about; a backend may declare less.
    pub(super) fn new(
        scenarios: &[Scenario],
        backends: &[Box<dyn Backend>],
        declared: &BTreeSet<RegistryProfile>,
    ) -> Self {
        let model = Participant {
            name: MODEL.to_owned(),
            chain: None,
            profiles: RegistryProfile::ALL.into(),
            interface: BTreeSet::new(),
        };
        let backends = backends.iter().map(|backend| Participant {
            name: backend.name().to_owned(),
            chain: Some(backend.chain()),
            profiles: &backend.profiles() & declared,
            interface: backend.interface(),
        });
        Self {
            participants: [model].into_iter().chain(backends).collect(),
            scenarios: scenarios.to_vec(),
            records: Vec::new(),
            views: Vec::new(),
            news: BTreeMap::new(),
            lost: Vec::new(),
            left_out: Vec::new(),
        }
    }

    /// One participant's records, by scenario.
    pub(super) fn add(&mut self, records: Vec<Vec<StepRecord>>) {
        self.records.extend(records.into_iter().flatten());
    }

    /// Records were added participant by participant: a stable sort by scenario is all it takes.
    pub(super) fn put_in_order(&mut self) {
        let names = self.scenarios.iter().map(|scenario| &scenario.name);
        let places: BTreeMap<_, _> = names.zip(0..).collect::<BTreeMap<_, usize>>();
        self.records.sort_by_key(|record| places[&record.scenario]);
        self.views.sort_by_key(|record| places[&record.scenario]);
    }

    /// Every declared variance that a backend has shown.
    pub fn variances(&self) -> Vec<VarianceUsed<'_>> {
        let mut used = Vec::new();
        for (scenario, records) in self.by_scenario() {
            let mut absent = BTreeSet::new();
            for record in records {
                match record.result {
                    StepResult::Varied => used.extend(self.variance_of(scenario, record)),
                    StepResult::Absent if absent.insert(&record.participant) => {
                        used.extend(absence_of(scenario, record));
                    }
                    _ => (),
                }
            }
        }
        used
    }

    fn variance_of<'a>(
        &self,
        scenario: &'a Scenario,
        record: &'a StepRecord,
    ) -> Option<VarianceUsed<'a>> {
        let chain = self.chain_of(&record.participant)?;
        let steps = &scenario.steps;
        let step = &steps.iter().find(|it| it.number == record.step)?.source;
        let of_chain = step.variance.iter().find(|it| it.chain == chain);
        let elsewhere = step.expect.as_ref()?.outcome.to_string();
        if let Some(words) = &record.later {
            return Some(VarianceUsed {
                scenario: &scenario.name,
                step: Some(record.step),
                kind: FOREIGN,
                participant: &record.participant,
                outcome: words.clone(),
                elsewhere,
                reason: LATER,
            });
        }
        let Some(variance) = of_chain else {
            let (outcome, reason) = if record.observed.is_none() {
                (Verdict::Unsupported.to_string(), LACKING)
            } else {
                let known = step.foreign.first()?;
                let other = || "another state".to_owned();
                let outcome = known.outcome.map_or_else(other, |it| it.to_string());
                (outcome, known.reason.as_str())
            };
            return Some(VarianceUsed {
                scenario: &scenario.name,
                step: Some(record.step),
                kind: FOREIGN,
                participant: &record.participant,
                outcome,
                elsewhere,
                reason,
            });
        };
        Some(VarianceUsed {
            scenario: &scenario.name,
            step: Some(record.step),
            kind: variance.kind,
            participant: &record.participant,
            outcome: variance.expect.outcome.to_string(),
            elsewhere,
            reason: &variance.reason,
        })
    }

    /// The chain that a participant is on; none for the model.
    pub fn chain_of(&self, participant: &str) -> Option<Chain> {
        let mut all = self.participants.iter();
        all.find(|it| it.name == participant)?.chain
    }

    /// Each scenario with its records.
    pub fn by_scenario(&self) -> impl Iterator<Item = (&Scenario, &[StepRecord])> {
        let mut rest = &self.records[..];
        self.scenarios.iter().map(move |scenario| {
            let other = rest.iter().position(|it| it.scenario != scenario.name);
            let (own, others) = rest.split_at(other.unwrap_or(rest.len()));
            rest = others;
            (scenario, own)
        })
    }

    /// Steps by rule and participant. A step counts once for each rule that it cites.
    pub fn matrix(&self) -> BTreeMap<Rule, BTreeMap<&str, StepCount>> {
        let mut matrix: BTreeMap<_, BTreeMap<_, StepCount>> = BTreeMap::new();
        for record in &self.records {
            for rule in &record.rules {
                let row = matrix.entry(*rule).or_default();
                row.entry(record.participant.as_str())
                    .or_default()
                    .add(&record.result);
            }
        }
        matrix
    }

    /// Every participant's count over all steps, each step once.
    pub fn totals(&self) -> BTreeMap<&str, StepCount> {
        let mut totals: BTreeMap<_, StepCount> = BTreeMap::new();
        for record in &self.records {
            totals
                .entry(record.participant.as_str())
                .or_default()
                .add(&record.result);
        }
        totals
    }

    /// Rules that no step of this run cites.
    pub fn rules_without_steps(&self) -> Vec<Rule> {
        let cited: BTreeSet<_> = self.records.iter().flat_map(|it| &it.rules).collect();
        Rule::all().filter(|rule| !cited.contains(rule)).collect()
    }
}

fn absence_of<'a>(scenario: &'a Scenario, record: &'a StepRecord) -> Option<VarianceUsed<'a>> {
    let only = scenario.only.as_ref()?;
    Some(VarianceUsed {
        scenario: &scenario.name,
        step: None,
        kind: only.kind,
        participant: &record.participant,
        outcome: Verdict::Unsupported.to_string(),
        elsewhere: format!("for {} only", only.chain),
        reason: &only.reason,
    })
}
