//! One self-contained page without script: links, and a style sheet that hides what is not chosen.
//! So it works by keyboard, from a file, under the strictest content policy, and each step has an
//! address to send to somebody.
mod anchor;
mod failures;
mod filter;
mod line;
mod matrix;
mod result;
mod scenario;
mod step;

use super::{Provenance, cell::plain, kind, text::verdict};
use crate::runner::{LeftOut, Run, VarianceUsed};
use anchor::Anchors;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::collections::BTreeMap;

/// Nothing is loaded, nothing is run.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";
const STYLE: &str = include_str!("style.css");
/// The columns before the first participant's.
const COLUMNS: usize = 3;

/// The whole report as one HTML file. All text is escaped by the templates.
pub fn html(run: &Run, provenance: &Provenance) -> String {
    let anchors = Anchors::of(run);
    let ended = result::by_scenario(run);
    let style = [STYLE.to_owned(), labels(run), filter::style(run)].concat();
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "Concord: " (verdict(run)) }
                style { (PreEscaped(style)) }
            }
            body {
                (failures::header(run))
                main {
                    (failures::failures(run, &anchors))
                    (matrix::matrix(run))
                    (variances(&run.variances(), &anchors))
                    (left_out(&run.left_out))
                    (provenance_of(provenance))
                    (scenario::scenarios(run, &anchors, &ended))
                    (matrix::lists(run, &anchors, &ended))
                }
            }
        }
    };
    plain(&without_optional_tags(page.into_string())) + "\n" // HTML has no control characters
}

/// Leaves out the end tags that HTML makes optional, a twentieth of the page. No text has them:
/// the templates escape `<`.
fn without_optional_tags(page: String) -> String {
    let tags = ["</td>", "</tr>", "</li>"];
    tags.iter().fold(page, |page, tag| page.replace(tag, ""))
}

/// On a narrow screen a row's cells are below each other, each with its column's name.
fn labels(run: &Run) -> String {
    let names = run.participants.iter().map(|it| it.name.as_str());
    let names = ["expected"].into_iter().chain(names).enumerate();
    let labels = names.map(|(at, name)| {
        let (column, name) = (at + COLUMNS, in_style(name));
        format!(".steps td:nth-child({column}){{--label:\"{name}\"}}\n")
    });
    labels.collect()
}

/// A name inside a string of the style sheet, where it can end neither the string nor the sheet.
fn in_style(name: &str) -> String {
    let escaped = |c: char| {
        if c.is_ascii_alphanumeric() || c == '-' {
            c.to_string()
        } else {
            format!("\\{:x} ", u32::from(c))
        }
    };
    name.chars().map(escaped).collect()
}

/// Digits in groups of three.
fn in_threes(digits: &str, between: &str) -> String {
    let groups: Vec<_> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(String::from_utf8_lossy)
        .collect();
    groups.join(between)
}

fn variances(used: &[VarianceUsed<'_>], anchors: &Anchors<'_>) -> Markup {
    let mut groups: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for variance in used {
        let group = groups.entry((variance.kind, variance.participant));
        group.or_default().push(variance);
    }
    html! {
        @if !groups.is_empty() {
            section #variances aria-labelledby="variances-title" {
                h2 #variances-title { "Declared variances" }
                p { "The chains are specified to differ here. None of these is a fault." }
                @for ((kind, participant), group) in &groups {
                    details {
                        summary {
                            (kind) " " strong { (participant) } " " (group.len()) "×: "
                            (kind::words(*kind))
                        }
                        ul { @for variance in group { li { (variance_line(variance, anchors)) } } }
                    }
                }
            }
        }
    }
}

fn variance_line(variance: &VarianceUsed<'_>, anchors: &Anchors<'_>) -> Markup {
    let scenario = variance.scenario;
    html! {
        @match variance.step {
            Some(step) => a href={ "#" (anchors.step(scenario, step)) } { (scenario) " step " (step) },
            None => a href={ "#" (anchors.scenario(scenario)) } { (scenario) },
        }
        ": gives " code { (variance.outcome) } ", elsewhere " code { (variance.elsewhere) }
        ". " (variance.reason)
    }
}

fn left_out(scenarios: &[LeftOut]) -> Markup {
    html! {
        @if !scenarios.is_empty() {
            section #left-out aria-labelledby="left-out-title" {
                h2 #left-out-title { "Left out" }
                ul { @for it in scenarios { li { (it.scenario) ": " (it.reason) } } }
            }
        }
    }
}

fn provenance_of(provenance: &Provenance) -> Markup {
    html! {
        section #provenance aria-labelledby="provenance-title" {
            h2 #provenance-title { "Tested files, and versions" }
            p {
                @for (at, version) in provenance.versions.iter().enumerate() {
                    @if at > 0 { ", " }
                    (version.tool) " " (version.version)
                }
            }
            div .wide tabindex="0" {
                table {
                    tbody {
                        @for fact in &provenance.facts {
                            tr {
                                th scope="row" { (fact.participant) }
                                td { (fact.name) " " code { (fact.value) } }
                            }
                        }
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
}
