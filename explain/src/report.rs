use crate::{State, Step};
use serde::Serialize;

/// One piece of evidence, by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// What it is.
    pub name: &'static str,
    /// Its value as text.
    pub value: String,
}

impl Fact {
    pub(crate) fn new(name: &'static str, value: impl ToString) -> Self {
        Self {
            name,
            value: value.to_string(),
        }
    }
}

/// What one step found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The step.
    pub step: Step,
    /// Its state.
    pub state: State,
    /// Why, in one sentence; may be empty if it is verified.
    pub detail: String,
    /// On what it rests.
    pub evidence: Vec<Fact>,
}

/// A step that this feedback does not have, such as the authorization of open feedback.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotApplicable {
    /// The step.
    pub step: Step,
    /// Why it does not apply.
    pub reason: String,
}

/// The result of every step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// The feedback's id: registry, profile, agent, client, index.
    pub feedback: String,
    /// The block hashes on which the report rests, as `chain: hash`. Whoever knows them to be of their chains
    /// need not trust the bundle in anything that is verified.
    pub rests_on: Vec<String>,
    /// The steps that apply, in order.
    pub findings: Vec<Finding>,
    /// The steps that do not.
    pub not_applicable: Vec<NotApplicable>,
}

impl Report {
    /// The state of the whole: the worst of its steps (R36).
    #[must_use]
    pub fn state(&self) -> State {
        let states = self.findings.iter().map(|it| it.state);
        states.max().unwrap_or(State::CannotCheck)
    }

    /// What a step found; `None` if it does not apply.
    #[must_use]
    pub fn finding(&self, step: Step) -> Option<&Finding> {
        self.findings.iter().find(|it| it.step == step)
    }

    /// The state of a step; `None` if it does not apply.
    #[must_use]
    pub fn state_of(&self, step: Step) -> Option<State> {
        self.finding(step).map(|it| it.state)
    }

    /// How many steps have a state.
    #[must_use]
    pub fn count(&self, state: State) -> usize {
        self.findings.iter().filter(|it| it.state == state).count()
    }
}
