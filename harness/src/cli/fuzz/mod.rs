//! `concord fuzz`.
use super::{
    AGREE, DISAGREE,
    arguments::{BackendName, Fuzz},
    error::CliError,
    files::{ARTIFACTS, PROGRAM, built, clone_root},
    progress::Steps,
    show,
};
use crate::{
    backend::{
        Backend,
        evm::{EvmAnvil, EvmRevm},
        svm::SvmLitesvm,
    },
    fuzz::{self, Finding, Plan, Report, STEPS_MIN, Subject, Tally, Vacuous},
    scenario,
};
use clap::ValueEnum;
use concord_canonical::hash::keccak256;
use concord_deploy::report::tell;
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    fmt::{self, Write as _},
    fs,
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

const REGRESSIONS: &str = "tests/scenarios/regressions";
/// Outside a clone.
const REGRESSIONS_ELSEWHERE: &str = "concord-regressions";

/// The exit code.
pub(super) fn fuzz(options: &Fuzz) -> Result<u8, CliError> {
    let plan = Plan {
        seed: options.seed.unwrap_or_else(fresh_seed),
        steps: options.steps,
        time: options.minutes.map(|it| Duration::from_secs(60 * it)),
    };
    let folder = regressions(options);
    require_writable(&folder)?;
    tell(format_args!("seed {}", plan.seed));
    let workers = (0..options.workers)
        .map(|_| start_backends(options))
        .collect::<Result<_, _>>()?;
    let progress = Steps::on_stderr(plan.steps);
    let run = fuzz::run(plan, workers, |steps| progress.tell(steps));
    progress.end();
    let report = run.map_err(|fault| CliError::Silent(fault.to_string()))?;
    let kept = (report.finding.as_ref()).map(|it| keep(it, plan.seed, options, &folder));
    let replay = kept.as_ref().and_then(|kept| kept.as_deref().ok());
    let result = if options.json {
        format!("{:#}\n", as_json(&report, plan.seed, replay))
    } else {
        as_text(&report, plan.seed, replay)
    };
    show(result.as_bytes())?;
    kept.transpose()?;
    Ok(if is_sound(&report) { AGREE } else { DISAGREE })
}

/// Nobody differs, and enough was tried for that to mean something.
fn is_sound(report: &Report) -> bool {
    report.finding.is_none() && report.metrics.vacuous().is_empty()
}

fn fresh_seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| now.as_secs())
}

fn start_backends(options: &Fuzz) -> Result<Vec<Box<dyn Backend>>, CliError> {
    let chosen: BTreeSet<_> = options.backend.iter().copied().collect();
    if chosen.len() > 1 && chosen.contains(&BackendName::None) {
        return Err(CliError::NoneAndOthers);
    }
    let mut backends: Vec<Box<dyn Backend>> = Vec::new();
    for name in chosen {
        match name {
            BackendName::EvmAnvil => {
                let artifacts = built(options.artifacts.as_deref(), ARTIFACTS);
                backends.push(Box::new(EvmAnvil::start(
                    options.anvil.as_deref(),
                    &artifacts,
                )?));
            }
            BackendName::EvmRevm => {
                let artifacts = built(options.artifacts.as_deref(), ARTIFACTS);
                backends.push(Box::new(EvmRevm::start(&artifacts)?));
            }
            BackendName::SvmLitesvm => {
                let program = built(options.program.as_deref(), PROGRAM);
                backends.push(Box::new(SvmLitesvm::start(&program)?));
            }
            BackendName::None => (),
        }
    }
    Ok(backends)
}

/// Where a finding goes: beside the clone's scenarios, else into a folder of the current one. A
/// `tests/scenarios` there would make `conform` take it for a clone.
fn regressions(options: &Fuzz) -> PathBuf {
    let named = options.regressions.clone();
    named.unwrap_or_else(|| match clone_root() {
        Some(root) => root.join(REGRESSIONS),
        None => PathBuf::from(REGRESSIONS_ELSEWHERE),
    })
}

