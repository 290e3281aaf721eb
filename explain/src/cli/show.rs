use crate::{Finding, Report, State};
use serde_json::json;

/// A report as a person reads it. Texts of strangers are in it, so that nothing steers the terminal.
pub(super) fn text(report: &Report) -> String {
    let mut lines = vec![format!("feedback {}", report.feedback)];
    lines.extend(report.rests_on.iter().map(|it| format!("rests on {it}")));
    lines.push(String::new());
    lines.extend(report.findings.iter().map(line));
    if !report.not_applicable.is_empty() {
        lines.push(String::new());
    }
    let absent = report.not_applicable.iter();
    lines.extend(absent.map(|it| format!("without {:<20} {}", it.step, it.reason)));
    lines.push(String::new());
    let counts = State::ALL.map(|state| format!("{} {state}", report.count(state)));
    lines.push(counts.join(", "));
    lines.iter().map(|line| plain(line) + "\n").collect()
}

fn line(finding: &Finding) -> String {
    let facts = finding.evidence.iter();
    let facts = facts.map(|fact| format!("{}: {}", fact.name, fact.value));
    let detail = Some(finding.detail.clone()).filter(|it| !it.is_empty());
    let words: Vec<String> = detail.into_iter().chain(facts).collect();
    let line = format!(
        "{:<12} {:<18} {}",
        finding.state,
        finding.step,
        words.join("; ")
    );
    line.trim_end().to_owned()
}

/// A report as JSON.
pub(super) fn json(report: &Report) -> String {
    let all = json!({
        "state": report.state(),
        "feedback": report.feedback,
        "restsOn": report.rests_on,
        "findings": report.findings,
        "notApplicable": report.not_applicable,
    });
    format!("{all:#}\n")
}

/// Without what a terminal obeys: control characters, and those that turn the direction of writing.
pub(super) fn plain(text: &str) -> String {
    let steers = |it: char| {
        it.is_control()
            || matches!(it, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars()
        .map(|it| if steers(it) { '\u{fffd}' } else { it })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn nothing_steers_the_terminal() {
        assert_eq!(
            plain("a\u{1b}[2Jb\u{202e}c\nd"),
            "a\u{fffd}[2Jb\u{fffd}c\u{fffd}d"
        );
    }
}
