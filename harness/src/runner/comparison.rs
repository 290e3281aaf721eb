use super::{reference::Reference, verdicts::StepResult};
use crate::{
    backend::{StepFault, TokenEventsDifference, views::ViewDifference},
    model::{Bytes32, CanonicalState, Chain, Outcome, first_difference},
    scenario::{Expectation, Foreign, TimedStep},
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
    /// The step inconclusive (R25, or a chain that does not answer).
    Fault,
    /// The participant did not answer, so nothing is known of its registry.
    Lost,
    Capability,
    /// What a view answers at the end of a scenario.
    View,
    /// The backend has the common result where its chain declares a variance: the
    /// variance is stale, or the registry lacks what the specification says its chain has.
    UnexpectedPass,
}

/// How a participant differs from what is expected.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    pub subject: Subject,
    /// JSON path inside the subject, if it is not the whole of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What a view was asked, in canonical terms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
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
            arguments: None,
            expected,
            actual,
            native_error: None,
            chain: None,
        }
    }

    pub(super) fn fault(fault: &StepFault) -> Self {
        let actual = Value::String(fault.to_string());
        let subject = match fault {
            StepFault::Unreachable(_) => Subject::Lost,
            _ => Subject::Fault,
        };
        Self::new(subject, None, "an answer".into(), actual)
    }

    /// The participant was lost before, and does not start again.
    pub(super) fn lost(reason: &str) -> Self {
        Self::new(Subject::Lost, None, "an answer".into(), reason.into())
    }

    fn of_token_events(found: &TokenEventsDifference) -> Self {
        let (expected, actual) = (json!(found.expected), json!(found.actual));
        Self::new(Subject::Events, None, expected, actual)
    }

    pub(super) fn of_view(arguments: Value, found: ViewDifference) -> Self {
        Self {
            arguments: Some(arguments),
            native_error: found.native_error,
            ..Self::new(
                Subject::View,
                Some(found.path),
                found.expected,
                found.actual,
            )
        }
    }

    pub(super) fn missing_capability(operation: &str) -> Self {
        Self::new(
            Subject::Capability,
            None,
            operation.into(),
            "the backend cannot express it".into(),
        )
    }

    fn unexpected_pass(common: &Expectation, varied: &Expectation) -> Self {
        let (expected, actual) = if varied.outcome == common.outcome {
            (json!(varied.digest), json!(common.digest))
        } else {
            (json!(varied.outcome), json!(common.outcome))
        };
        Self::new(Subject::UnexpectedPass, None, expected, actual)
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

/// The result of a participant at a step.
pub(super) struct ActualResult<'a> {
    pub outcome: &'a Outcome,
    pub token_events: Option<&'a TokenEventsDifference>,
    pub state: &'a CanonicalState,
    pub digest: Bytes32,
}

/// Compares the expected result of a step on `chain` with its result. `foreign` names a registry
/// that is not ours; `reference` is the model's, if it is sound: it shows where a state differs, and
/// which state is right if the file has no digest.
pub(super) fn check(
    step: &TimedStep,
    chain: Chain,
    foreign: Option<&str>,
    actual: &ActualResult<'_>,
    reference: Option<&Reference>,
) -> StepResult {
    let step = &step.source;
    let common = step
        .expect
        .as_ref()
        .expect("a checked on-chain step has an expectation");
    let known = match step.foreign_to(foreign) {
        None => None,
        Some(Foreign { outcome: None, .. }) => {
            return match compare(common, actual, reference) {
                Some(_) => StepResult::Varied,
                None => StepResult::failed(Difference::unexpected_pass(common, common)),
            };
        }
        Some(Foreign {
            outcome: Some(outcome),
            summary,
            ..
        }) => Some(Expectation {
            outcome: *outcome,
            summary: *summary,
            ..common.clone()
        }),
    };
    let of_chain = || {
        let variance = step.variance.iter().find(|it| it.chain == chain)?;
        Some(variance.expect.clone())
    };
    let Some(varied) = known.or_else(of_chain) else {
        return compare(common, actual, reference).map_or(StepResult::Passed, StepResult::failed);
    };
    match compare(&varied, actual, reference) {
        None => StepResult::Varied,
        Some(_) if compare(common, actual, None).is_none() => {
            StepResult::failed(Difference::unexpected_pass(common, &varied))
        }
        Some(difference) => StepResult::failed(difference),
    }
}

/// The first difference.
fn compare(
    expect: &Expectation,
    actual: &ActualResult<'_>,
    reference: Option<&Reference>,
) -> Option<Difference> {
    compare_outcome(expect, actual.outcome)
        .or_else(|| compare_events(expect, actual.outcome))
        .or_else(|| actual.token_events.map(Difference::of_token_events))
        .or_else(|| compare_state(expect, actual, reference))
}

fn compare_outcome(expect: &Expectation, outcome: &Outcome) -> Option<Difference> {
    if expect.outcome != outcome.verdict {
        let (expected, actual) = (json!(expect.outcome), json!(outcome.verdict));
        return Some(Difference::new(Subject::Outcome, None, expected, actual));
    }
    let (expected, actual) = (json!(expect.summary), json!(outcome.summary));
    (expected != actual).then(|| Difference::new(Subject::Summary, None, expected, actual))
}

fn compare_events(expect: &Expectation, outcome: &Outcome) -> Option<Difference> {
    let (expected, actual) = (json!(expect.events), json!(outcome.events));
    first_difference(&expected, &actual).map(|(path, expected, actual)| {
        Difference::new(Subject::Events, Some(path), expected, actual)
    })
}

fn compare_state(
    expect: &Expectation,
    actual: &ActualResult<'_>,
    reference: Option<&Reference>,
) -> Option<Difference> {
    let right = expect.digest.or(reference.map(|it| it.digest))?;
    if right == actual.digest {
        return None;
    }
    let place = reference.and_then(|reference| {
        // Where the model itself is off the file, its state says nothing about the backend's.
        (right == reference.digest)
            .then(|| first_difference(&reference.state.to_json(), &actual.state.to_json()))
            .flatten()
    });
    let (path, expected, actual) = match place {
        Some((path, expected, actual)) => (Some(path), expected, actual),
        None => (None, json!(right), json!(actual.digest)),
    };
    Some(Difference::new(Subject::State, path, expected, actual))
}
