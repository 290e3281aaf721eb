//! The README's paid, signed, rated call: its commands are run as they are written there, with the
//! `concord` and the weather agent of this build. Needs what `scripts/build` makes, and anvil.
use std::{
    env, fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

const HEADING: &str = "## A paid, signed, rated call";
const START: &str = "cargo run -q --bin weather-agent";
const ALIAS: &str = "alias concord='cargo run -q --bin concord --'\n";

/// The shell blocks of that section: what starts the agent, and what the buyer does.
fn blocks() -> Vec<String> {
    let readme = fs::read_to_string(clone_root().join("README.md")).unwrap();
    let purchase = readme.split(HEADING).nth(1).expect(HEADING);
    let purchase = purchase.split("\n## ").next().unwrap();
    let blocks = purchase.split("```sh\n").skip(1);
    blocks
        .map(|it| it.split("```").next().unwrap().to_owned())
        .collect()
}

fn clone_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Where the built `concord` is: beside the built agent. `cargo test --workspace` builds it; so does
/// `--test cli` beside `--test paid_call`.
fn binaries() -> PathBuf {
    let agent = Path::new(env!("CARGO_BIN_EXE_weather-agent"));
    let concord = agent.with_file_name("concord");
    assert!(concord.is_file(), "{} is not built", concord.display());
    agent.parent().unwrap().to_owned()
}

/// Ends when it is dropped, and anvil with it.
struct Running(Child);

impl Running {
    fn start() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_weather-agent"))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let stdout = child.stdout.take().unwrap();
        BufReader::new(stdout).read_line(&mut line).unwrap();
        let running = Self(child);
        assert!(line.contains("the weather agent answers at"), "{line:?}");
        running
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let id = self.0.id().to_string();
        let _ = Command::new("kill").args(["-TERM", &id]).status();
        let _ = self.0.wait();
    }
}

#[test]
fn every_command_of_the_story_runs_as_it_is_written() {
    let blocks = blocks();
    let [start, purchase] = &blocks[..] else {
        panic!("{blocks:?}");
    };
    assert_eq!(start.trim(), START);
    let purchase = purchase.strip_prefix(ALIAS).expect("the alias");
    let _running = Running::start();
    let path = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths([binaries()].into_iter().chain(env::split_paths(&path))).unwrap();
    let script = format!("set -e\n{purchase}");
    let ran = Command::new("bash")
        .args(["-c", &script])
        .env("PATH", path)
        .current_dir(clone_root())
        .output()
        .unwrap();
    assert!(ran.status.success(), "{ran:?}");
    let [stdout, stderr] = [ran.stdout, ran.stderr].map(|it| String::from_utf8(it).unwrap());
    let paid = "london: verified, status 200 OK; the payment settled in 0x";
    assert!(stdout.contains(paid), "{stdout}");
    assert!(stdout.contains("S11       verified"));
    let after = |label: &str| -> Vec<String> {
        let lines = stdout.lines().filter_map(|it| it.strip_prefix(label));
        lines.map(|it| it.trim().to_owned()).collect()
    };
    let (hashes, on_chain) = (after("file hash "), after("on chain "));
    assert_eq!(hashes, on_chain, "file hash = on-chain hash");
    let [first, second] = &hashes[..] else {
        panic!("{}", stdout);
    };
    let mut expected = [first.clone(), second.clone()];
    let mut checked = after("hash ");
    expected.sort();
    checked.sort();
    assert_eq!(checked, expected, "`file check` hashes the files on disk");
    assert!(stdout.contains("feedback, dialect x402-8004-reputation"));
    let key = fs::read_to_string(clone_root().join("target/weather-agent/env")).unwrap();
    let key = key.split("CONCORD_EVM_PRIVATE_KEY='").nth(1).unwrap();
    let key = key.split('\'').next().unwrap();
    assert!(
        !stdout.contains(key) && !stderr.contains(key),
        "no secret is printed"
    );
}
