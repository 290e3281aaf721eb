//! `concord fuzz`.
use super::{
    AGREE, DISAGREE,
    arguments::{Fuzz, FuzzBackend},
    files::{ARTIFACTS, PROGRAM, built},
    progress::Steps,
    stop::Stop,
};
use crate::{
    backend::{Backend, Missing, evm::EvmRevm, svm::SvmLitesvm},
    fuzz::{self, Finding, Plan, Report, Tally, Vacuous},
    scenario,
};
use concord_canonical::hash::keccak256;
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    fmt::{self, Write as _},
    fs,
    io::{self, Write as _},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

const REGRESSIONS: &str = "tests/scenarios/regressions";

/// The exit code.
pub(super) fn fuzz(options: &Fuzz) -> Result<u8, Stop> {
    let plan = Plan {
        seed: options.seed.unwrap_or_else(fresh_seed),
        steps: options.steps,
        time: options.minutes.map(|it| Duration::from_secs(60 * it)),
    };
    eprintln!("seed {}", plan.seed);
    let workers = (0..options.workers)
        .map(|_| start_backends(options))
        .collect::<Result<_, _>>()?;
    let progress = Steps::on_stderr(plan.steps);
    let run = fuzz::run(plan, workers, |steps| progress.tell(steps));
    progress.end();
    let report = run.map_err(|fault| Stop::Silent(fault.to_string()))?;
    let replay = match &report.finding {
        Some(finding) => Some(keep(finding, plan.seed, options)?),
        None => None,
    };
    let result = if options.json {
        format!("{:#}\n", as_json(&report, plan.seed, replay.as_deref()))
    } else {
        as_text(&report, plan.seed, replay.as_deref())
    };
    io::stdout().write_all(result.as_bytes())?;
    let is_sound = report.finding.is_none() && report.metrics.vacuous().is_empty();
    Ok(if is_sound { AGREE } else { DISAGREE })
}

fn fresh_seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| now.as_secs())
}

fn start_backends(options: &Fuzz) -> Result<Vec<Box<dyn Backend>>, Missing> {
    let chosen: BTreeSet<_> = options.backend.iter().copied().collect();
    let mut backends: Vec<Box<dyn Backend>> = Vec::new();
    for name in chosen {
        match name {
            FuzzBackend::EvmRevm => {
                let artifacts = built(options.artifacts.as_deref(), ARTIFACTS);
                backends.push(Box::new(EvmRevm::start(&artifacts)?));
            }
            FuzzBackend::SvmLitesvm => {
                let program = built(options.program.as_deref(), PROGRAM);
                backends.push(Box::new(SvmLitesvm::start(&program)?));
            }
            FuzzBackend::None => (),
        }
    }
    Ok(backends)
}

/// Writes the finding as a scenario; the command that plays it again.
fn keep(finding: &Finding, seed: u64, options: &Fuzz) -> Result<String, Stop> {
    let folder = built(options.regressions.as_deref(), REGRESSIONS);
    let mut document = fuzz::document(&finding.moves, &finding.divergence, seed, finding.world);
    let name = hex::encode(&keccak256(json!(document).to_string().as_bytes())[..8]);
    let path = folder.join(format!("{name}.json"));
    scenario::fill(&mut document, &path)?;
    fs::create_dir_all(&folder)
        .and_then(|()| scenario::store_document(&path, &document))
        .map_err(|fault| Stop::File {
            path: path.clone(),
            fault,
        })?;
    Ok(format!(
        "concord conform --backend evm-revm,svm-litesvm --scenario {}",
        path.display()
    ))
}

fn as_text(report: &Report, seed: u64, replay: Option<&str>) -> String {
    let mut out = String::new();
    write_report(&mut out, report, seed, replay).expect("a String takes all text");
    out
}

fn write_report(out: &mut String, report: &Report, seed: u64, replay: Option<&str>) -> fmt::Result {
    let metrics = &report.metrics;
    for (title, rows) in [
        ("operation", &metrics.operations),
        ("spoilt on purpose", &metrics.mutators),
    ] {
        writeln!(out, "{title:28}{:>8}{:>10}", "tried", "accepted")?;
        for (name, tally) in rows {
            writeln!(out, "{name:28}{:>8}{:>10}", tally.tried, tally.accepted)?;
        }
        writeln!(out)?;
    }
    writeln!(
        out,
        "{} steps ({} spoilt) in {} worlds, seed {seed}, {:.1} s, {:.0} steps a second",
        metrics.steps,
        metrics.spoilt,
        report.worlds,
        report.elapsed.as_secs_f64(),
        steps_per_second(report)
    )?;
    for Vacuous { what, tally } in metrics.vacuous() {
        let Tally { tried, accepted } = tally;
        writeln!(out, "VACUOUS {what}: {accepted} of {tried} accepted")?;
    }
    match &report.finding {
        None => writeln!(out, "no divergence"),
        Some(finding) => write_finding(out, finding, replay.unwrap_or_default()),
    }
}

fn write_finding(out: &mut String, finding: &Finding, replay: &str) -> fmt::Result {
    let divergence = &finding.divergence;
    writeln!(
        out,
        "\nDIVERGENCE in world {}, after {} steps, at {}",
        finding.world,
        finding.moves.len(),
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

fn as_json(report: &Report, seed: u64, replay: Option<&str>) -> Value {
    json!({
        "agree": report.finding.is_none(),
        "seed": seed,
        "steps": report.metrics.steps,
        "spoilt": report.metrics.spoilt,
        "worlds": report.worlds,
        "seconds": report.elapsed.as_secs_f64(),
        "operations": report.metrics.operations,
        "mutators": report.metrics.mutators,
        "vacuous": report.metrics.vacuous(),
        "divergence": report.finding.as_ref().map(|finding| json!({
            "world": finding.world,
            "verdict": finding.divergence.verdict(),
            "steps": finding.moves.len(),
            "at": finding.divergence,
            "replay": replay,
        })),
    })
}
