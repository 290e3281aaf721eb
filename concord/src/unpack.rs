//! Embedded files on disk, for everything that reads files: a folder for each content, written whole or not at all.
use super::error::CliError;
use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process,
};

type Files<'a> = &'a [(&'a str, &'a [u8])];

/// The folder NAME of `concord` in the user's cache, with these files and no others. It is written again if
/// something in it has changed.
///
/// # Errors
/// [`CliError::NotUnpacked`].
pub(super) fn folder(name: &str, files: Files<'_>) -> Result<PathBuf, CliError> {
    let cache = cache().ok_or_else(|| CliError::NotUnpacked {
        path: PathBuf::from("~/.cache/concord"),
        fault: io::Error::other("HOME is not set"),
    })?;
    let folder = cache.join("concord").join(name);
    if is_whole(&folder, files) {
        Ok(folder)
    } else {
        replace(&folder, files)
            .map(|()| folder.clone())
            .map_err(|fault| CliError::NotUnpacked {
                path: folder,
                fault,
            })
    }
}

/// XDG_CACHE_HOME, else .cache in HOME. Relative paths do not count (XDG Base Directory Specification 0.8).
fn cache() -> Option<PathBuf> {
    let absolute = |name| {
        let path = env::var_os(name).map(PathBuf::from);
        path.filter(|it| it.is_absolute())
    };
    absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))
}

/// Returns whether the folder has these files with these bytes, and no others.
fn is_whole(folder: &Path, files: Files<'_>) -> bool {
    count(folder).is_ok_and(|count| count == files.len())
        && files
            .iter()
            .all(|(name, bytes)| fs::read(folder.join(name)).is_ok_and(|it| it == *bytes))
}

/// How many things that are not folders are in it, at any depth.
fn count(folder: &Path) -> io::Result<usize> {
    let mut found = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        found += if entry.file_type()?.is_dir() {
            count(&entry.path())?
        } else {
            1
        };
    }
    Ok(found)
}

/// Writes the files beside, then moves the folder into place. Another process may do the same at the same time:
/// whichever comes second finds the first one's folder.
fn replace(folder: &Path, files: Files<'_>) -> io::Result<()> {
    let beside = |word: &str| folder.with_extension(format!("{}.{word}", process::id()));
    let (partial, old) = (beside("partial"), beside("old"));
    let written = write(&partial, files).and_then(|()| {
        if folder.exists() {
            fs::rename(folder, &old)?;
        }
        fs::rename(&partial, folder)
    });
    let _ = fs::remove_dir_all(&old); // either may be missing
    let _ = fs::remove_dir_all(&partial);
    match written {
        Err(_) if is_whole(folder, files) => Ok(()),
        written => written,
    }
}

/// Writes each file to its place in the folder, and makes the folders that it needs.
///
/// # Errors
/// A file cannot be written.
pub(super) fn write(folder: &Path, files: Files<'_>) -> io::Result<()> {
    for (name, bytes) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        fs::write(path, bytes)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: Files<'static> = &[("a/b.json", b"{}"), ("c.so", b"\x7fELF")];

    #[test]
    fn a_folder_is_whole_with_these_files_and_no_others() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("0123");
        assert!(!is_whole(&folder, FILES));
        replace(&folder, FILES).unwrap();
        assert!(is_whole(&folder, FILES));
        fs::write(folder.join("a/other.json"), "{}").unwrap();
        assert!(!is_whole(&folder, FILES), "one too many");
        replace(&folder, FILES).unwrap();
        assert!(is_whole(&folder, FILES));
        fs::write(folder.join("c.so"), "\x7fELG").unwrap();
        assert!(!is_whole(&folder, FILES), "another content");
        replace(&folder, FILES).unwrap();
        fs::remove_file(folder.join("c.so")).unwrap();
        assert!(!is_whole(&folder, FILES), "one is missing");
        replace(&folder, FILES).unwrap();
        let beside = fs::read_dir(folder.parent().unwrap()).unwrap().count();
        assert_eq!(beside, 1, "nothing is left beside it");
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_an_error() {
        assert!(replace(Path::new("/proc/concord/0123"), FILES).is_err());
    }
}
