use crate::runner::{StepCount, Subject};
use serde_json::Value;
use std::fmt::Write;

/// What the signs in a cell mean.
pub(super) const LEGEND: &str = "steps passed/failed; ! inconclusive, - not reached, \
                                 ~ declared variance, \
                                 ? not declared; a step counts for each rule it shows";

/// `passed/failed`, then what there is of the rest.
pub(super) fn cell(count: StepCount) -> String {
    let mut cell = format!("{}/{}", count.passed, count.failed);
    let rest = [
        ('!', count.errors),
        ('-', count.not_reached),
        ('~', count.varied + count.absent),
        ('?', count.not_declared),
    ];
    for (sign, many) in rest.into_iter().filter(|(_, many)| *many > 0) {
        write!(cell, " {sign}{many}").expect("a String takes all text");
    }
    cell
}

pub(super) fn subject(subject: Subject) -> &'static str {
    match subject {
        Subject::Outcome => "outcome",
        Subject::Summary => "summary",
        Subject::Events => "events",
        Subject::State => "state",
        Subject::Fault => "inconclusive",
        Subject::Lost => "inconclusive: no answer",
        Subject::View => "view",
        Subject::Capability => "capability",
        Subject::UnexpectedPass => "unexpected pass of a declared variance",
    }
}

/// Text without bytes that a terminal would obey: they come from file names, and from what chains
/// and adapters say.
pub fn plain(text: &str) -> String {
    let is_plain = |c: char| !c.is_control() || matches!(c, '\n' | '\t');
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        if is_plain(c) {
            plain.push(c)
        } else {
            plain.extend(c.escape_default())
        }
    }
    plain
}

/// Text as it is, everything else as JSON.
pub(super) fn value(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}
