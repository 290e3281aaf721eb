use super::{
    AGREE, DISAGREE, MISSING, USAGE,
    arguments::{BackendName, Conform},
};
use crate::{
    backend::{
        Backend, Missing,
        evm::{EvmAnvil, EvmRevm},
        svm::SvmLitesvm,
    },
    report, runner, scenario,
};
use std::{
    collections::BTreeSet,
    env,
    io::{self, Write},
    path::{Path, PathBuf},
};

const SCENARIOS: &str = "tests/scenarios";
const ARTIFACTS: &str = "contracts/out";
const PROGRAM: &str = "target/deploy/agent_registry.so";

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
enum Stop {
    #[error(transparent)]
    Scenario(#[from] scenario::ScenarioFault),
    #[error("scenario {} not found: neither a file nor the name of one in {SCENARIOS}", .0.display())]
    NoSuchScenario(PathBuf),
    #[error(
        "no folder {SCENARIOS} here or above: run inside a clone, or name files with --scenario"
    )]
    NoClone,
    #[error("no scenario files in {}", .0.display())]
    NoScenarios(PathBuf),
    #[error(transparent)]
    Missing(#[from] Missing),
    #[error("{0}")]
    Output(#[from] io::Error),
}

impl Stop {
    fn exit_code(&self) -> u8 {
        match self {
            Self::Missing(_) => MISSING,
            _ => USAGE,
        }
    }
}

/// `concord conform`: the exit code.
pub(super) fn conform(options: &Conform) -> u8 {
    let done = if options.bless {
        bless(options)
    } else {
        run(options)
    };
    done.unwrap_or_else(|stop| {
        eprintln!("concord: {stop}");
        stop.exit_code()
    })
}

fn run(options: &Conform) -> Result<u8, Stop> {
    let files = scenario_files(options)?;
    let scenarios = files
        .iter()
        .map(|file| scenario::load(file))
        .collect::<Result<Vec<_>, _>>()?;
    let mut backends = start_backends(options)?;
    let run = runner::run(
        &scenarios,
        &mut backends,
        |scenario, participant, failed| match failed {
            0 => eprintln!("{participant:12} {scenario}"),
            _ => eprintln!("{participant:12} {scenario}: FAILED"),
        },
    )?;
    let report = if options.json {
        format!("{:#}\n", report::json(&run))
    } else {
        report::text(&run)
    };
    io::stdout().write_all(report.as_bytes())?;
    Ok(if run.agrees() { AGREE } else { DISAGREE })
}

fn start_backends(options: &Conform) -> Result<Vec<Box<dyn Backend>>, Missing> {
    let chosen: BTreeSet<_> = options.backend.iter().copied().collect();
    let mut backends: Vec<Box<dyn Backend>> = Vec::new();
    for name in chosen {
        backends.push(match name {
            BackendName::EvmAnvil => {
                let artifacts = built(options.artifacts.as_deref(), ARTIFACTS);
                Box::new(EvmAnvil::start(options.anvil.as_deref(), &artifacts)?)
            }
            BackendName::EvmRevm => {
                let artifacts = built(options.artifacts.as_deref(), ARTIFACTS);
                Box::new(EvmRevm::start(&artifacts)?)
            }
            BackendName::SvmLitesvm => Box::new(SvmLitesvm::start(&built(
                options.program.as_deref(),
                PROGRAM,
            ))?),
        });
    }
    Ok(backends)
}

/// A built file: where it was named, else at its fixed place in the clone.
fn built(named: Option<&Path>, place: &str) -> PathBuf {
    named.map_or_else(
        || clone_root().unwrap_or_default().join(place),
        Path::to_owned,
    )
}

/// Writes the model's expectations, and nobody else's, into the files.
fn bless(options: &Conform) -> Result<u8, Stop> {
    for file in scenario_files(options)? {
        let before = scenario::load_document(&file)?;
        let mut document = before.clone();
        scenario::fill(&mut document, &file)?;
        scenario::store_document(&file, &document)?;
        scenario::load(&file)?;
        let word = if document == before {
            "kept"
        } else {
            "blessed"
        };
        eprintln!("{word:8} {}", file.display());
    }
    Ok(AGREE)
}

fn scenario_files(options: &Conform) -> Result<Vec<PathBuf>, Stop> {
    if options.scenario.is_empty() {
        let folder = clone_root().ok_or(Stop::NoClone)?.join(SCENARIOS);
        let files = scenario::find_files(&folder)?;
        return match files.is_empty() {
            true => Err(Stop::NoScenarios(folder)),
            false => Ok(files),
        };
    }
    options
        .scenario
        .iter()
        .map(|wanted| scenario_file(wanted))
        .collect()
}

fn scenario_file(wanted: &Path) -> Result<PathBuf, Stop> {
    if wanted.is_file() {
        return Ok(wanted.to_owned());
    }
    clone_root()
        .map(|root| root.join(SCENARIOS).join(wanted).with_extension("json"))
        .filter(|named| named.is_file())
        .ok_or_else(|| Stop::NoSuchScenario(wanted.to_owned()))
}

/// The nearest folder, from the current one upwards, that holds scenarios.
fn clone_root() -> Option<PathBuf> {
    env::current_dir()
        .ok()?
        .ancestors()
        .find(|folder| folder.join(SCENARIOS).is_dir())
        .map(Path::to_owned)
}
