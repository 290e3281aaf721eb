use super::{
    cell::{LEGEND, cell, subject, value},
    kind,
    terminal::{Colours, Terminal, Tone},
};
use crate::{
    model::RegistryProfile,
    runner::{Conclusion, Failure, Run, StepCount, Subject, VarianceUsed},
    scenario::Rule,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::{self, Write},
};

/// For a rule's id, and its title after it.
const ID: usize = 5;
const FIRST_COLUMN: usize = 35;
/// The least width of a participant's column.
const COLUMN: usize = 14;
/// Between two cells.
const GAP: usize = 2;
/// How many wrong answers of one view are shown in short.
const OF_ONE_VIEW: usize = 3;

/// How much is printed of declared variances and of wrong answers of views.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// A line for each kind of variance and participant; the first wrong answers of each view, and how many more.
    Short,
    /// Each variance with its reason, and each wrong answer.
    Full,
}

/// The report for a terminal: matrix, variances, failures, verdict.
pub fn text(run: &Run, detail: Detail, colours: Colours) -> String {
    let mut out = Terminal::new(colours);
    write(&mut out, run, detail).expect("a String takes all text");
    out.into_text()
}

fn write(out: &mut Terminal, run: &Run, detail: Detail) -> fmt::Result {
    write_matrix(out, run)?;
    write_uncovered(out, &run.rules_without_steps())?;
    write_not_declared(out, run)?;
    write_views_not_asked(out, run)?;
    write_news(out, run)?;
    write_left_out(out, run)?;
    let variances = run.variances();
    match detail {
        Detail::Short => write_variance_counts(out, &variances)?,
        Detail::Full => {
            for variance in &variances {
                write_variance(out, variance)?;
            }
        }
    }
    write_outcome(out, run, detail)
}

/// Only the failures and the verdict.
pub fn outcome(run: &Run, colours: Colours) -> String {
    let mut out = Terminal::new(colours);
    write_outcome(&mut out, run, Detail::Full).expect("a String takes all text");
    out.into_text()
}

fn write_outcome(out: &mut Terminal, run: &Run, detail: Detail) -> fmt::Result {
    let mut of_views: BTreeMap<_, usize> = BTreeMap::new();
    for failure in run.failures() {
        if failure.difference.subject == Subject::View && detail == Detail::Short {
            let view = (failure.participant, failure.operation.clone());
            let count = of_views.entry(view).or_default();
            *count += 1;
            if *count > OF_ONE_VIEW {
                continue;
            }
        }
        write_failure(out, &failure)?;
    }
    for ((participant, view), count) in of_views {
        let others = count.saturating_sub(OF_ONE_VIEW);
        if others > 0 {
            let more = match others {
                1 => "1 more scenario (see it with --verbose)".to_owned(),
                many => format!("{many} more scenarios (each one with --verbose)"),
            };
            writeln!(out, "\n{participant}: {view} is wrong at the end of {more}")?;
        }
    }
    writeln!(out)?;
    let tone = match run.conclusion() {
        Conclusion::Agrees => Tone::Good,
        Conclusion::NotDeclared | Conclusion::NothingPlayed => Tone::Even,
        Conclusion::Lost | Conclusion::Differs => Tone::Bad,
    };
    out.paint(tone, &verdict(run))?;
    writeln!(out)
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
    let idle = run.idle();
    let names = run.participants.iter().map(|it| it.name.as_str());
    let names: Vec<_> = names.filter(|name| !idle.contains(name)).collect();
    let names = names.join(", ");
    let idle = if idle.is_empty() {
        String::new()
    } else {
        format!("; nothing is played by {}", idle.join(", "))
    };
    match run.conclusion() {
        Conclusion::Agrees => return format!("{scenarios}: {names} agree{idle}"),
        Conclusion::NotDeclared => {
            return format!("{scenarios}: {names} agree in what is declared{idle}");
        }
        Conclusion::NothingPlayed => return format!("{scenarios}{idle}"),
        Conclusion::Lost => {
            let lost: BTreeSet<_> = run.lost.iter().map(|it| it.participant.as_str()).collect();
            let lost: Vec<_> = lost.into_iter().collect();
            return format!(
                "{scenarios}: did not answer: {}; everything else agrees",
                lost.join(", ")
            );
        }
        Conclusion::Differs => (),
    }
    let wrong: BTreeSet<_> = run.failures().map(|it| it.participant).collect();
    let wrong: Vec<_> = wrong.into_iter().collect();
    format!("{scenarios}: wrong: {}", wrong.join(", "))
}

/// A row of the matrix: a rule, or a total.
struct Row {
    name: String,
    /// One for each participant; the tone is of what went wrong.
    cells: Vec<(String, Tone)>,
}

