use super::super::cell::{subject, value};
use crate::{
    backend::Cost,
    model::{Event, Summary, Verdict},
    runner::{Difference, Observation, Run, StepRecord, StepResult},
    scenario::{Expectation, TimedStep},
};
use maud::{Markup, html};
use serde_json::json;

/// One step: who did what, what is expected of it, and what each participant came to.
pub(super) fn row(run: &Run, step: &TimedStep, records: &[StepRecord]) -> Markup {
    let record = |name: &str| {
        let mut own = records.iter().filter(|it| it.step == step.number);
        own.find(|it| it.participant == name)
    };
    html! {
        tr {
            th scope="row" {
                (step.number) " " (step.operation.name())
                small { " at " (step.time) " s" }
                @if let Some(note) = &step.source.note { p { (note) } }
                details { summary { "arguments" } pre { (json!(step.source.action)) } }
            }
            td { (expected(step)) }
            @for participant in &run.participants {
                td data-participant=(participant.name) {
                    @if let Some(record) = record(&participant.name) { (played(record)) }
                }
            }
        }
    }
}

fn expected(step: &TimedStep) -> Markup {
    html! {
        @if let Some(expect) = &step.source.expect { (expectation(expect)) }
        @for variance in &step.source.variance {
            div .variance {
                p { strong { (variance.chain) } ": declared variance " (variance.kind) ". " (variance.reason) }
                (expectation(&variance.expect))
            }
        }
    }
}

fn expectation(expect: &Expectation) -> Markup {
    html! {
        p { code { (expect.outcome) } }
        (summary(expect.summary))
        (events(expect.events.as_deref().unwrap_or_default()))
        @if let Some(digest) = expect.digest { (hash(&digest.to_string())) }
    }
}

fn played(record: &StepRecord) -> Markup {
    let result = &record.result;
    html! {
        p class=(tone(result)) {
            @if let Some(observed) = &record.observed { (outcome(&observed.outcome)) " " }
            (words(result))
        }
        @if let Some(difference) = result.difference() { (differs(difference)) }
        @if let Some(observed) = &record.observed { (observation(observed)) }
    }
}

fn outcome(outcome: &Verdict) -> Markup {
    html! { code { (outcome) } }
}

fn words(result: &StepResult) -> &'static str {
    match result {
        StepResult::Passed => "passed",
        StepResult::Failed(_) => "failed",
        StepResult::Error(_) => "could not be judged",
        StepResult::Varied => "declared variance",
        StepResult::NotDeclared => "not declared",
        StepResult::NotReached => "not reached",
        StepResult::Absent => "not on this chain (declared variance)",
    }
}

fn tone(result: &StepResult) -> &'static str {
    match result {
        StepResult::Passed => "good",
        StepResult::Varied | StepResult::Absent => "varied",
        StepResult::Failed(_) | StepResult::Error(_) => "bad",
        StepResult::NotReached | StepResult::NotDeclared => "",
    }
}

fn differs(difference: &Difference) -> Markup {
    html! {
        p .bad {
            (subject(difference.subject))
            @if let Some(chain) = difference.chain { " for " (chain) }
            @if let Some(path) = &difference.path { " " code { (path) } }
            ": expected " code { (value(&difference.expected)) }
            ", actual " code { (value(&difference.actual)) }
        }
    }
}

fn observation(observed: &Observation) -> Markup {
    html! {
        @if let Some(native) = &observed.native_error { p { small { "natively " code { (native) } } } }
        @if let Some(cost) = observed.cost { p .cost { (spaced(cost)) } }
        (summary(observed.summary))
        (events(&observed.events))
        (hash(&observed.digest.to_string()))
    }
}

fn summary(summary: Option<Summary>) -> Markup {
    html! { @if let Some(summary) = summary { p { code { (json!(summary)) } } } }
}

fn events(events: &[Event]) -> Markup {
    let label = match events.len() {
        0 => "no events".to_owned(),
        1 => "1 event".to_owned(),
        many => format!("{many} events"),
    };
    html! {
        @if events.is_empty() { p { small { (label) } } }
        @else {
            details {
                summary { (label) }
                pre { @for event in events { (json!(event)) "\n" } }
            }
        }
    }
}

/// A digest, short; whole where the pointer rests, and for copying.
fn hash(digest: &str) -> Markup {
    let short = digest.get(..10).unwrap_or(digest);
    html! { p .digest { small { "state " code title=(digest) { (short) "…" } } } }
}

/// `128 923 gas`: digits in threes.
fn spaced(cost: Cost) -> String {
    let (amount, unit) = match cost {
        Cost::Gas(gas) => (gas, "gas"),
        Cost::ComputeUnits(units) => (units, "CU"),
    };
    let digits = amount.to_string();
    let groups: Vec<_> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(String::from_utf8_lossy)
        .collect();
    format!("{} {unit}", groups.join("\u{a0}"))
}
