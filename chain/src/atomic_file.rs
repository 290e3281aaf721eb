//! JSON files that are never half written, and locks beside them.
use crate::ChainError;
use serde::{Serialize, de::DeserializeOwned};
use std::{
    fmt::Display,
    fs,
    hash::{BuildHasher, Hasher, RandomState},
    io::{self, Write},
    path::{Path, PathBuf},
    process,
};

/// Links that are followed to files that are not there yet, as the kernel does.
const LINKS_MAX: u32 = 40;

/// Writes JSON beside the file, then renames it. A reader, or a restart after a crash, finds the old
/// file or the new one.
///
/// # Errors
/// [`ChainError::File`].
pub fn write_json(path: &Path, content: &impl Serialize) -> Result<(), ChainError> {
    write(path, &pretty(path, content)?)
}

/// As [`write_json`]. On Unix only the file's owner can read it.
///
/// # Errors
/// [`ChainError::File`].
pub fn write_private_json(path: &Path, content: &impl Serialize) -> Result<(), ChainError> {
    write_private(path, &pretty(path, content)?)
}

fn pretty(path: &Path, content: &impl Serialize) -> Result<Vec<u8>, ChainError> {
    let text = serde_json::to_string_pretty(content).map_err(|error| unusable(path, error))?;
    Ok((text + "\n").into_bytes())
}

/// As [`write_json`], for bytes.
///
/// # Errors
/// [`ChainError::File`].
pub fn write(path: &Path, content: &[u8]) -> Result<(), ChainError> {
    replace(path, content, &shared(), process::id()).map_err(|error| unusable(path, error))
}

/// As [`write`], also while other threads or machines write the same: a process's number is not its own among
/// containers.
///
/// # Errors
/// [`ChainError::File`].
pub fn write_together(path: &Path, content: &[u8]) -> Result<(), ChainError> {
    let own = RandomState::new().build_hasher().finish();
    replace(path, content, &shared(), own).map_err(|error| unusable(path, error))
}

/// As [`write_private_json`], for bytes.
///
/// # Errors
/// [`ChainError::File`].
pub fn write_private(path: &Path, content: &[u8]) -> Result<(), ChainError> {
    let mut options = shared();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    replace(path, content, &options, process::id()).map_err(|error| unusable(path, error))
}

fn shared() -> fs::OpenOptions {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    options
}

/// `own`: a name for the partial file that no other writer uses.
fn replace(
    path: &Path,
    content: &[u8],
    options: &fs::OpenOptions,
    own: impl Display,
) -> io::Result<()> {
    let path = &resolved(path); // through a link, if it is one
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let partial = path.with_extension(format!("json.{own}.partial"));
    let written = write_new(&partial, content, options).and_then(|()| fs::rename(&partial, path));
    if written.is_err() {
        let _ = fs::remove_file(&partial); // a full disk would keep it for ever
    }
    written?;
    fs::File::open(folder)?.sync_all() // else the rename itself may be lost with the power
}

fn write_new(path: &Path, content: &[u8], options: &fs::OpenOptions) -> io::Result<()> {
    let mut file = options.open(path)?;
    file.write_all(content)?;
    file.sync_all()
}

/// The name of a file without links, whether or not it is there: all names of a file have one.
#[must_use]
pub fn resolved(path: &Path) -> PathBuf {
    resolve(path, LINKS_MAX)
}

fn resolve(path: &Path, links_left: u32) -> PathBuf {
    if let Ok(found) = fs::canonicalize(path) {
        return found;
    }
    let folder = match path.parent() {
        Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
        Some(folder) => folder,
        None => return path.to_owned(),
    };
    match (fs::read_link(path), path.file_name()) {
        (Ok(target), _) if links_left > 0 => resolve(&folder.join(target), links_left - 1),
        (_, Some(name)) => resolve(folder, links_left).join(name),
        (_, None) => path.to_owned(),
    }
}

/// Opens a file that exists to be locked, and makes it and its folder if they are missing.
///
/// # Errors
/// [`ChainError::File`].
pub fn open_lock(path: &Path) -> Result<fs::File, ChainError> {
    let open = || {
        fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
        fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
    };
    open().map_err(|error| unusable(path, error))
}

