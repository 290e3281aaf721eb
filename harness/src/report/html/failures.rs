//! What a reader is here for: who is wrong, how often, and where.
use super::{
    super::{
        cell::{subject, value},
        text::verdict,
    },
    anchor::Anchors,
};
use crate::{
    runner::{Conclusion, Failure, Run, StepCount, Subject},
    scenario::Rule,
};
use maud::{Markup, html};

pub(super) fn header(run: &Run) -> Markup {
    let tone = match run.conclusion() {
        Conclusion::Agrees => "good",
        Conclusion::NotDeclared | Conclusion::NothingPlayed => "even",
        Conclusion::Lost | Conclusion::Differs => "bad",
    };
    html! {
        header {
            h1 { "Concord conformance" }
            p #verdict class=(tone) { (verdict(run)) }
            (counts(run))
        }
    }
}

/// Every participant's steps and views in words.
fn counts(run: &Run) -> Markup {
    let (steps, views) = (run.totals(), run.view_counts());
    html! {
        ul #counts {
            @for participant in &run.participants {
                li {
                    strong { (participant.name) } ": "
                    (steps.get(&*participant.name).copied().map(steps_in_words).unwrap_or_default())
                    @if let Some(views) = views.get(&*participant.name) {
                        "; views: " (views_in_words(*views))
                    }
                }
            }
        }
    }
}

fn steps_in_words(count: StepCount) -> String {
    let all = [
        (count.failed, "failed"),
        (count.errors, "inconclusive"),
        (count.not_reached, "not reached"),
        (count.varied + count.absent, "by a declared variance"),
        (count.not_declared, "not declared"),
    ];
    let others = all.into_iter().filter(|(many, _)| *many > 0);
    let others = others.map(|(many, words)| format!(", {} {words}", grouped(many)));
    format!("steps: {} passed", grouped(count.passed)) + &others.collect::<String>()
}

fn views_in_words(count: StepCount) -> String {
    let mut words = format!("{} right", grouped(count.passed));
    for (many, what) in [(count.failed, "wrong"), (count.errors, "not to be had")] {
        if many > 0 {
            words += &format!(", {} {what}", grouped(many));
        }
    }
    words
}

/// `2,904`.
fn grouped(number: usize) -> String {
    super::in_threes(&number.to_string(), ",")
}

pub(super) fn failures(run: &Run, anchors: &Anchors<'_>) -> Markup {
    let failures: Vec<_> = run.failures().collect();
    html! {
        @if !failures.is_empty() || !run.lost.is_empty() {
            section #failures aria-labelledby="failures-title" {
                h2 #failures-title { "What differs" }
                @for lost in &run.lost {
                    p .bad {
                        (lost.participant) " stopped answering in "
                        a href={ "#" (anchors.scenario(&lost.scenario)) } { (lost.scenario) }
                        ": " (lost.reason)
                    }
                }
                ol { @for failure in &failures { li { (line(failure, anchors)) } } }
            }
        }
    }
}

fn line(failure: &Failure<'_>, anchors: &Anchors<'_>) -> Markup {
    let (scenario, step) = (failure.scenario, failure.step);
    let (place, words) = match failure.difference.subject {
        Subject::View => (
            anchors.views(scenario),
            format!("{scenario} after step {step}: {}", failure.operation),
        ),
        _ => (
            anchors.step(scenario, step),
            format!("{scenario} step {step}"),
        ),
    };
    html! {
        strong { (failure.participant) } ": " a href={ "#" (place) } { (words) } ", "
        (difference(failure))
        @if !failure.rules.is_empty() { br; small { (titles(failure.rules)) } }
    }
}

/// What was compared, and the two values.
pub(super) fn difference(failure: &Failure<'_>) -> Markup {
    let difference = failure.difference;
    html! {
        (subject(difference.subject))
        @if let Some(chain) = difference.chain { " for " (chain) }
        @if let Some(path) = &difference.path { " " code { (path) } }
        @if let Some(arguments) = &difference.arguments { ", asked " code { (arguments) } }
        ": expected " code { (value(&difference.expected)) }
        ", actual " code { (value(&difference.actual)) }
        @if let Some(words) = &difference.native_error { ", natively " code { (words) } }
    }
}

fn titles(rules: &[Rule]) -> String {
    let titles: Vec<_> = rules
        .iter()
        .map(|rule| format!("{rule} {}", rule.title()))
        .collect();
    titles.join(", ")
}
