use crate::{Counted, Finding, Report, ReputationReport, State, Step};

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

/// A report about a number: the number, each step over all feedback, and each feedback.
pub(super) fn reputation(report: &ReputationReport) -> String {
    let mut lines = vec![report.query.clone()];
    lines.extend(report.rests_on.iter().map(|it| format!("rests on {it}")));
    lines.push(String::new());
    let complete = &report.complete;
    lines.push(format!(
        "{:<12} complete           {}",
        complete.state, complete.detail
    ));
    lines.push(number(report));
    let counts = State::ALL.map(|state| format!("{} {state}", report.count(state)));
    lines.push(format!("of these feedbacks: {}", counts.join(", ")));
    lines.push(String::new());
    lines.extend(Step::ALL.iter().filter_map(|step| of_step(report, *step)));
    lines.push(String::new());
    lines.extend(report.feedbacks.iter().map(of_feedback));
    lines.iter().map(|line| plain(line) + "\n").collect()
}

fn number(report: &ReputationReport) -> String {
    match &report.number {
        Some(it) => format!(
            "number: {} feedbacks, average {} with {} decimals",
            it.count, it.value, it.decimals
        ),
        None => "number: none, the sum is beyond what a registry holds".to_owned(),
    }
}

fn of_step(report: &ReputationReport, step: Step) -> Option<String> {
    let counts = State::ALL.map(|state| (report.count_of_step(step, state), state));
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let counts: Vec<_> = counts
        .map(|(count, state)| format!("{count} {state}"))
        .collect();
    (!counts.is_empty()).then(|| format!("{step:<18} {}", counts.join(", ")))
}

fn of_feedback(counted: &Counted) -> String {
    let faults = counted.report.findings.iter();
    let faults = faults.filter(|it| it.state == State::Refuted);
    let faults: Vec<_> = faults.map(|it| it.step.name()).collect();
    let faults = if faults.is_empty() {
        String::new()
    } else {
        format!(" ({})", faults.join(", "))
    };
    format!(
        "{:<12} {:<8} {}{faults}",
        counted.state, counted.entry, counted.feedback
    )
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
