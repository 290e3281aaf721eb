//! The clone, its replacement outside one, and the scenario files that a command names.
use super::{
    embedded::{Embedded, Part},
    error::CliError,
};
use concord_harness::scenario;
use std::{
    env,
    path::{Path, PathBuf},
};

pub(super) const SCENARIOS: &str = "tests/scenarios";
pub(super) const ARTIFACTS: &str = "contracts/out";
pub(super) const PROGRAM: &str = "target/deploy/agent_registry.so";

/// What a clone has, and another project's folder has not.
const CLONE: [&str; 2] = [SCENARIOS, "harness/Cargo.toml"];

/// The nearest folder, from the current one upwards, that is a clone.
pub(super) fn clone_root() -> Option<PathBuf> {
    env::current_dir()
        .ok()?
        .ancestors()
        .find(|folder| CLONE.iter().all(|it| folder.join(it).exists()))
        .map(Path::to_owned)
}

/// Returns a place in the clone; outside of one, the same place here.
pub(super) fn in_clone(named: Option<&Path>, place: &str) -> PathBuf {
    named.map_or_else(
        || clone_root().unwrap_or_default().join(place),
        Path::to_owned,
    )
}

/// The built file: where it was named, else at its fixed place in the clone, else what this binary carries.
///
/// # Errors
/// Outside of a clone: [`CliError::NotEmbedded`], or the carried files cannot be unpacked.
pub(super) fn built(named: Option<&Path>, place: &'static str) -> Result<PathBuf, CliError> {
    if let Some(path) = named {
        return Ok(path.to_owned());
    }
    if let Some(root) = clone_root() {
        return Ok(root.join(place));
    }
    let (part, option) = match place {
        PROGRAM => (Part::Program, "--program"),
        _ => (Part::Contracts, "--artifacts"),
    };
    let embedded = Embedded::installed();
    match embedded.of(part).next() {
        Some(_) => Ok(embedded.folder()?.join(place)),
        None => Err(CliError::NotEmbedded { place, option }),
    }
}

/// The files that `wanted` names; where it names none, every one of the clone, or that this binary carries.
pub(super) fn scenario_files(wanted: &[PathBuf]) -> Result<Vec<PathBuf>, CliError> {
    let root = || clone_root().map_or_else(|| Embedded::installed().folder(), Ok);
    files_below(wanted, &root)
}

/// As [`scenario_files`], for who writes into them: without a clone only files that are named by their paths.
pub(super) fn scenario_files_to_write(wanted: &[PathBuf]) -> Result<Vec<PathBuf>, CliError> {
    files_below(wanted, &|| clone_root().ok_or(CliError::NoClone))
}

fn files_below(
    wanted: &[PathBuf],
    root: &dyn Fn() -> Result<PathBuf, CliError>,
) -> Result<Vec<PathBuf>, CliError> {
    if !wanted.is_empty() {
        let files = wanted.iter().map(|wanted| scenario_file(wanted, root));
        return files.collect();
    }
    let folder = root()?.join(SCENARIOS);
    let files = scenario::find_files(&folder)?;
    if files.is_empty() {
        Err(CliError::NoScenarios(folder))
    } else {
        Ok(files)
    }
}

/// A path, `area/name`, or the name alone where only one area has it.
fn scenario_file(
    wanted: &Path,
    root: &dyn Fn() -> Result<PathBuf, CliError>,
) -> Result<PathBuf, CliError> {
    if wanted.is_file() {
        return Ok(wanted.to_owned());
    }
    let folder = root()?.join(SCENARIOS);
    let is_meant = |file: &PathBuf| file.with_extension("").ends_with(wanted);
    let mut found: Vec<_> = scenario::find_files(&folder)?
        .into_iter()
        .filter(is_meant)
        .collect();
    match found.len() {
        0 => Err(CliError::NoSuchScenario(wanted.to_owned())),
        1 => Ok(found.remove(0)),
        _ => Err(CliError::AmbiguousScenario {
            name: wanted.to_owned(),
            places: found.iter().map(|it| it.display().to_string()).collect(),
        }),
    }
}
