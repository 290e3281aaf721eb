//! JSON files that are never half written.
use crate::Fault;
use serde::{Serialize, de::DeserializeOwned};
use std::{
    fs,
    io::{self, Write},
    path::Path,
    process,
};

/// Writes beside it, then renames: a reader, or a restart after a crash, finds the old file or the
/// new one.
///
/// # Errors
/// [`Fault::File`].
pub fn write_json(path: &Path, content: &impl Serialize) -> Result<(), Fault> {
    let mut text = serde_json::to_string_pretty(content)
        .map_err(|fault| unusable(path, fault))?
        .into_bytes();
    text.push(b'\n');
    write(path, &text)
}

/// As [`write_json`], for text.
///
/// # Errors
/// [`Fault::File`].
pub fn write(path: &Path, content: &[u8]) -> Result<(), Fault> {
    replace(path, content).map_err(|fault| unusable(path, fault))
}

fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let path = &fs::canonicalize(path).unwrap_or(path.to_owned()); // through a link, if it is one
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let partial = path.with_extension(format!("json.{}.partial", process::id()));
    let mut file = fs::File::create(&partial)?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(&partial, path)?;
    fs::File::open(folder)?.sync_all() // else the rename itself may be lost with the power
}

/// A file that is there to be locked. It and its folder are made where they are missing.
///
/// # Errors
/// [`Fault::File`].
pub fn open_lock(path: &Path) -> Result<fs::File, Fault> {
    let open = || {
        fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
        fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
    };
    open().map_err(|fault| unusable(path, fault))
}

/// The file's content; `None` where there is no such file.
///
/// # Errors
/// [`Fault::File`] with the place in the file.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, Fault> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(fault) => return Err(unusable(path, fault)),
    };
    let mut reader = serde_json::Deserializer::from_str(&text);
    let content =
        serde_path_to_error::deserialize(&mut reader).map_err(|fault| unusable(path, fault))?;
    reader.end().map_err(|fault| unusable(path, fault))?;
    Ok(Some(content))
}

pub(crate) fn unusable(path: &Path, fault: impl ToString) -> Fault {
    Fault::File {
        path: path.to_owned(),
        reason: fault.to_string(),
    }
}
