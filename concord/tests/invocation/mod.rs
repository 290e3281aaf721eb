//! Runs the built `concord` binary in the clone's root.

use std::{path::PathBuf, process::Command};

/// What a run of `concord` left behind.
#[derive(Debug)]
pub struct Answer {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

pub fn clone_root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

pub fn concord(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_concord"));
    command.args(arguments).current_dir(clone_root());
    command
}

pub fn answer(command: &mut Command) -> Answer {
    let output = command.output().expect("concord runs");
    Answer {
        code: output.status.code().expect("concord was not killed"),
        stdout: String::from_utf8(output.stdout).expect("stdout is UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("stderr is UTF-8"),
    }
}
