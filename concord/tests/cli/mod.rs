//! What `concord` says and how it exits, above all when something is missing or wrong.
mod agent_files;
mod asking;
mod colours;
mod conform;
mod doctor;
mod explain;
mod files;
mod fuzz;
mod help;
mod init;
mod installed;
mod missing;
mod oracle;
mod places;
mod processes;
mod reviewers;
mod secrets;
mod usage;
mod vectors;

use crate::invocation::{Answer, clone_root, concord};
use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};
use tempfile::TempDir;

/// One short sentence on stderr, nothing on stdout.
fn assert_sentence(answer: &Answer, code: i32, words: &str) {
    assert_eq!(answer.code, code, "{answer:?}");
    assert_eq!(answer.stdout, "");
    assert!(answer.stderr.contains(words), "{}", answer.stderr);
    assert_eq!(answer.stderr.lines().count(), 1, "{}", answer.stderr);
}

fn conform(arguments: &[&str]) -> Command {
    concord(&[&["conform", "--scenario", "identity/register"], arguments].concat())
}

fn folder_with(name: &str, content: &[u8]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(name);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, content).unwrap();
    (folder, file)
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A copy of a committed scenario with one value changed.
fn changed(name: &str, pointer: &str, value: Value) -> (TempDir, PathBuf) {
    let source = clone_root()
        .join("tests/scenarios/identity")
        .join(name)
        .with_extension("json");
    let mut scenario: Value = serde_json::from_str(&fs::read_to_string(source).unwrap()).unwrap();
    let (parent, member) = pointer.rsplit_once('/').unwrap();
    match scenario.pointer_mut(pointer) {
        Some(place) => *place = value,
        None => scenario.pointer_mut(parent).unwrap()[member] = value,
    }
    folder_with("broken/changed.json", scenario.to_string().as_bytes())
}
