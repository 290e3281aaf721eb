//! One self-contained page without script: a cell of the matrix is a link to the rule's steps, which
//! the style sheet shows where the page's address names them. So it works by keyboard, from a file,
//! under the strictest content policy, and each cell has an address to send to somebody.
mod step;

use super::{
    Provenance,
    cell::{LEGEND, cell, subject, value},
    kind,
    text::{self, verdict},
};
use crate::{
    runner::{Conclusion, Failure, Run, StepCount, StepRecord, Subject, VarianceUsed},
    scenario::{Rule, Scenario},
};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::collections::BTreeMap;

/// Nothing is loaded, nothing is run.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";
const STYLE: &str = include_str!("style.css");

/// The whole report as one HTML file. All text is escaped by the templates.
pub fn html(run: &Run, provenance: &Provenance) -> String {
    let verdict = verdict(run);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "Concord: " (verdict) }
                style { (PreEscaped(STYLE)) (PreEscaped(highlights(run.participants.len()))) }
            }
            body {
                header {
                    h1 { "Concord conformance" }
                    p #verdict class=(verdict_tone(run)) { (verdict) }
                }
                main {
                    (provenance_of(provenance))
                    (failures(run))
                    (matrix(run))
                    (variances(&run.variances()))
                    (rules(run))
                }
            }
        }
    };
    page.into_string() + "\n"
}

fn verdict_tone(run: &Run) -> &'static str {
    match run.conclusion() {
        Conclusion::Agrees => "good",
        Conclusion::NotDeclared => "varied",
        Conclusion::Lost | Conclusion::Differs => "bad",
    }
}

/// Where a cell's steps begin.
fn anchor(rule: Rule, participant: &str) -> String {
    let text: String = format!("{rule}-{participant}");
    text.chars()
        .filter(char::is_ascii)
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect()
}

/// The column whose cell was opened is marked.
fn highlights(participants: usize) -> String {
    (1..=participants)
        .map(|at| {
            let cell = at + 2; // after the step and what is expected
            format!(
                ".mark:nth-of-type({at}):target~section .steps>*>tr>:nth-child({cell})\
                 {{border-inline:2px solid var(--accent)}}\n"
            )
        })
        .collect()
}

fn failures(run: &Run) -> Markup {
    let failures: Vec<_> = run.failures().collect();
    html! {
        @if !failures.is_empty() {
            section #failures aria-labelledby="failures-title" {
                h2 #failures-title { "What differs" }
                ul { @for failure in &failures { li { (failure_line(failure)) } } }
            }
        }
    }
}

fn failure_line(failure: &Failure<'_>) -> Markup {
    let difference = failure.difference;
    let place = match difference.subject {
        Subject::View => format!(
            "{} after step {}: {}",
            failure.scenario, failure.step, failure.operation
        ),
        _ => format!("{} step {}", failure.scenario, failure.step),
    };
    html! {
        strong { (failure.participant) } ": "
        @match failure.rules.first() {
            Some(rule) => a href={ "#" (anchor(*rule, failure.participant)) } { (place) },
            None => (place),
        }
        ", " (subject(difference.subject)) " "
        @if let Some(path) = &difference.path { code { (path) } }
        @if let Some(arguments) = &difference.arguments { ", asked " code { (arguments) } }
        ": expected " code { (value(&difference.expected)) }
        ", actual " code { (value(&difference.actual)) }
    }
}

fn matrix(run: &Run) -> Markup {
    html! {
        section #matrix aria-labelledby="matrix-title" {
            h2 #matrix-title { "Rule by rule" }
            p .legend { (LEGEND) ". A cell opens to its steps." }
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
                tbody {
                    @for (rule, row) in &run.matrix() { (matrix_row(run, *rule, row)) }
                }
                tfoot {
                    (totals_row(run, "steps", &run.totals()))
                    @let views = run.view_counts();
                    @if !views.is_empty() { (totals_row(run, "views", &views)) }
                }
            }
            @let uncovered = run.rules_without_steps();
            @if !uncovered.is_empty() {
                p { "No step shows: " @for rule in &uncovered { (rule) " " } }
            }
            @for (participant, profiles) in text::not_declared(run) {
                p { "Not declared by " (participant) ":" @for it in &profiles { " " (it) } }
            }
            @for (participant, views) in text::views_not_asked(run) {
                p { "Views not asked of " (participant) ": " (views.join(", ")) }
            }
        }
    }
}

