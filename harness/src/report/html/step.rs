use super::{
    super::cell::{subject, value},
    in_threes, line,
};
use crate::{
    backend::Cost,
    model::{Event, Summary},
    runner::{Difference, Observation, Run, StepRecord, StepResult},
    scenario::{Expectation, Rule, Step, TimedStep},
};
use maud::{Markup, html};
use serde_json::{Value, json};

/// One step: who did what, what is expected of it, and the result of each participant.
pub(super) fn row(run: &Run, id: &str, step: &TimedStep, records: &[StepRecord]) -> Markup {
    let record = |name: &str| {
        let mut own = records.iter().filter(|it| it.step == step.number);
        own.find(|it| it.participant == name)
    };
    html! {
        tr #(id) {
            (number(id, step.number))
            td {
                (action(&step.source))
                " " small { (cited(&step.rules)) " at " (step.time) " s" }
            }
            td { (expected(step)) }
            @for participant in &run.participants {
                @match record(&participant.name) {
                    Some(record) => { (played(record)) },
                    None => { td {} },
                }
            }
        }
    }
}

/// What somebody signs, for later steps to send.
pub(super) fn signed(id: &str, at: usize, step: &Step, participants: usize) -> Markup {
    html! {
        tr #(id) {
            (number(id, at))
            td colspan=(participants + 2) { (action(step)) " " small { "off chain" } }
        }
    }
}

fn number(id: &str, number: usize) -> Markup {
    html! { th scope="row" { a href={ "#" (id) } { (number) } } }
}

fn action(step: &Step) -> Markup {
    let (name, arguments) = line::named(&Value::Object(step.action.clone()));
    html! {
        b { (name) } " " (arguments)
        @if let Some(note) = &step.note { br; i { (note) } }
    }
}

fn cited(rules: &[Rule]) -> String {
    let rules: Vec<_> = rules.iter().map(Rule::to_string).collect();
    rules.join(" ")
}

fn expected(step: &TimedStep) -> Markup {
    html! {
        @if let Some(expect) = &step.source.expect { (expectation(expect)) }
        @for variance in &step.source.variance {
            div .variance {
                (variance.chain) ", declared variance " (variance.kind) ": "
                (expectation(&variance.expect))
                br; i { (variance.reason) }
            }
        }
        @for foreign in &step.source.foreign {
            div .variance { (foreign.registry) " is known to differ. " i { (foreign.reason) } }
        }
    }
}

fn expectation(expect: &Expectation) -> Markup {
    html! {
        b { (expect.outcome) }
        (summary(expect.summary))
        (events(expect.events.as_deref().unwrap_or_default()))
    }
}

/// A participant that passed has the expected result: only what the chain adds to it is shown.
fn played(record: &StepRecord) -> Markup {
    let result = &record.result;
    let observed = record.observed.as_ref();
    html! {
        @match result.difference() {
            Some(difference) => {
                td .bad {
                    strong { (words(result)) } ": " (differs(difference))
                    @if let Some(observed) = observed { (observation(observed)) }
                }
            },
            None => {
                td {
                    (words(result))
                    @if let Some(observed) = observed { (added(result, observed)) }
                }
            },
        }
    }
}

fn words(result: &StepResult) -> &'static str {
    match result {
        StepResult::Passed => "passed",
        StepResult::Failed(_) => "failed",
        StepResult::Error(_) => "inconclusive",
        StepResult::Varied => "declared variance",
        StepResult::NotDeclared => "not declared",
        StepResult::NotReached => "not reached",
        StepResult::Absent => "not on this chain",
    }
}

fn differs(difference: &Difference) -> Markup {
    html! {
        (subject(difference.subject))
        @if let Some(chain) = difference.chain { " for " (chain) }
        @if let Some(path) = &difference.path { " " code { (path) } }
        ": expected " code { (value(&difference.expected)) }
        ", actual " code { (value(&difference.actual)) }
    }
}

fn added(result: &StepResult, observed: &Observation) -> Markup {
    html! {
        @if *result == StepResult::Varied { ", " b { (observed.outcome) } }
        @if let Some(cost) = observed.cost { ", " (spaced(cost)) }
        @if let Some(native) = &observed.native_error { br; small { (line::line(&json!(native))) } }
        @if let Some(transaction) = &observed.transaction { br; small { (transaction) } }
    }
}

fn observation(observed: &Observation) -> Markup {
    html! {
        br; "The outcome was " b { (observed.outcome) }
        @if let Some(cost) = observed.cost { ", " (spaced(cost)) }
        @if let Some(native) = &observed.native_error { ", natively " code { (native) } }
        (summary(observed.summary))
        (events(&observed.events))
        br; small { "state " (observed.digest) }
        @if let Some(transaction) = &observed.transaction { br; small { (transaction) } }
    }
}

fn summary(summary: Option<Summary>) -> Markup {
    html! { @if let Some(summary) = summary { " " (line::line(&json!(summary))) } }
}

fn events(events: &[Event]) -> Markup {
    html! {
        @for event in events {
            @let (name, members) = line::named(&json!(event));
            br; (name) " " (members)
        }
    }
}

/// `128 923 gas`: digits in threes.
fn spaced(cost: Cost) -> String {
    let (amount, unit) = match cost {
        Cost::Gas(gas) => (gas, "gas"),
        Cost::ComputeUnits(units) => (units, "CU"),
    };
    format!("{} {unit}", in_threes(&amount.to_string(), "\u{a0}"))
}
