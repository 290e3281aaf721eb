//! The git commit of the sources. It is recorded with what was deployed, and never guessed.
use std::{
    path::Path,
    process::{Command, Stdio},
};

const DIRTY: &str = "-dirty";

/// Returns the commit that is checked out in the folder, with `-dirty` behind it if a file differs or
/// is not committed. The address book itself does not count.
///
/// # Errors
/// Why there is none, in words: no git, or a folder that is not the top of a clone, such as a copy of
/// the sources inside of another repository.
pub fn of(root: &Path) -> Result<String, String> {
    let top = git(root, &["rev-parse", "--show-toplevel"])?;
    let is_top = match (Path::new(&top).canonicalize(), root.canonicalize()) {
        (Ok(top), Ok(root)) => top == root,
        _ => false,
    };
    if !is_top {
        return Err(format!("the sources are not the top of the clone {top}"));
    }
    let commit = git(root, &["rev-parse", "--verify", "HEAD"])?;
    let status = ["status", "--porcelain", "--", ".", ":(exclude)deployments"];
    let dirty = if git(root, &status)?.is_empty() {
        ""
    } else {
        DIRTY
    };
    let commit = format!("{commit}{dirty}");
    if is_one(&commit) {
        Ok(commit)
    } else {
        Err(format!("git names the commit {commit}"))
    }
}

/// Returns whether the text is what [`of`] returns.
#[must_use]
pub fn is_one(text: &str) -> bool {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let digits = text.strip_suffix(DIRTY).unwrap_or(text);
    digits.len() == 40 && digits.bytes().all(is_digit)
}

/// What a plan says of it.
#[must_use]
pub fn note(commit: Result<&str, &str>) -> String {
    match commit {
        Ok(commit) => format!("git commit: {commit}"),
        Err(reason) => format!("git commit: not known, and not recorded: {reason}"),
    }
}

fn git(root: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new("git")
        .arg("-C")
        .arg(root)
        .args(arguments)
        .env_remove("GIT_DIR") // another repository's, in a git hook
        .env_remove("GIT_WORK_TREE")
        .env_remove("GIT_INDEX_FILE")
        .stdin(Stdio::null())
        .output();
    let output = output.map_err(|error| format!("git does not run: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    } else {
        let words = String::from_utf8_lossy(&output.stderr);
        Err(words.lines().next().unwrap_or("git failed").to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A repository with one file in one commit.
    fn repository() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let run = |arguments: &[&str]| git(folder.path(), arguments).unwrap();
        run(&["init", "--quiet"]);
        fs::write(folder.path().join("source"), "1").unwrap();
        run(&["add", "source"]);
        let who = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
        run(&[&who[..], &["commit", "--quiet", "-m", "One"]].concat());
        folder
    }

    fn head(folder: &Path) -> String {
        let head = fs::read_dir(folder.join(".git/refs/heads")).unwrap().next();
        let head = fs::read_to_string(head.unwrap().unwrap().path()).unwrap();
        head.trim().to_owned()
    }

    #[test]
    fn names_the_commit_and_whether_the_tree_differs() {
        let folder = repository();
        let head = head(folder.path());
        assert_eq!(of(folder.path()), Ok(head.clone()));
        // The address book is written by deployments.
        fs::create_dir(folder.path().join("deployments")).unwrap();
        fs::write(folder.path().join("deployments/addresses.json"), "{}").unwrap();
        assert_eq!(of(folder.path()), Ok(head.clone()));
        fs::write(folder.path().join("new"), "").unwrap();
        assert_eq!(of(folder.path()), Ok(format!("{head}-dirty")));
        fs::remove_file(folder.path().join("new")).unwrap();
        fs::write(folder.path().join("source"), "2").unwrap();
        assert_eq!(of(folder.path()), Ok(format!("{head}-dirty")));
    }

    #[test]
    fn a_copy_inside_of_another_repository_has_no_commit() {
        let folder = repository();
        let copy = folder.path().join("copy");
        fs::create_dir(&copy).unwrap();
        let words = of(&copy).unwrap_err();
        assert!(words.contains("not the top of the clone"), "{words}");
    }

    #[test]
    fn without_git_there_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let words = of(folder.path()).unwrap_err();
        assert!(words.contains("not a git repository"), "{words}");
        assert!(note(Err(&words)).contains("not known, and not recorded"));
    }

    #[test]
    fn knows_the_form() {
        let digits = "0123456789abcdef0123456789abcdef01234567";
        assert!(is_one(digits) && is_one(&format!("{digits}-dirty")));
        for other in ["", "unknown", &digits[1..], &digits.to_uppercase()] {
            assert!(!is_one(other), "{other}");
        }
    }
}
