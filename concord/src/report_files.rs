//! Files for reports: tried before anybody plays or pays, and written whole or not at all.
use super::{DISAGREE, error::CliError};
use concord_deploy::report::print_status;
use concord_harness::report::plain;
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// An option that names a file for a report.
pub(super) type ReportFile<'a> = (&'static str, &'a Path);

/// That the files will be there is known before anybody plays or pays.
///
/// # Errors
/// [`CliError::File`], [`CliError::OneFileTwice`].
pub(super) fn require_writable(files: &[ReportFile<'_>]) -> Result<(), CliError> {
    for (at, (option, file)) in files.iter().enumerate() {
        let mut others = files[at + 1..].iter();
        if let Some((other, _)) = others.find(|(_, other)| is_one_place(file, other)) {
            return Err(CliError::OneFileTwice {
                options: [option, other],
                path: file.to_path_buf(),
            });
        }
    }
    for (_, file) in files {
        let partial = partial(file);
        let opened = match fs::metadata(file) {
            Ok(it) if it.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
            Ok(it) if !it.is_file() => Ok(()), // a device or a pipe: nothing can be tried
            _ => fs::write(&partial, "").and_then(|()| fs::remove_file(&partial)),
        };
        opened.map_err(|fault| not_written(file, fault))?;
    }
    Ok(())
}

/// Written beside the file, then moved into place, so that half a report is never read.
pub(super) fn write_whole(file: &Path, text: &str) -> Result<(), CliError> {
    let partial = partial(file);
    let written = match fs::metadata(file) {
        Ok(it) if !it.is_file() => fs::write(file, text), // nobody wants a device replaced
        _ => fs::write(&partial, text).and_then(|()| fs::rename(&partial, file)),
    };
    written.map_err(|fault| not_written(file, fault))
}

/// Whether two paths are one file, however they are written, and whether or not it is there.
fn is_one_place(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| {
        let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
        let folder = fs::canonicalize(folder.unwrap_or(Path::new("."))).ok()?;
        let in_folder = folder.join(path.file_name()?);
        Some(fs::canonicalize(&in_folder).unwrap_or(in_folder))
    };
    let is_file = fs::metadata(one).map_or(true, |it| it.is_file());
    is_file && (one == other || place(one).is_some_and(|it| place(other) == Some(it)))
}

fn partial(file: &Path) -> PathBuf {
    let mut partial = file.as_os_str().to_owned();
    partial.push(".partial");
    partial.into()
}

fn not_written(file: &Path, fault: io::Error) -> CliError {
    CliError::File {
        path: file.to_owned(),
        fault,
    }
}

/// The exit code of a run whose reports were written, or not. A disagreement is said whatever became of
/// them.
pub(super) fn code_beside(written: Result<(), CliError>, code: u8) -> Result<u8, CliError> {
    match written {
        Err(fault) if code == DISAGREE => {
            print_status(plain(&format!("concord: {fault}")));
            Ok(code)
        }
        written => written.map(|()| code),
    }
}
