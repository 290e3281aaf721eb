//! The result of a run of `concord fuzz`, as text and as JSON.
use super::is_sound;
use concord_harness::fuzz::{BOUNDS_STEPS_MIN, Finding, Report, STEPS_MIN, Tally, Vacuous};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    fmt::{self, Write as _},
};

pub(super) fn as_text(report: &Report, seed: u64, replay: Option<&str>) -> String {
    let mut out = String::new();
    write_report(&mut out, report, seed, replay).expect("a String takes all text");
    out
}

fn write_report(out: &mut String, report: &Report, seed: u64, replay: Option<&str>) -> fmt::Result {
    let metrics = &report.metrics;
    write_tallies(out, "operation", &metrics.operations)?;
    write_tallies(out, "mutated on purpose", &metrics.mutators)?;
    if !metrics.impostors.is_empty() {
        write_tallies(out, "impostors", &metrics.impostors)?;
    }
    writeln!(
        out,
        "{} steps ({} mutated) in {} worlds, seed {seed}, {:.1} s, {:.0} steps a second",
        metrics.steps,
        metrics.mutated,
        report.worlds,
        report.elapsed.as_secs_f64(),
        steps_per_second(report)
    )?;
    write_corpus(out, report)?;
    if report.is_stopped {
        writeln!(out, "stopped before it was done")?;
    }
    for Vacuous { what, tally } in metrics.vacuous() {
        let Tally { tried, accepted } = tally;
        writeln!(out, "VACUOUS {what}: {accepted} of {tried} accepted")?;
    }
    if !metrics.can_tell() {
        writeln!(
            out,
            "runs below {STEPS_MIN} steps are not checked for what was tried too seldom"
        )?;
    }
    for (participant, views) in &report.not_asked {
        let names: Vec<_> = views.iter().map(ToString::to_string).collect();
        writeln!(
            out,
            "views not asked of {participant}: {}",
            names.join(", ")
        )?;
    }
    if metrics.can_tell() && metrics.steps < BOUNDS_STEPS_MIN {
        writeln!(
            out,
            "runs below {BOUNDS_STEPS_MIN} steps are not checked for bounds that were not reached"
        )?;
    }
    match &report.finding {
        None => writeln!(out, "no divergence"),
        Some(finding) => write_finding(out, finding, replay.unwrap_or_default()),
    }
}

fn write_tallies<T: Ord + AsRef<str>>(
    out: &mut String,
    title: &str,
    rows: &BTreeMap<T, Tally>,
) -> fmt::Result {
    let names = rows.keys().map(|it| it.as_ref().len());
    let width = names.max().unwrap_or(0).max(28);
    writeln!(out, "{title:width$}{:>8}{:>10}", "tried", "accepted")?;
    for (name, tally) in rows {
        let Tally { tried, accepted } = tally;
        writeln!(out, "{:width$}{tried:>8}{accepted:>10}", name.as_ref())?;
    }
    writeln!(out)
}

fn write_corpus(out: &mut String, report: &Report) -> fmt::Result {
    let Some(corpus) = &report.corpus else {
        return Ok(());
    };
    writeln!(
        out,
        "corpus: {} worlds that reach {} features; {} steps in {:.0} s of playing, all runs together",
        corpus.worlds(),
        corpus.features(),
        corpus.steps(),
        corpus.seconds()
    )
}

fn write_finding(out: &mut String, finding: &Finding, replay: &str) -> fmt::Result {
    let divergence = &finding.divergence;
    writeln!(
        out,
        "\nDIVERGENCE in world {}, after {} steps, at {}",
        finding.recipe,
        finding.steps.len(),
        divergence.operation
    )?;
    writeln!(out, "  {}", divergence.verdict())?;
    for difference in &divergence.wrong {
        let path = difference.path.as_deref().unwrap_or_default();
        let subject = difference.subject;
        writeln!(out, "  {}: {subject} {path}", difference.participant)?;
        writeln!(out, "    expected {}", difference.expected)?;
        writeln!(out, "    actual   {}", difference.actual)?;
        if let Some(words) = &difference.native_error {
            writeln!(out, "    natively {words}")?;
        }
    }
    writeln!(out, "  replay: {replay}")
}

fn steps_per_second(report: &Report) -> f64 {
    report.metrics.steps as f64 / report.elapsed.as_secs_f64().max(f64::EPSILON)
}

pub(super) fn as_json(report: &Report, seed: u64, replay: Option<&str>) -> Value {
    json!({
        "sound": is_sound(report),
        "agree": report.finding.is_none(),
        "seed": seed,
        "steps": report.metrics.steps,
        "mutated": report.metrics.mutated,
        "worlds": report.worlds,
        "seconds": report.elapsed.as_secs_f64(),
        "operations": report.metrics.operations,
        "mutators": report.metrics.mutators,
        "bounds": report.metrics.bounds,
        "impostors": report.metrics.impostors,
        "vacuous": report.metrics.vacuous(),
        "stopped": report.is_stopped,
        "corpus": report.corpus.as_ref().map(|corpus| json!({
            "worlds": corpus.worlds(),
            "features": corpus.features(),
            "steps": corpus.steps(),
            "seconds": corpus.seconds(),
        })),
        "views_not_asked": report.not_asked,
        "divergence": report.finding.as_ref().map(|finding| json!({
            "world": finding.recipe.to_string(),
            "verdict": finding.divergence.verdict(),
            "steps": finding.steps.len(),
            "at": finding.divergence,
            "replay": replay,
        })),
    })
}
