//! Which scenarios are shown: three lists to choose from, and rules of the style sheet that look at
//! what is chosen. A scenario that the address names is shown in any case.
use super::{anchor, result::Ended};
use crate::{
    runner::Run,
    scenario::{Rule, Scenario},
};
use maud::{Markup, html};
use std::collections::BTreeSet;

/// The results that can be asked for: what the list says, and a scenario's class.
const RESULTS: [(&str, &str); 3] = [
    ("what differs", "differs"),
    ("declared variances", "varied"),
    ("not declared", "undeclared"),
];

/// A list's id, and for each choice its words and the class of the scenarios that it leaves.
struct List {
    id: &'static str,
    label: &'static str,
    every: &'static str,
    choices: Vec<(String, String)>,
}

fn lists(run: &Run) -> [List; 3] {
    let results = RESULTS.map(|(words, class)| (words.to_owned(), class.to_owned()));
    let areas = areas(run).into_iter().enumerate();
    let areas = areas.map(|(at, area)| (area.to_owned(), format!("area{at}")));
    let rules = run.matrix().into_keys();
    let rules = rules.map(|rule| (format!("{rule} {}", rule.title()), rule_class(rule)));
    [
        List {
            id: "by-result",
            label: "Result",
            every: "every result",
            choices: results.into(),
        },
        List {
            id: "by-area",
            label: "Area",
            every: "every area",
            choices: areas.collect(),
        },
        List {
            id: "by-cited-rule",
            label: "Rule",
            every: "every rule",
            choices: rules.collect(),
        },
    ]
}

pub(super) fn filter(run: &Run) -> Markup {
    html! {
        p .filter {
            @for list in lists(run) {
                label {
                    (list.label) " "
                    select #(list.id) autocomplete="off" {
                        option { (list.every) }
                        @for (words, _) in &list.choices { option { (words) } }
                    }
                }
                " "
            }
        }
    }
}

/// What is not chosen is not displayed. Only numbers and our own names get into the style sheet.
pub(super) fn style(run: &Run) -> String {
    let lists = lists(run);
    let rules = lists.iter().flat_map(|list| {
        list.choices.iter().enumerate().map(|(at, (_, class))| {
            let option = at + 2; // counted from 1, after "every"
            format!(
                "main:has(#{} option:nth-child({option}):checked) .scenario:not(.{class}){{display:none}}\n",
                list.id
            )
        })
    });
    let shown = ".scenario:target,.scenario:has(:target){display:block!important}\n";
    rules.chain([shown.to_owned()]).collect()
}

/// A scenario's classes.
pub(super) fn classes(run: &Run, scenario: &Scenario, ended: Ended) -> String {
    let mut classes = vec!["scenario".to_owned()];
    let results = [ended.differs, ended.varied, ended.not_declared];
    let results = RESULTS.iter().zip(results).filter(|(_, is)| *is);
    classes.extend(results.map(|((_, class), _)| (*class).to_owned()));
    let area = areas(run)
        .into_iter()
        .position(|it| it == area_of(scenario));
    classes.extend(area.map(|at| format!("area{at}")));
    let cited: BTreeSet<_> = scenario.steps.iter().flat_map(|it| &it.rules).collect();
    classes.extend(cited.into_iter().copied().map(rule_class));
    classes.join(" ")
}

fn rule_class(rule: Rule) -> String {
    format!("cites-{}", anchor::rule(rule))
}

fn areas(run: &Run) -> BTreeSet<&str> {
    run.scenarios.iter().map(area_of).collect()
}

/// The folder of a scenario.
fn area_of(scenario: &Scenario) -> &str {
    let parts = scenario.name.split_once('/');
    parts.map_or("without a folder", |(area, _)| area)
}
