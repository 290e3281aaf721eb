//! `concord scenarios export`.
use super::{
    AGREE,
    arguments::ScenariosPart,
    embedded::{Embedded, Part},
    error::CliError,
    files::{SCENARIOS, clone_root},
    unpack,
};
use crate::report::plain;
use concord_deploy::report::tell;
use std::{fs, io, path::Path};

/// The exit code.
pub(super) fn scenarios(part: &ScenariosPart) -> Result<u8, CliError> {
    match part {
        ScenariosPart::Export { folder } => export(folder),
    }
}

fn export(folder: &Path) -> Result<u8, CliError> {
    let failed = |fault| CliError::File {
        path: folder.to_owned(),
        fault,
    };
    match fs::read_dir(folder).map(|it| it.count()) {
        Ok(0) => (),
        Ok(_) => return Err(CliError::Exists(folder.to_owned())),
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => (),
        Err(fault) => return Err(failed(fault)),
    }
    let count = match clone_root() {
        Some(root) => copy(&root.join(SCENARIOS), folder).map_err(failed)?,
        None => {
            let files: Vec<_> = Embedded::installed()
                .of(Part::Scenarios)
                .map(|(name, bytes)| (&name[Part::Scenarios.place().len()..], bytes))
                .collect();
            unpack::write(folder, &files).map_err(failed)?;
            files.len()
        }
    };
    tell(plain(&format!("{count} files in {}", folder.display())));
    Ok(AGREE)
}

/// Copies a folder with the folders in it. Returns how many files that were.
fn copy(from: &Path, to: &Path) -> io::Result<usize> {
    fs::create_dir_all(to)?;
    let mut count = 0;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        count += match entry.file_type()?.is_dir() {
            true => copy(&entry.path(), &target)?,
            false => fs::copy(entry.path(), target).map(|_| 1)?,
        };
    }
    Ok(count)
}
