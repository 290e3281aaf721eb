//! `concord scenarios export`.
use super::{
    AGREE,
    embedded::{Embedded, Part},
    error::CliError,
    files::{SCENARIOS, clone_root},
    unpack,
};
use clap::{Args, Subcommand};
use concord_deploy::report::print_status;
use concord_harness::report::plain;
use std::{
    fs, io,
    path::{Path, PathBuf},
};

const EXPORT: &str = "Examples:
  concord scenarios export scenarios
  concord conform --scenario scenarios/authorized/expiry.json

Exit codes:
  0  the files are written
  2  the command line is wrong, the folder is not empty, or a file cannot be written";

/// The scenario files that every registry is tested with.
#[derive(Debug, Args)]
pub struct Scenarios {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Writes every scenario file, and their JSON Schema, into a folder that is empty or new.
    #[command(after_help = EXPORT)]
    Export {
        /// The folder to write to.
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
}

/// The exit code.
pub(super) fn scenarios(options: &Scenarios) -> Result<u8, CliError> {
    match &options.command {
        Command::Export { folder } => export(folder),
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
    print_status(plain(&format!("{count} files in {}", folder.display())));
    Ok(AGREE)
}

/// Copies a folder with the folders in it. Returns how many files that were.
fn copy(from: &Path, to: &Path) -> io::Result<usize> {
    fs::create_dir_all(to)?;
    let mut count = 0;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        count += if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?
        } else {
            fs::copy(entry.path(), target).map(|_| 1)?
        };
    }
    Ok(count)
}
