//! The built program, run.
use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
    process::Child,
};

/// What a run left behind.
#[derive(Debug)]
pub struct Answer {
    /// `None`: it was killed.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

pub fn clone_root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

pub fn json_file(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

pub fn answer(child: Child) -> Answer {
    let output = child.wait_with_output().unwrap();
    Answer {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

impl Answer {
    pub fn assert_done(&self) -> &Self {
        assert_eq!(self.code, Some(0), "{}{}", self.stdout, self.stderr);
        self
    }

    /// One sentence on stderr, nothing on stdout.
    pub fn assert_refused(&self, code: i32, words: &str) {
        assert_eq!(self.code, Some(code), "{}{}", self.stdout, self.stderr);
        assert!(self.stderr.contains(words), "{}", self.stderr);
        assert_eq!(self.stderr.lines().count(), 1, "{}", self.stderr);
        assert_eq!(self.stdout, "");
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap()
    }
}
