use crate::{
    backend::StepFault,
    model::{CanonicalState, Chain, Outcome, first_difference},
    scenario::{Expectation, Moment},
};
use serde::Serialize;
use serde_json::{Value, json};

/// What was compared when the difference showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    Outcome,
    Summary,
    Events,
    State,
    /// The step could not be judged (R25, or a chain that does not answer).
    Fault,
    Capability,
}

/// How a participant differs from what is expected.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    pub subject: Subject,
    /// JSON path inside the subject, where it is not the whole of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    pub expected: Value,
    pub actual: Value,
    /// The chain's own words, where it refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub native_error: Option<String>,
    /// The kind of chain that the model played.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chain: Option<Chain>,
}

impl Difference {
    fn new(subject: Subject, path: Option<String>, expected: Value, actual: Value) -> Self {
        Self {
            subject,
            path,
            expected,
            actual,
            native_error: None,
            chain: None,
        }
    }

    pub(super) fn fault(fault: &StepFault) -> Self {
        let actual = Value::String(fault.to_string());
        Self::new(Subject::Fault, None, "an answer".into(), actual)
    }

    pub(super) fn missing_capability(operation: &str) -> Self {
        Self::new(
            Subject::Capability,
            None,
            operation.into(),
            "the backend cannot express it".into(),
        )
    }

    pub(super) fn on(self, chain: Chain) -> Self {
        Self {
            chain: Some(chain),
            ..self
        }
    }

    pub(super) fn in_native_words(self, native_error: Option<String>) -> Self {
        Self {
            native_error,
            ..self
        }
    }
}

/// The first difference between what a step must come to on `chain` and what it came to.
/// `reference` is the model's state after the step, to say where a state differs.
pub(super) fn compare(
    moment: &Moment,
    chain: Chain,
    outcome: &Outcome,
    state: &CanonicalState,
    reference: Option<&CanonicalState>,
) -> Option<Difference> {
    let expect = moment
        .step
        .expectation(chain)
        .expect("a checked on-chain step has an expectation");
    compare_outcome(expect, outcome)
        .or_else(|| compare_events(expect, outcome))
        .or_else(|| compare_state(expect, state, reference))
}

fn compare_outcome(expect: &Expectation, outcome: &Outcome) -> Option<Difference> {
    if expect.outcome != outcome.verdict {
        return Some(Difference::new(
            Subject::Outcome,
            None,
            json!(expect.outcome),
            json!(outcome.verdict),
        ));
    }
    (expect.summary != outcome.summary).then(|| {
        Difference::new(
            Subject::Summary,
            None,
            json!(expect.summary),
            json!(outcome.summary),
        )
    })
}

fn compare_events(expect: &Expectation, outcome: &Outcome) -> Option<Difference> {
    let (expected, actual) = (json!(expect.events), json!(outcome.events));
    first_difference(&expected, &actual).map(|(path, expected, actual)| {
        Difference::new(Subject::Events, Some(path), expected, actual)
    })
}

fn compare_state(
    expect: &Expectation,
    state: &CanonicalState,
    reference: Option<&CanonicalState>,
) -> Option<Difference> {
    let digest = state.digest();
    if expect.digest == Some(digest) {
        return None;
    }
    let place = reference.and_then(|reference| {
        // Where the model itself is off the file, its state says nothing about the backend's.
        (expect.digest == Some(reference.digest()))
            .then(|| first_difference(&reference.to_json(), &state.to_json()))
            .flatten()
    });
    let (path, expected, actual) = match place {
        Some((path, expected, actual)) => (Some(path), expected, actual),
        None => (None, json!(expect.digest), json!(digest)),
    };
    Some(Difference::new(Subject::State, path, expected, actual))
}
