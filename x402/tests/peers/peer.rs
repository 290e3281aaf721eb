//! Programs of tests/clients/x402, on Node.
use serde_json::Value;
use std::{
    io::{BufRead, BufReader, Write},
    path::PathBuf,
    process::{Child, Command, Stdio},
};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/clients/x402")
}

/// Installs the pinned packages.
pub fn install() {
    let output = Command::new(folder().join("install")).output().unwrap();
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words}");
}

fn node(script: &str, config: &Value) -> Command {
    let mut command = Command::new("node");
    command.arg(folder().join(script)).arg(config.to_string());
    command
}

/// A service, which ends when this is dropped.
pub struct Peer {
    child: Child,
    pub url: String,
}

impl Peer {
    pub fn start(script: &str, config: &Value) -> Self {
        let mut child = node(script, config)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut url).unwrap();
        assert!(
            url.starts_with("http://127.0.0.1:"),
            "{script} says {url:?}"
        );
        Self {
            child,
            url: url.trim_end().to_owned(),
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a script to its end: the JSON that it prints.
pub async fn run(script: &'static str, config: Value, input: String) -> Value {
    let running = tokio::task::spawn_blocking(move || {
        let mut child = node(script, &config)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let written = child.stdin.take().unwrap().write_all(input.as_bytes());
        written.unwrap();
        child.wait_with_output().unwrap()
    });
    let output = running.await.unwrap();
    assert!(output.status.success(), "{script} failed");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Runs a script that must fail: what it says.
pub async fn refused(script: &'static str, input: String) -> String {
    let running = tokio::task::spawn_blocking(move || {
        let mut child = node(script, &Value::Null)
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let written = child.stdin.take().unwrap().write_all(input.as_bytes());
        written.unwrap();
        child.wait_with_output().unwrap()
    });
    let output = running.await.unwrap();
    assert!(!output.status.success(), "{script} accepts it");
    String::from_utf8_lossy(&output.stderr).into_owned()
}
