use super::{
    cell::{LEGEND, cell, plain, subject, value},
    kind,
};
use crate::{
    model::RegistryProfile,
    runner::{Conclusion, Failure, Run, StepCount, VarianceUsed},
    scenario::Rule,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::{self, Write},
};

const FIRST_COLUMN: usize = 6;
/// The least width of a participant's column.
const COLUMN: usize = 14;
/// Between two cells.
const GAP: usize = 2;

/// How much is told of declared variances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// A line for each kind and participant.
    Short,
    /// Each one, with its reason.
    Full,
}

/// The report for a terminal: matrix, variances, failures, verdict.
pub fn text(run: &Run, detail: Detail) -> String {
    let mut out = String::new();
    write(&mut out, run, detail).expect("a String takes all text");
    plain(&out)
}

fn write(out: &mut String, run: &Run, detail: Detail) -> fmt::Result {
    write_matrix(out, run)?;
    write_uncovered(out, &run.rules_without_steps())?;
    write_not_declared(out, run)?;
    write_views_not_asked(out, run)?;
    let variances = run.variances();
    match detail {
        Detail::Short => write_variance_counts(out, &variances)?,
        Detail::Full => {
            for variance in &variances {
                write_variance(out, variance)?;
            }
        }
    }
    write_outcome(out, run)
}

/// Only the failures and the verdict.
pub fn outcome(run: &Run) -> String {
    let mut out = String::new();
    write_outcome(&mut out, run).expect("a String takes all text");
    plain(&out)
}

fn write_outcome(out: &mut String, run: &Run) -> fmt::Result {
    for failure in run.failures() {
        write_failure(out, &failure)?;
    }
    writeln!(out, "\n{}", verdict(run))
}

/// A number of scenarios, in words.
pub fn scenario_count(count: usize) -> String {
    match count {
        1 => "1 scenario".to_owned(),
        many => format!("{many} scenarios"),
    }
}

/// Who agrees, or who is wrong.
pub(super) fn verdict(run: &Run) -> String {
    let scenarios = scenario_count(run.scenarios.len());
    let names: Vec<_> = run.participants.iter().map(|it| it.name.as_str()).collect();
    let names = names.join(", ");
    match run.conclusion() {
        Conclusion::Agrees => return format!("{scenarios}: {names} agree"),
        Conclusion::NotDeclared => {
            return format!("{scenarios}: {names} agree in what is declared");
        }
        Conclusion::Lost => {
            let lost: BTreeSet<_> = run.lost.iter().map(|it| it.participant.as_str()).collect();
            let lost: Vec<_> = lost.into_iter().collect();
            return format!(
                "{scenarios}: did not answer: {}; what was judged agrees",
                lost.join(", ")
            );
        }
        Conclusion::Differs => (),
    }
    let wrong: BTreeSet<_> = run.failures().map(|it| it.participant).collect();
    let wrong: Vec<_> = wrong.into_iter().collect();
    format!("{scenarios}: wrong: {}", wrong.join(", "))
}

fn write_matrix(out: &mut String, run: &Run) -> fmt::Result {
    let rows = rows(run);
    let width = |at: usize, name: &str| {
        let cells = rows.iter().map(|(_, cells)| cells[at].len());
        let widest = cells.chain([name.len()]).max().unwrap_or_default();
        COLUMN.max(widest + GAP)
    };
    let names = run.participants.iter().enumerate();
    let widths: Vec<_> = names.map(|(at, it)| width(at, &it.name)).collect();
    write!(out, "{:FIRST_COLUMN$}", "rule")?;
    for (participant, width) in run.participants.iter().zip(&widths) {
        write!(out, "{:>width$}", participant.name)?;
    }
    writeln!(out)?;
    for (name, cells) in &rows {
        write!(out, "{name:FIRST_COLUMN$}")?;
        for (cell, width) in cells.iter().zip(&widths) {
            write!(out, "{cell:>width$}")?;
        }
        writeln!(out)?;
    }
    writeln!(out, "({LEGEND})")
}

