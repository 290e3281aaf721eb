//! Rule by rule: how many steps ended how, and which scenarios show it.
use super::{
    super::{
        cell::{LEGEND, cell},
        text,
    },
    anchor::{self, Anchors},
    result::{self, Ended},
};
use crate::{
    runner::{Run, StepCount},
    scenario::{Rule, Scenario},
};
use maud::{Markup, html};
use std::collections::BTreeMap;

pub(super) fn matrix(run: &Run) -> Markup {
    html! {
        section #matrix aria-labelledby="matrix-title" {
            h2 #matrix-title { "Rule by rule" }
            p .legend { (LEGEND) ". A cell links to the rule's scenarios." }
            div .wide tabindex="0" { (table(run)) }
            @let uncovered = run.rules_without_steps();
            @if !uncovered.is_empty() {
                p { "No step shows: " @for rule in &uncovered { (rule) " (" (rule.title()) ") " } }
            }
            @for (participant, profiles) in text::not_declared(run) {
                p { "Not declared by " (participant) ":" @for it in &profiles { " " (it) } }
            }
            @for (participant, views) in text::views_not_asked(run) {
                p { "Views not asked of " (participant) ": " (views.join(", ")) }
            }
            @for (participant, news) in text::news(run) {
                p { "Not known, and not tested, of " (participant) ": " (news) }
            }
        }
    }
}

fn table(run: &Run) -> Markup {
    html! {
        table .matrix {
            thead { tr {
                th scope="col" { "rule" }
                @for participant in &run.participants {
                    th scope="col" {
                        (participant.name)
                        @if let Some(chain) = participant.chain { " " small { (chain) } }
                    }
                }
            } }
            tbody { @for (rule, row) in &run.matrix() { (rule_row(run, *rule, row)) } }
            tfoot {
                (totals_row(run, "steps", &run.totals()))
                @let views = run.view_counts();
                @if !views.is_empty() { (totals_row(run, "views", &views)) }
            }
        }
    }
}

fn rule_row(run: &Run, rule: Rule, row: &BTreeMap<&str, StepCount>) -> Markup {
    html! {
        tr {
            th scope="row" { (rule) " " small { (rule.title()) } }
            @for participant in &run.participants {
                @let count = row.get(&*participant.name).copied().unwrap_or_default();
                td class=(tone(count)) {
                    a href={ "#" (anchor::rule(rule)) }
                        aria-label={ (rule) " " (rule.title()) ", " (participant.name) ": " (cell(count)) }
                        { (cell(count)) }
                }
            }
        }
    }
}

fn totals_row(run: &Run, name: &str, totals: &BTreeMap<&str, StepCount>) -> Markup {
    html! {
        tr {
            th scope="row" { (name) }
            @for participant in &run.participants {
                @if let Some(count) = totals.get(&*participant.name) {
                    td class=(tone(*count)) { (cell(*count)) }
                } @else { td {} }
            }
        }
    }
}

/// A declared variance is as it should be.
fn tone(count: StepCount) -> &'static str {
    match (count.is_as_expected(), count.passed + count.varied) {
        (false, _) => "bad",
        (true, 0) => "", // not on this chain, or not declared
        (true, _) => "good",
    }
}

/// For each rule its scenarios, those that differ first.
pub(super) fn lists(run: &Run, anchors: &Anchors<'_>, ended: &BTreeMap<&str, Ended>) -> Markup {
    html! {
        section #by-rule aria-labelledby="by-rule-title" {
            h2 #by-rule-title { "The scenarios of each rule" }
            @for rule in run.matrix().keys() {
                section #(anchor::rule(*rule)) {
                    h3 { (rule) " " (rule.title()) }
                    ul .inline {
                        @for (scenario, ended) in scenarios_of(run, *rule, ended) {
                            li {
                                a href={ "#" (anchors.scenario(&scenario.name)) } { (scenario.name) }
                                @if ended.differs { " " strong .bad { (result::DIFFERS) } }
                            }
                        }
                    }
                    p { a href="#matrix" { "Back to the matrix" } }
                }
            }
        }
    }
}

fn scenarios_of<'a>(
    run: &'a Run,
    rule: Rule,
    ended: &BTreeMap<&str, Ended>,
) -> Vec<(&'a Scenario, Ended)> {
    let cites = |scenario: &&Scenario| scenario.steps.iter().any(|it| it.rules.contains(&rule));
    let own = run.scenarios.iter().filter(cites);
    let mut own: Vec<_> = own
        .map(|it| (it, ended.get(&*it.name).copied().unwrap_or_default()))
        .collect();
    own.sort_by_key(|(_, ended)| !ended.differs); // stable: otherwise in the run's order
    own
}