/// Reads the file's content; `None` if there is no such file.
///
/// # Errors
/// [`ChainError::File`] with the place in the file.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, ChainError> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unusable(path, error)),
    };
    let mut reader = serde_json::Deserializer::from_str(&text);
    let content =
        serde_path_to_error::deserialize(&mut reader).map_err(|error| unusable(path, error))?;
    reader.end().map_err(|error| unusable(path, error))?;
    Ok(Some(content))
}

/// Locks the file beside `path` until the answer is dropped, however the process ends: two processes
/// that send from one key would take each other's nonces. A link to `path` has the same lock.
///
/// # Errors
/// [`ChainError::Locked`] if another process holds it.
pub fn lock(path: &Path) -> Result<Lock, ChainError> {
    let lock_path = resolved(path).with_extension("lock");
    let file = open_lock(&lock_path)?;
    file.try_lock().map_err(|_| ChainError::Locked(lock_path))?;
    Ok(Lock(file))
}

/// A lock that this process holds until the value is dropped. It is released explicitly, because a child process that is
/// being started holds a copy of the descriptor, and closing ours alone would keep the file locked until the child runs.
#[derive(Debug)]
pub struct Lock(fs::File);

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = self.0.unlock(); // the process's end does the same
    }
}

/// The error for a file that cannot be used.
pub fn unusable(path: &Path, error: impl ToString) -> ChainError {
    ChainError::File {
        path: path.to_owned(),
        reason: error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_of_a_file_that_could_not_be_written() {
        let folder = tempfile::tempdir().unwrap();
        let taken = folder.path().join("taken.json");
        fs::create_dir_all(taken.join("by a folder")).unwrap();
        assert!(write(&taken, b"{}").is_err());
        let left: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }

    #[test]
    fn a_lock_ends_with_its_holder_whoever_has_a_copy_of_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        let held = lock(&path).unwrap();
        assert!(matches!(lock(&path), Err(ChainError::Locked(_))));
        let _copy = held.0.try_clone().unwrap(); // as a process has it that is being started
        drop(held);
        lock(&path).unwrap();
    }

    /// The file is there, or a link to it, or neither: a link has the lock of what it leads to.
    #[cfg(unix)]
    #[test]
    fn a_file_has_one_lock_whatever_it_is_called() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("data")).unwrap();
        symlink(at("data"), at("linked")).unwrap();
        symlink("data/run.json", at("a.json")).unwrap();
        symlink(at("a.json"), at("b.json")).unwrap();
        let names = ["data/run.json", "linked/run.json", "a.json", "b.json"];
        for is_there in [false, true] {
            for (held, other) in names.iter().flat_map(|it| names.map(|other| (it, other))) {
                let _held = lock(&at(held)).unwrap();
                let error = lock(&at(other)).unwrap_err();
                assert!(
                    matches!(error, ChainError::Locked(_)),
                    "{held}, {other}: {error}"
                );
            }
            assert_eq!(at("data/run.json").exists(), is_there);
            write(&at("b.json"), b"{}").unwrap(); // through both links
        }
        assert!(at("a.json").is_symlink() && at("b.json").is_symlink());
    }

    #[cfg(unix)]
    #[test]
    fn links_in_a_circle_lead_nowhere_and_a_name_in_no_folder_is_one_in_this_folder() {
        let folder = tempfile::tempdir().unwrap();
        let circle = folder.path().join("circle.json");
        std::os::unix::fs::symlink(&circle, &circle).unwrap();
        assert_eq!(resolved(&circle).file_name(), circle.file_name());
        let here = std::env::current_dir().unwrap().canonicalize().unwrap();
        assert_eq!(
            resolved(Path::new("no/such.json")),
            here.join("no/such.json")
        );
        assert_eq!(
            resolved(Path::new("no-such.json")),
            here.join("no-such.json")
        );
    }

    /// The kernel's own answer of a full disk: `/dev/full` has no space left for any byte.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("book.json");
        write(&path, b"old").unwrap();
        let partial = folder
            .path()
            .join(format!("book.json.{}.partial", process::id()));
        std::os::unix::fs::symlink("/dev/full", &partial).unwrap();
        let error = write(&path, b"new").unwrap_err().to_string();
        assert!(error.contains("No space left on device"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        let left: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }
}
