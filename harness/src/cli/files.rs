//! Where the clone is, and which scenario files are meant.
use super::error::CliError;
use crate::scenario;
use std::{
    env,
    path::{Path, PathBuf},
};

pub(super) const SCENARIOS: &str = "tests/scenarios";
pub(super) const ARTIFACTS: &str = "contracts/out";
pub(super) const PROGRAM: &str = "target/deploy/agent_registry.so";

/// The nearest folder, from the current one upwards, that holds scenarios.
pub(super) fn clone_root() -> Option<PathBuf> {
    env::current_dir()
        .ok()?
        .ancestors()
        .find(|folder| folder.join(SCENARIOS).is_dir())
        .map(Path::to_owned)
}

/// A built file: where it was named, else at its fixed place in the clone.
pub(super) fn built(named: Option<&Path>, place: &str) -> PathBuf {
    named.map_or_else(
        || clone_root().unwrap_or_default().join(place),
        Path::to_owned,
    )
}

/// The files that `wanted` names; every one of the clone where it names none.
pub(super) fn scenario_files(wanted: &[PathBuf]) -> Result<Vec<PathBuf>, CliError> {
    if !wanted.is_empty() {
        return wanted.iter().map(|wanted| scenario_file(wanted)).collect();
    }
    let folder = clone_root().ok_or(CliError::NoClone)?.join(SCENARIOS);
    let files = scenario::find_files(&folder)?;
    match files.is_empty() {
        true => Err(CliError::NoScenarios(folder)),
        false => Ok(files),
    }
}

/// A path, `area/name`, or the name alone where only one area has it.
fn scenario_file(wanted: &Path) -> Result<PathBuf, CliError> {
    if wanted.is_file() {
        return Ok(wanted.to_owned());
    }
    let unknown = || CliError::NoSuchScenario(wanted.to_owned());
    let folder = clone_root().ok_or_else(unknown)?.join(SCENARIOS);
    let is_meant = |file: &PathBuf| file.with_extension("").ends_with(wanted);
    let mut found: Vec<_> = scenario::find_files(&folder)?
        .into_iter()
        .filter(is_meant)
        .collect();
    match found.len() {
        0 => Err(unknown()),
        1 => Ok(found.remove(0)),
        _ => Err(CliError::AmbiguousScenario {
            name: wanted.to_owned(),
            places: found.iter().map(|it| it.display().to_string()).collect(),
        }),
    }
}
