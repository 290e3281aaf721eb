use crate::{
    runner::{Failure, Run, StepCount, Subject, VarianceUsed},
    scenario::Rule,
};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    fmt::{self, Write},
};

const FIRST_COLUMN: usize = 6;
const COLUMN: usize = 14;

/// The report for a terminal: matrix, variances, failures, verdict.
pub fn text(run: &Run) -> String {
    let mut out = String::new();
    write(&mut out, run).expect("a String takes all text");
    out
}

fn write(out: &mut String, run: &Run) -> fmt::Result {
    write_matrix(out, run)?;
    write_uncovered(out, &run.rules_without_steps())?;
    for variance in &run.variances {
        write_variance(out, variance)?;
    }
    for failure in run.failures() {
        write_failure(out, &failure)?;
    }
    writeln!(out)?;
    let scenarios = match run.scenarios().len() {
        1 => "1 scenario".to_owned(),
        many => format!("{many} scenarios"),
    };
    if run.agrees() {
        let participants = run.participants.join(", ");
        return writeln!(out, "{scenarios}: {participants} agree");
    }
    let mut wrong: Vec<_> = run.failures().map(|failure| failure.participant).collect();
    wrong.sort_unstable();
    wrong.dedup();
    writeln!(out, "{scenarios}: wrong: {}", wrong.join(", "))
}

fn write_matrix(out: &mut String, run: &Run) -> fmt::Result {
    write!(out, "{:FIRST_COLUMN$}", "rule")?;
    for participant in &run.participants {
        write!(out, "{participant:>COLUMN$}")?;
    }
    writeln!(out)?;
    for (rule, row) in run.matrix() {
        write_row(out, run, &rule.to_string(), &row)?;
    }
    write_row(out, run, "steps", &run.totals())?;
    writeln!(
        out,
        "(steps passed/failed; a step counts for each rule it shows)"
    )
}

fn write_row(
    out: &mut String,
    run: &Run,
    name: &str,
    row: &BTreeMap<&str, StepCount>,
) -> fmt::Result {
    write!(out, "{name:FIRST_COLUMN$}")?;
    for participant in &run.participants {
        let count = row.get(participant).copied().unwrap_or_default();
        write!(out, "{:>COLUMN$}", cell(count))?;
    }
    writeln!(out)
}

/// `passed/failed`, and how many steps a failure kept from being reached.
fn cell(count: StepCount) -> String {
    let StepCount {
        passed,
        failed,
        not_reached,
        absent: _,
    } = count;
    match not_reached {
        0 => format!("{passed}/{failed}"),
        _ => format!("{passed}/{failed} (-{not_reached})"),
    }
}

fn write_uncovered(out: &mut String, rules: &[Rule]) -> fmt::Result {
    if rules.is_empty() {
        return Ok(());
    }
    let names: Vec<_> = rules.iter().map(Rule::to_string).collect();
    writeln!(out, "no step shows: {}", names.join(" "))
}

fn write_variance(out: &mut String, variance: &VarianceUsed) -> fmt::Result {
    let place = variance
        .step
        .map_or_else(String::new, |step| format!(" step {step}"));
    writeln!(
        out,
        "\ndeclared variance {}: {}{place}: {} comes to {}, elsewhere {}\n  {}",
        variance.kind,
        variance.scenario,
        variance.participant,
        variance.outcome,
        variance.elsewhere,
        variance.reason
    )
}

fn write_failure(out: &mut String, failure: &Failure<'_>) -> fmt::Result {
    let difference = failure.difference;
    let rules: Vec<_> = failure.rules.iter().map(Rule::to_string).collect();
    writeln!(
        out,
        "\nFAILED {}: {} step {} ({}; {})",
        failure.participant,
        failure.scenario,
        failure.step,
        failure.operation,
        rules.join(" ")
    )?;
    let on_chain = difference
        .chain
        .map_or_else(String::new, |chain| format!(" for {chain}"));
    let path = difference.path.as_deref().unwrap_or_default();
    writeln!(out, "  {}{on_chain} {path}", subject(difference.subject))?;
    writeln!(out, "  expected {}", value(&difference.expected))?;
    writeln!(out, "  actual   {}", value(&difference.actual))?;
    match &difference.native_error {
        Some(words) => writeln!(out, "  natively {words}"),
        None => Ok(()),
    }
}

fn subject(subject: Subject) -> &'static str {
    match subject {
        Subject::Outcome => "outcome",
        Subject::Summary => "summary",
        Subject::Events => "events",
        Subject::State => "state",
        Subject::Fault => "cannot be judged",
        Subject::Capability => "capability",
    }
}

/// Text as it is, everything else as JSON.
fn value(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}
