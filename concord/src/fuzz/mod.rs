//! `concord fuzz`.
mod answer;

use super::{
    AGREE, DISAGREE,
    arguments::{BackendName, Fuzz},
    error::CliError,
    files::{ARTIFACTS, PROGRAM, built, clone_root},
    progress::Steps,
    report_files::code_beside,
    show,
};
use clap::ValueEnum;
use concord_canonical::hash::keccak256;
use concord_deploy::report::print_status;
use concord_harness::{
    backend::{
        Backend,
        evm::{EvmAnvil, EvmRevm},
        leave_interrupts,
        svm::SvmLitesvm,
    },
    fuzz::{self, Corpus, Finding, FuzzFault, Plan, Recipe, Report, Setting, Subject},
    report::plain,
    scenario,
};
use serde_json::json;
use signal_hook::{consts::SIGINT, flag};
use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
    process,
    sync::{Arc, atomic::AtomicBool},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

const REGRESSIONS: &str = "tests/scenarios/regressions";
/// Outside a clone.
const REGRESSIONS_ELSEWHERE: &str = "concord-regressions";

/// What a shell calls a program that SIGINT ended.
const INTERRUPTED: u8 = 130;

/// The exit code.
pub(super) fn fuzz(options: &Fuzz) -> Result<u8, CliError> {
    let folder = regressions(options);
    require_writable(&folder)?;
    let corpus = options.corpus.as_deref();
    let corpus = corpus
        .map(|folder| Corpus::open(folder, options.seed, fresh_seed()))
        .transpose()?;
    let seed = match &corpus {
        Some(corpus) => corpus.seed(),
        None => {
            let of_world = options.world.as_ref().and_then(Recipe::seed);
            options.seed.or(of_world).unwrap_or_else(fresh_seed)
        }
    };
    let plan = Plan {
        seed,
        steps: options.steps,
        time: options.minutes.map(|it| Duration::from_secs(60 * it)),
    };
    let stop = interruption()?;
    match &options.world {
        Some(world) => print_status(format_args!("world {world}")),
        None => print_status(format_args!("seed {seed}")),
    }
    let workers = (0..options.workers)
        .map(|_| start_backends(options))
        .collect::<Result<_, _>>()?;
    let setting = Setting {
        corpus,
        only: options.world.clone(),
        stop,
    };
    let progress = Steps::on_stderr(plan.steps);
    let run = fuzz::run_in(setting, plan, workers, |steps| progress.print_status(steps));
    progress.end();
    let report = run.map_err(|fault| match fault {
        FuzzFault::Chain(fault) => CliError::Silent(fault.to_string()),
        FuzzFault::Corpus(fault) => fault.into(),
    })?;
    let kept = (report.finding.as_ref()).map(|it| keep(it, options, &folder));
    let replay = kept.as_ref().and_then(|kept| kept.as_deref().ok());
    let result = if options.json {
        format!("{:#}\n", answer::as_json(&report, seed, replay))
    } else {
        answer::as_text(&report, seed, replay)
    };
    let shown = show(plain(&result).as_bytes()).map_err(CliError::from); // it names files
    let written = shown.and(kept.transpose().map(drop));
    code_beside(written, exit_code(&report))
}

fn exit_code(report: &Report) -> u8 {
    match (&report.finding, report.is_stopped) {
        (None, true) => INTERRUPTED,
        (None, false) if is_sound(report) => AGREE,
        _ => DISAGREE,
    }
}

/// Set by the first SIGINT, which ends the run with what was done so far. The second one ends the
/// process at once.
fn interruption() -> io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    flag::register_conditional_shutdown(SIGINT, INTERRUPTED.into(), stop.clone())?;
    flag::register(SIGINT, stop.clone())?;
    leave_interrupts();
    Ok(stop)
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
                let artifacts = built(options.artifacts.as_deref(), ARTIFACTS)?;
                backends.push(Box::new(EvmAnvil::start(
                    options.anvil.as_deref(),
                    &artifacts,
                )?));
            }
            BackendName::EvmRevm => {
                let artifacts = built(options.artifacts.as_deref(), ARTIFACTS)?;
                backends.push(Box::new(EvmRevm::start(&artifacts)?));
            }
            BackendName::SvmLitesvm => {
                let program = built(options.program.as_deref(), PROGRAM)?;
                backends.push(Box::new(SvmLitesvm::start(&program)?));
            }
            BackendName::None => (),
        }
    }
    Ok(backends)
}

/// Where a finding goes: beside the clone's scenarios, else into a folder of the current one.
fn regressions(options: &Fuzz) -> PathBuf {
    let named = options.regressions.clone();
    named.unwrap_or_else(|| match clone_root() {
        Some(root) => root.join(REGRESSIONS),
        None => PathBuf::from(REGRESSIONS_ELSEWHERE),
    })
}

/// A finding of hours must not be lost for want of a folder. None is made for the check, which other runs may make of the same
/// folder at the same time: what is there of its path must take a file.
fn require_writable(folder: &Path) -> Result<(), CliError> {
    let there = folder.ancestors().find(|it| it.exists());
    let probe = there
        .unwrap_or(Path::new("."))
        .join(format!(".concord-fuzz-{}", process::id()));
    fs::write(&probe, "")
        .and_then(|()| fs::remove_file(&probe))
        .map_err(|fault| CliError::File {
            path: folder.to_owned(),
            fault,
        })
}

/// Writes the finding as a scenario; the command that plays it again.
fn keep(finding: &Finding, options: &Fuzz, folder: &Path) -> Result<String, CliError> {
    let mut document = fuzz::document(&finding.steps, &finding.divergence, &finding.recipe);
    let name = hex::encode(&keccak256(json!(document).to_string().as_bytes())[..8]);
    let path = folder.join(format!("{name}.json"));
    scenario::fill(&mut document, &path)?;
    fs::create_dir_all(folder)
        .and_then(|()| scenario::store_document(&path, &document))
        .map_err(|fault| CliError::File {
            path: path.clone(),
            fault,
        })?;
    Ok(replay(finding, options, &path))
}

/// As a shell reads it. A mutator's word and impostors belong to their own world only, which is made again.
fn replay(finding: &Finding, options: &Fuzz, scenario: &Path) -> String {
    let text = |path: &Path| path.display().to_string();
    let names = options
        .backend
        .iter()
        .filter_map(|it| it.to_possible_value());
    let names: Vec<_> = names.map(|it| it.get_name().to_owned()).collect();
    let mut words = match finding.divergence.subject() {
        Some(Subject::Mutator | Subject::Impostor) => {
            let world = finding.recipe.to_string();
            ["fuzz", "--world", &world].map(str::to_owned).to_vec()
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
