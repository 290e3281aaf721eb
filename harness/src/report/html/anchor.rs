//! The places of the page that have an address.
use crate::{runner::Run, scenario::Rule};
use std::collections::{BTreeMap, BTreeSet};

/// The scenarios' ids, by name: the name in letters that an address takes as they are.
pub(super) struct Anchors<'a>(BTreeMap<&'a str, String>);

impl<'a> Anchors<'a> {
    pub fn of(run: &'a Run) -> Self {
        let mut taken = BTreeSet::new();
        let mut ids = BTreeMap::new();
        for scenario in &run.scenarios {
            let id = free(&slug(&scenario.name), &taken);
            taken.insert(id.clone());
            ids.insert(scenario.name.as_str(), id);
        }
        Self(ids)
    }

    pub fn scenario(&self, name: &str) -> &str {
        self.0.get(name).map_or("scenarios", String::as_str)
    }

    /// No scenario's own id has a point in it.
    pub fn step(&self, scenario: &str, step: usize) -> String {
        format!("{}.{step}", self.scenario(scenario))
    }

    /// What views answered after the last step.
    pub fn views(&self, scenario: &str) -> String {
        format!("{}.views", self.scenario(scenario))
    }
}

/// The list of a rule's scenarios.
pub(super) fn rule(rule: Rule) -> String {
    match rule {
        Rule::Ruling(_) => rule.to_string(),
        Rule::OrderOfChecks => "3a".to_owned(),
    }
}

fn slug(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name: String = name.chars().map(plain).collect();
    format!("s-{name}") // no other id of the page begins so
}

fn free(slug: &str, taken: &BTreeSet<String>) -> String {
    let numbered = (2..).map(|number| format!("{slug}-{number}"));
    let mut all = [slug.to_owned()].into_iter().chain(numbered);
    all.find(|it| !taken.contains(it))
        .expect("there is always a higher number")
}
