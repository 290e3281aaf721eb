//! `concord` without a clone, as an installed one runs. A debug build carries scenarios and vectors, and nothing
//! that is built; tests/installed/run has the tests of one that carries everything.
use super::assert_sentence;
use crate::invocation::{Answer, answer, clone_root, concord};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};
use tempfile::TempDir;

/// An empty folder to run in, and a home, neither of them in a clone.
struct Elsewhere {
    here: TempDir,
    home: TempDir,
}

impl Elsewhere {
    fn new() -> Self {
        let [here, home] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        Self { here, home }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = concord(arguments);
        command
            .current_dir(self.here.path())
            .env("HOME", self.home.path())
            .env_remove("XDG_CACHE_HOME");
        command
    }

    fn run(&self, arguments: &[&str]) -> Answer {
        answer(&mut self.command(arguments))
    }

    /// What it unpacked: one folder.
    fn unpacked(&self) -> PathBuf {
        let cache = self.home.path().join(".cache/concord");
        let folders: Vec<_> = fs::read_dir(cache)
            .unwrap()
            .map(|it| it.unwrap().path())
            .collect();
        let [folder] = &folders[..] else {
            panic!("{folders:?}");
        };
        folder.clone()
    }
}

const MODEL: [&str; 5] = ["conform", "--backend", "none", "--json", "--filter"];

fn count_of(answer: &Answer) -> usize {
    assert_eq!(answer.code, 0, "{answer:?}");
    let report: Value = serde_json::from_str(&answer.stdout).unwrap();
    assert_eq!(report["participants"], json!(["model"]));
    report["scenarios"].as_array().unwrap().len()
}

/// Every file below, by its path from there.
fn files_below(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap();
                found.insert(name.to_str().unwrap().to_owned(), fs::read(&path).unwrap());
            }
        }
    }
    found
}

fn assert_same(found: &BTreeMap<String, Vec<u8>>, expected: &BTreeMap<String, Vec<u8>>) {
    assert!(found.keys().eq(expected.keys()), "{:?}", found.keys());
    for (name, bytes) in expected {
        assert!(found[name] == *bytes, "{name}");
    }
}

#[test]
fn scenarios_are_played_without_a_clone() {
    let elsewhere = Elsewhere::new();
    let filter = [&MODEL[..], &["identity/"]].concat();
    let played = count_of(&elsewhere.run(&filter));
    assert_eq!(played, count_of(&answer(&mut concord(&filter))));
    assert!(played > 10, "{played}");
    assert!(
        elsewhere
            .unpacked()
            .join("tests/vectors/jcs.json")
            .is_file()
    );
}

#[test]
fn what_was_unpacked_and_then_changed_is_unpacked_again() {
    let elsewhere = Elsewhere::new();
    let filter = [&MODEL[..], &["identity/register"]].concat();
    let played = count_of(&elsewhere.run(&filter));
    let area = elsewhere.unpacked().join("tests/scenarios/identity");
    let (file, stray) = (area.join("register.json"), area.join("register-stray.json"));
    let original = fs::read(&file).unwrap();
    fs::write(&file, "{}").unwrap();
    fs::copy(area.join("transfer-by-stranger.json"), &stray).unwrap();
    assert_eq!(count_of(&elsewhere.run(&filter)), played);
    assert_eq!(elsewhere.unpacked().join("tests/scenarios/identity"), area);
    assert_eq!(fs::read(&file).unwrap(), original);
    assert!(!stray.exists());
}

#[test]
fn the_cache_folder_is_chosen_by_xdg_cache_home() {
    let elsewhere = Elsewhere::new();
    let filter = [&MODEL[..], &["identity/register"]].concat();
    let cache = tempfile::tempdir().unwrap();
    let mut command = elsewhere.command(&filter);
    count_of(&answer(command.env("XDG_CACHE_HOME", cache.path())));
    assert!(cache.path().join("concord").is_dir());
    assert!(!elsewhere.home.path().join(".cache").exists());
    let mut refused = elsewhere.command(&filter);
    let refused = answer(refused.env("XDG_CACHE_HOME", "/proc"));
    assert_sentence(
        &refused,
        3,
        "set XDG_CACHE_HOME to a folder that you may write to",
    );
}

