//! A scenario file, as it is on disk. `tests/scenarios/schema.json` describes the same shape
//! for editors and for other languages.
use super::{Flag, Rule};
use crate::model::{Actor, Bytes32, Chain, Event, Summary, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One sequence of steps, which must have the same result on every chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    pub title: String,
    /// What the scenario shows; every step that cites no rule of its own counts for these.
    pub rules: Vec<Rule>,
    /// The source of the scenario, such as `FS-021`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// Unix seconds. Every other time in the file is counted from here.
    pub start: u64,
    pub actors: Vec<Actor>,
    /// Set if the scenario can be played on one chain only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<Only>,
    /// Where else it is played.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<Flag>,
    pub steps: Vec<Step>,
}

/// A declared variance (specification §3a) that a whole scenario shows: the other chain has nothing
/// to play it with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Only {
    pub chain: Chain,
    /// The number in the specification's list of declared variances, 1 to 7.
    pub kind: u8,
    pub reason: String,
}

/// One action of an actor, and its expected result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<Rule>,
    /// The chain's time for this transaction; one second after the one before where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<u64>,
    /// One member. Off chain: `authorize`, `consent` or `payment`, which makes a statement with a
    /// name, for later steps to send. On chain: an [`crate::model::Operation`] in its JSON form, with
    /// names in place of statements.
    #[serde(rename = "do")]
    pub action: Map<String, Value>,
    /// Absent for what happens off chain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<Expectation>,
    /// Where a chain is declared to differ from `expect` (specification §3a).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variance: Vec<Variance>,
    /// Where registries that are not ours are known to answer otherwise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub foreign: Vec<Foreign>,
}

/// How a registry that is not ours is known to differ at one step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Foreign {
    /// Which registry, as [`crate::backend::Backend::foreign`] calls it.
    pub registry: String,
    pub reason: String,
    /// What it answers instead; events and state are everybody's. `None`: they are not, so that
    /// its result from here on is not checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Verdict>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<Summary>,
}

/// What must come of a step. `outcome` and `summary` are written by hand; `concord fill`
/// writes `events` and `digest` from the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    pub outcome: Verdict,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<Summary>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<Vec<Event>>,
    /// keccak256 of the canonical state after the step. Where it is absent, the state is compared
    /// with the model's alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Bytes32>,
}

/// One chain's declared difference at one step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variance {
    /// The number in the specification's list of declared variances, 1 to 7.
    pub kind: u8,
    pub chain: Chain,
    pub reason: String,
    pub expect: Expectation,
}

impl Document {
    /// The last step that calls a registry. What it leaves behind is the whole scenario's.
    pub fn last_on_chain(&self) -> Option<usize> {
        self.steps.iter().rposition(|step| step.expect.is_some())
    }
}

impl Step {
    /// What the registry of this name is known to answer otherwise.
    pub fn foreign_to(&self, registry: Option<&str>) -> Option<&Foreign> {
        self.foreign
            .iter()
            .find(|it| Some(it.registry.as_str()) == registry)
    }

    /// Returns whether its expectations have the digest of the state after it: where chains are
    /// declared to differ. The last step of a scenario has one in any case.
    pub fn shows_state(&self) -> bool {
        !self.variance.is_empty()
    }

    /// What the step must come to on `chain`.
    pub fn expectation(&self, chain: Chain) -> Option<&Expectation> {
        self.variance
            .iter()
            .find(|variance| variance.chain == chain)
            .map(|variance| &variance.expect)
            .or(self.expect.as_ref())
    }

    /// The place in this step of what [`Self::expectation`] answers.
    pub fn expectation_path(&self, chain: Chain) -> String {
        self.variance
            .iter()
            .position(|variance| variance.chain == chain)
            .map_or("expect".to_owned(), |at| format!("variance[{at}].expect"))
    }
}