/// The matrix: a row for each rule, then the totals over steps and views.
fn rows(run: &Run) -> Vec<(String, Vec<String>)> {
    let row = |name: String, counts: &BTreeMap<&str, StepCount>| {
        let of = |name: &str| counts.get(name).copied().unwrap_or_default();
        let cells = run.participants.iter().map(|it| cell(of(&it.name)));
        (name, cells.collect())
    };
    let rules = run.matrix();
    let rules = rules
        .iter()
        .map(|(rule, counts)| row(rule.to_string(), counts));
    let views = run.view_counts();
    let views = (!views.is_empty()).then(|| row("views".to_owned(), &views));
    rules
        .chain([row("steps".to_owned(), &run.totals())])
        .chain(views)
        .collect()
}

fn write_uncovered(out: &mut String, rules: &[Rule]) -> fmt::Result {
    if rules.is_empty() {
        return Ok(());
    }
    let names: Vec<_> = rules.iter().map(Rule::to_string).collect();
    writeln!(out, "no step shows: {}", names.join(" "))
}

/// What each participant does not say that it has, if a scenario needed it.
fn write_not_declared(out: &mut String, run: &Run) -> fmt::Result {
    for (participant, profiles) in not_declared(run) {
        let names: Vec<_> = profiles.iter().map(|it| it.name()).collect();
        writeln!(out, "not declared by {participant}: {}", names.join(", "))?;
    }
    Ok(())
}

/// The profiles that a participant's scenarios ended at.
pub(super) fn not_declared(run: &Run) -> Vec<(&str, Vec<RegistryProfile>)> {
    let totals = run.totals();
    let ended = |name: &str| totals.get(name).is_some_and(|it| it.not_declared > 0);
    let participants = run.participants.iter().filter(|it| ended(&it.name));
    participants
        .map(|participant| {
            let all = RegistryProfile::ALL.into_iter();
            let lacking = all.filter(|it| !participant.profiles.contains(it));
            (&*participant.name, lacking.collect())
        })
        .collect()
}

fn write_views_not_asked(out: &mut String, run: &Run) -> fmt::Result {
    for (participant, names) in views_not_asked(run) {
        writeln!(
            out,
            "views not asked of {participant}: {}",
            names.join(", ")
        )?;
    }
    Ok(())
}

/// The views that nobody asked of a backend, by name; an interface's name stands for all of it.
pub(super) fn views_not_asked(run: &Run) -> Vec<(&str, Vec<String>)> {
    let interface_of = |name: &str| {
        let mut participants = run.participants.iter();
        participants
            .find(|it| it.name == name)
            .map(|it| &it.interface)
    };
    let not_asked = run
        .views_not_asked()
        .into_iter()
        .map(|(participant, left)| {
            let interfaces: BTreeSet<_> = left.iter().map(|it| it.interface).collect();
            let names = interfaces.into_iter().flat_map(|interface| {
                let own = left.iter().filter(|it| it.interface == interface);
                let all = interface_of(participant).into_iter().flatten();
                let all = all.filter(|it| it.interface == interface).count();
                match own.clone().count() {
                    count if count == all => vec![format!("{interface} (all {all})")],
                    _ => own.map(ToString::to_string).collect(),
                }
            });
            (participant, names.collect())
        });
    not_asked.collect()
}

fn write_variance_counts(out: &mut String, variances: &[VarianceUsed<'_>]) -> fmt::Result {
    let mut counts: BTreeMap<_, usize> = BTreeMap::new();
    for variance in variances {
        *counts
            .entry((variance.kind, variance.participant))
            .or_default() += 1;
    }
    if counts.is_empty() {
        return Ok(());
    }
    writeln!(out, "\ndeclared variances (each one with --verbose):")?;
    for ((kind, participant), count) in counts {
        let words = kind::words(kind);
        writeln!(out, "  {kind} {participant} {count}×: {words}")?;
    }
    Ok(())
}

fn write_variance(out: &mut String, variance: &VarianceUsed<'_>) -> fmt::Result {
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
    if let Some(arguments) = &difference.arguments {
        writeln!(out, "  asked    {arguments}")?;
    }
    writeln!(out, "  expected {}", value(&difference.expected))?;
    writeln!(out, "  actual   {}", value(&difference.actual))?;
    match &difference.native_error {
        Some(words) => writeln!(out, "  natively {words}"),
        None => Ok(()),
    }
}