impl Row {
    fn new(run: &Run, name: String, counts: &BTreeMap<&str, StepCount>) -> Self {
        let of = |participant: &str| match counts.get(participant) {
            None => (String::new(), Tone::Even), // it was not asked
            Some(count) if count.is_as_expected() => (cell(*count), Tone::Even),
            Some(count) => (cell(*count), Tone::Bad),
        };
        let participants = run.participants.iter();
        Self {
            name,
            cells: participants.map(|it| of(&it.name)).collect(),
        }
    }
}

fn write_matrix(out: &mut Terminal, run: &Run) -> fmt::Result {
    let rows = rows(run);
    let width = |at: usize, name: &str| {
        let cells = rows.iter().map(|row| row.cells[at].0.len());
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
    for row in &rows {
        write!(out, "{:FIRST_COLUMN$}", row.name)?;
        for ((cell, tone), width) in row.cells.iter().zip(&widths) {
            out.paint(*tone, &format!("{cell:>width$}"))?;
        }
        writeln!(out)?;
    }
    out.paint(Tone::Faint, &format!("({LEGEND})"))?;
    writeln!(out)
}

/// The matrix: a row for each rule, then the totals over steps and views.
fn rows(run: &Run) -> Vec<Row> {
    let rules = run.matrix();
    let rules = rules.iter().map(|(rule, counts)| {
        let name = format!("{rule:ID$}{}", rule.title());
        Row::new(run, name, counts)
    });
    let views = run.view_counts();
    let views = (!views.is_empty()).then(|| Row::new(run, "views".to_owned(), &views));
    rules
        .chain([Row::new(run, "steps".to_owned(), &run.totals())])
        .chain(views)
        .collect()
}

fn write_uncovered(out: &mut Terminal, rules: &[Rule]) -> fmt::Result {
    if rules.is_empty() {
        return Ok(());
    }
    let names: Vec<_> = rules.iter().map(Rule::to_string).collect();
    writeln!(out, "no step shows: {}", names.join(" "))
}

/// What each participant does not say that it has, if a scenario needed it.
fn write_not_declared(out: &mut Terminal, run: &Run) -> fmt::Result {
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

fn write_left_out(out: &mut Terminal, run: &Run) -> fmt::Result {
    let mut by_reason: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for it in &run.left_out {
        by_reason
            .entry(&*it.reason)
            .or_default()
            .push(&*it.scenario);
    }
    for (reason, scenarios) in by_reason {
        writeln!(out, "left out, as {reason}: {}", scenarios.join(", "))?;
    }
    Ok(())
}

fn write_news(out: &mut Terminal, run: &Run) -> fmt::Result {
    for (participant, news) in news(run) {
        writeln!(out, "not known, and not tested, of {participant}: {news}")?;
    }
    Ok(())
}

/// What registries of others have that is not known here, in words, each after its participant.
pub(super) fn news(run: &Run) -> impl Iterator<Item = (&str, String)> {
    let all = run.news.iter();
    all.flat_map(|(participant, news)| news.iter().map(move |it| (&**participant, it.in_words())))
}

fn write_views_not_asked(out: &mut Terminal, run: &Run) -> fmt::Result {
    for (participant, names) in views_not_asked(run) {
        writeln!(
            out,
            "views not asked of {participant}: {}",
            names.join(", ")
        )?;
    }
    Ok(())
}

/// The views that a backend was not asked, by name. An interface's name means all of its views.
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

/// `R8 Limits, R18 Self-feedback`.
fn titles(rules: &[Rule]) -> String {
    let titles: Vec<_> = rules
        .iter()
        .map(|rule| format!("{rule} {}", rule.title()))
        .collect();
    titles.join(", ")
}

fn write_variance_counts(out: &mut Terminal, variances: &[VarianceUsed<'_>]) -> fmt::Result {
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

fn write_variance(out: &mut Terminal, variance: &VarianceUsed<'_>) -> fmt::Result {
    let place = variance
        .step
        .map_or_else(String::new, |step| format!(" step {step}"));
    writeln!(
        out,
        "\ndeclared variance {}: {}{place}: {} gives {}, elsewhere {}\n  {}",
        variance.kind,
        variance.scenario,
        variance.participant,
        variance.outcome,
        variance.elsewhere,
        variance.reason
    )
}

fn write_failure(out: &mut Terminal, failure: &Failure<'_>) -> fmt::Result {
    let difference = failure.difference;
    let rules: Vec<_> = failure.rules.iter().map(Rule::to_string).collect();
    writeln!(out)?;
    out.paint(Tone::Bad, "FAILED")?;
    writeln!(
        out,
        " {}: {} step {} ({}; {})",
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
    if let Some(words) = &difference.native_error {
        writeln!(out, "  natively {words}")?;
    }
    if failure.rules.is_empty() {
        Ok(())
    } else {
        writeln!(out, "  rules    {}", titles(failure.rules))
    }
}