fn matrix_row(run: &Run, rule: Rule, row: &BTreeMap<&str, StepCount>) -> Markup {
    html! {
        tr {
            th scope="row" { (rule) }
            @for participant in &run.participants {
                @let count = row.get(&*participant.name).copied().unwrap_or_default();
                td class=(tone(count)) {
                    a href={ "#" (anchor(rule, &participant.name)) }
                        aria-label={ (rule) " " (participant.name) ": " (cell(count)) }
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
                @let count = totals.get(&*participant.name).copied().unwrap_or_default();
                td class=(tone(count)) { (cell(count)) }
            }
        }
    }
}

fn tone(count: StepCount) -> &'static str {
    match (count.is_as_expected(), count.varied + count.absent) {
        (false, _) => "bad",
        (true, 0) => "good",
        (true, _) => "varied",
    }
}

fn variances(used: &[VarianceUsed<'_>]) -> Markup {
    let mut groups: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for variance in used {
        let group = groups.entry((variance.kind, variance.participant));
        group.or_default().push(variance);
    }
    html! {
        @if !groups.is_empty() {
            section #variances aria-labelledby="variances-title" {
                h2 #variances-title { "Declared variances" }
                @for ((kind, participant), group) in &groups {
                    details {
                        summary {
                            (kind) " " strong { (participant) } " " (group.len()) "×: "
                            (kind::words(*kind))
                        }
                        ul { @for variance in group { li { (variance_line(variance)) } } }
                    }
                }
            }
        }
    }
}

fn variance_line(variance: &VarianceUsed<'_>) -> Markup {
    html! {
        (variance.scenario)
        @if let Some(step) = variance.step { " step " (step) }
        ": comes to " code { (variance.outcome) } ", elsewhere " code { (variance.elsewhere) }
        ". " (variance.reason)
    }
}

fn provenance_of(provenance: &Provenance) -> Markup {
    html! {
        section #provenance aria-label="What was judged, and with what" {
            p {
                @for (at, version) in provenance.versions.iter().enumerate() {
                    @if at > 0 { ", " }
                    (version.tool) " " (version.version)
                }
            }
            table {
                tbody {
                    @for artifact in &provenance.artifacts {
                        tr {
                            th scope="row" { (artifact.name) }
                            td { code { (artifact.hash) } " " small { (artifact.kind) } }
                        }
                    }
                }
            }
        }
    }
}

fn rules(run: &Run) -> Markup {
    html! {
        @for rule in run.matrix().keys() {
            div .rule {
                @for participant in &run.participants {
                    span .mark #(anchor(*rule, &participant.name)) {}
                }
                section aria-label={ "Steps that show " (rule) } {
                    h2 { (rule) }
                    p { a href="#matrix" { "Back to the matrix" } }
                    @for (scenario, records) in run.by_scenario() {
                        (scenario_steps(run, *rule, scenario, records))
                    }
                }
            }
        }
    }
}

fn scenario_steps(run: &Run, rule: Rule, scenario: &Scenario, records: &[StepRecord]) -> Markup {
    let shows = |rules: &[Rule]| rules.contains(&rule);
    let steps: Vec<_> = scenario
        .steps
        .iter()
        .filter(|step| shows(&step.rules))
        .collect();
    html! {
        @if !steps.is_empty() {
            h3 { (scenario.name) ": " (scenario.title) }
            @if let Some(only) = &scenario.only {
                p { "Told for " (only.chain) " only (declared variance " (only.kind) "): " (only.reason) }
            }
            div .wide tabindex="0" {
                table .steps {
                    thead { tr {
                        th scope="col" { "step" }
                        th scope="col" { "expected" }
                        @for participant in &run.participants { th scope="col" { (participant.name) } }
                    } }
                    tbody {
                        @for step in steps { (step::row(run, step, records)) }
                    }
                }
            }
        }
    }
}