#[test]
fn a_build_without_registries_says_how_to_get_one_with_them() {
    let elsewhere = Elsewhere::new();
    let version = elsewhere.run(&["--version"]).stdout;
    assert!(
        version.contains("contracts  not in this build\n"),
        "{version}"
    );
    let filter = ["conform", "--filter", "identity/register"];
    let words = "contracts/out is not in this build of concord";
    assert_sentence(&elsewhere.run(&filter), 3, words);
    let on_solana = [&filter[..], &["--backend", "svm-litesvm"]].concat();
    let words = "target/deploy/agent_registry.so is not in this build of concord";
    assert_sentence(&elsewhere.run(&on_solana), 3, words);
    let doctor = elsewhere.run(&["doctor", "--json"]);
    assert_eq!(doctor.code, 3, "{doctor:?}");
    let report: Value = serde_json::from_str(&doctor.stdout).unwrap();
    let state = |name: &str| {
        let findings = report["findings"].as_array().unwrap();
        findings.iter().find(|it| it["name"] == name).unwrap()["state"].clone()
    };
    assert_eq!(state("scenarios in this build"), "ok");
    assert_eq!(state("program in this build"), "missing");
    assert_eq!(state("page in this build"), "optional");
}

#[test]
fn a_named_registry_is_used_without_a_clone() {
    let elsewhere = Elsewhere::new();
    let contracts = fs::canonicalize(clone_root().join("contracts/out")).unwrap();
    let filter = ["conform", "--filter", "identity/register", "--json"];
    let named = [
        "--backend",
        "evm-revm",
        "--artifacts",
        contracts.to_str().unwrap(),
    ];
    let answer = elsewhere.run(&[&filter[..], &named].concat());
    assert_eq!(answer.code, 0, "{answer:?}");
    let report: Value = serde_json::from_str(&answer.stdout).unwrap();
    assert_eq!(report["participants"], json!(["model", "evm-revm"]));
}

#[test]
fn the_version_names_what_is_carried_and_its_hash() {
    let version = answer(&mut concord(&["--version"])).stdout;
    let mut lines = version.lines();
    assert_eq!(
        lines.next(),
        Some(concat!("concord ", env!("CARGO_PKG_VERSION")))
    );
    let folder = clone_root().join("tests/scenarios");
    let mut text = Vec::new();
    let files = files_below(&folder);
    for (name, bytes) in &files {
        text.extend(format!("tests/scenarios/{name}\0").as_bytes());
        text.extend((bytes.len() as u64).to_be_bytes());
        text.extend(bytes);
    }
    let hash = hex::encode(Sha256::digest(&text));
    let expected = format!("scenarios  {} files, sha256 {hash}", files.len());
    assert_eq!(lines.next(), Some(&*expected), "{version}");
}

#[test]
fn scenarios_are_not_written_into_what_was_unpacked() {
    let elsewhere = Elsewhere::new();
    for fill in [&["fill"][..], &["fill", "identity/register"]] {
        assert_sentence(&elsewhere.run(fill), 2, "no clone of Concord here or above");
    }
}

#[test]
fn exported_scenarios_are_those_of_the_clone() {
    let committed = files_below(&clone_root().join("tests/scenarios"));
    let elsewhere = Elsewhere::new();
    let exported = elsewhere.run(&["scenarios", "export", "out"]);
    assert_eq!(
        (exported.code, exported.stdout.as_str()),
        (0, ""),
        "{exported:?}"
    );
    assert_same(&files_below(&elsewhere.here.path().join("out")), &committed);
    let again = elsewhere.run(&["scenarios", "export", "out"]);
    assert_sentence(&again, 2, "out exists: nothing is overwritten");
    let folder = elsewhere.here.path().join("from-clone");
    let in_clone = answer(&mut concord(&[
        "scenarios",
        "export",
        folder.to_str().unwrap(),
    ]));
    assert_eq!(in_clone.code, 0, "{in_clone:?}");
    assert_same(&files_below(&folder), &committed);
    let refused = elsewhere.run(&["scenarios", "export", "/proc/concord"]);
    assert_sentence(&refused, 2, "/proc/concord cannot be written");
}

#[test]
fn a_folder_of_scenarios_in_another_project_is_no_clone() {
    let elsewhere = Elsewhere::new();
    fs::create_dir_all(elsewhere.here.path().join("tests/scenarios/login")).unwrap();
    let filter = [&MODEL[..], &["identity/register"]].concat();
    assert!(count_of(&elsewhere.run(&filter)) > 0);
}
