//! A section for each scenario: all of its steps, in order, and the views after them.
use super::{anchor::Anchors, failures::difference, filter, result::Ended, step};
use crate::{
    runner::{Failure, Run, StepRecord},
    scenario::Scenario,
};
use maud::{Markup, html};
use std::collections::BTreeMap;

pub(super) fn scenarios(run: &Run, anchors: &Anchors<'_>, ended: &BTreeMap<&str, Ended>) -> Markup {
    let mut views: BTreeMap<&str, Vec<Failure<'_>>> = BTreeMap::new();
    for failure in run.view_failures() {
        views.entry(failure.scenario).or_default().push(failure);
    }
    html! {
        section #scenarios aria-labelledby="scenarios-title" {
            h2 #scenarios-title { "Scenarios, step by step" }
            (filter::filter(run))
            p .printed { "Scenarios in which nothing differs are not printed." }
            @for (scenario, records) in run.by_scenario() {
                @let ended = ended.get(&*scenario.name).copied().unwrap_or_default();
                @let views = views.get(&*scenario.name).map_or(&[][..], Vec::as_slice);
                (section(run, anchors, scenario, records, views, ended))
            }
        }
    }
}

fn section(
    run: &Run,
    anchors: &Anchors<'_>,
    scenario: &Scenario,
    records: &[StepRecord],
    views: &[Failure<'_>],
    ended: Ended,
) -> Markup {
    let id = anchors.scenario(&scenario.name);
    html! {
        section #(id) class=(filter::classes(run, scenario, ended)) {
            h3 { a href={ "#" (id) } { (scenario.name) } ": " (scenario.title) }
            @if let Some(only) = &scenario.only {
                p { "For " (only.chain) " only (declared variance " (only.kind) "): " (only.reason) }
            }
            table .steps {
                thead { tr {
                    @for head in ["#", "step", "expected"] { th scope="col" { (head) } }
                    @for participant in &run.participants { th scope="col" { (participant.name) } }
                } }
                tbody { (steps(run, anchors, scenario, records)) }
            }
            @if !views.is_empty() {
                ul .bad #(anchors.views(&scenario.name)) {
                    @for view in views {
                        li { strong { (view.participant) } " " (view.operation) ": " (difference(view)) }
                    }
                }
            }
        }
    }
}

/// What is signed off chain stands between the steps on chain, in the file's order.
fn steps(run: &Run, anchors: &Anchors<'_>, scenario: &Scenario, records: &[StepRecord]) -> Markup {
    let last = scenario.steps.last().map_or(0, |step| step.number);
    let last = last.max(scenario.signed.keys().copied().max().unwrap_or(0));
    html! {
        @for number in 1..=last {
            @let id = anchors.step(&scenario.name, number);
            @if let Some(signed) = scenario.signed.get(&number) {
                (step::signed(&id, number, signed, run.participants.len()))
            } @else if let Some(timed) = scenario.steps.iter().find(|it| it.number == number) {
                (step::row(run, &id, timed, records))
            }
        }
    }
}