/// A finding of hours must not be lost for want of a folder. What the check makes it takes away.
fn require_writable(folder: &Path) -> Result<(), CliError> {
    let missing: Vec<_> = folder
        .ancestors()
        .take_while(|it| !it.as_os_str().is_empty() && !it.exists())
        .collect();
    let probe = folder.join(".concord-fuzz");
    let tried = fs::create_dir_all(folder)
        .and_then(|()| fs::write(&probe, ""))
        .and_then(|()| fs::remove_file(&probe));
    for made in missing {
        let _ = fs::remove_dir(made); // one that was not made, or is in use by now, stays
    }
    tried.map_err(|fault| CliError::File {
        path: folder.to_owned(),
        fault,
    })
}

/// Writes the finding as a scenario; the command that plays it again.
fn keep(finding: &Finding, seed: u64, options: &Fuzz, folder: &Path) -> Result<String, CliError> {
    let mut document = fuzz::document(&finding.steps, &finding.divergence, seed, finding.world);
    let name = hex::encode(&keccak256(json!(document).to_string().as_bytes())[..8]);
    let path = folder.join(format!("{name}.json"));
    scenario::fill(&mut document, &path)?;
    fs::create_dir_all(folder)
        .and_then(|()| scenario::store_document(&path, &document))
        .map_err(|fault| CliError::File {
            path: path.clone(),
            fault,
        })?;
    Ok(replay(finding, seed, options, &path))
}

/// As a shell reads it. A mutator's word holds for its own world only, which the seed makes again.
fn replay(finding: &Finding, seed: u64, options: &Fuzz, scenario: &Path) -> String {
    let text = |path: &Path| path.display().to_string();
    let names = options
        .backend
        .iter()
        .filter_map(|it| it.to_possible_value());
    let names: Vec<_> = names.map(|it| it.get_name().to_owned()).collect();
    let mut words = match finding.divergence.subject() {
        Some(Subject::Mutator) => {
            let steps = (finding.world + 1) * fuzz::WORLD_STEPS as u64;
            let (seed, steps) = (seed.to_string(), steps.to_string());
            ["fuzz", "--seed", &seed, "--steps", &steps]
                .map(str::to_owned)
                .to_vec()
        }
        _ => ["conform", "--scenario", &text(scenario)]
            .map(str::to_owned)
            .to_vec(),
    };
    words.splice(1..1, ["--backend".to_owned(), names.join(",")]);
    let built = [
        ("--anvil", &options.anvil),
        ("--artifacts", &options.artifacts),
        ("--program", &options.program),
    ];
    for (option, path) in built {
        if let Some(path) = path {
            words.extend([option.to_owned(), text(path)]);
        }
    }
    let quoted = shlex::try_join(words.iter().map(String::as_str));
    format!("concord {}", quoted.unwrap_or_else(|_| words.join(" ")))
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
        ("mutated on purpose", &metrics.mutators),
    ] {
        writeln!(out, "{title:28}{:>8}{:>10}", "tried", "accepted")?;
        for (name, tally) in rows {
            writeln!(out, "{name:28}{:>8}{:>10}", tally.tried, tally.accepted)?;
        }
        writeln!(out)?;
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
    for Vacuous { what, tally } in metrics.vacuous() {
        let Tally { tried, accepted } = tally;
        writeln!(out, "VACUOUS {what}: {accepted} of {tried} accepted")?;
    }
    if !metrics.can_tell() {
        writeln!(
            out,
            "below {STEPS_MIN} steps it is not judged what was tried too seldom"
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

fn as_json(report: &Report, seed: u64, replay: Option<&str>) -> Value {
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
        "vacuous": report.metrics.vacuous(),
        "views_not_asked": report.not_asked,
        "divergence": report.finding.as_ref().map(|finding| json!({
            "world": finding.world,
            "verdict": finding.divergence.verdict(),
            "steps": finding.steps.len(),
            "at": finding.divergence,
            "replay": replay,
        })),
    })
}
