//! `concord doctor`.
use super::folder_with;
use crate::invocation::{answer, clone_root, concord};
use serde_json::{Value, json};
use std::{fs, os::unix::fs::PermissionsExt, path::Path};

/// One finding of `concord doctor --json`.
fn finding<'a>(report: &'a Value, name: &str) -> &'a Value {
    let findings = report["findings"].as_array().unwrap();
    findings.iter().find(|it| it["name"] == name).unwrap()
}

#[test]
fn doctor_names_what_is_missing_and_how_to_get_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut bare = concord(&["doctor", "--json"]);
    bare.env("PATH", "/nonexistent")
        .env("CONCORD_CACHE", folder.path());
    let bare = answer(&mut bare);
    assert_eq!((bare.code, bare.stderr.as_str()), (3, ""));
    let report: Value = serde_json::from_str(&bare.stdout).unwrap();
    assert_eq!(report["ok"], false);
    let anvil = finding(&report, "anvil");
    assert_eq!(
        (&anvil["state"], &anvil["advice"]),
        (&json!("missing"), &json!("run scripts/bootstrap"))
    );
    let mut words = concord(&["doctor"]);
    let words = answer(
        words
            .env("PATH", "/nonexistent")
            .env("CONCORD_CACHE", folder.path()),
    );
    for tool in ["solc", "sbpf-linker"] {
        assert_eq!(finding(&report, tool)["state"], "missing");
    }
    assert!(words.stdout.contains("MISSING  node "), "{}", words.stdout);
}

#[test]
fn doctor_tells_another_version_from_the_wanted_one() {
    let (folder, tool) = folder_with("anvil", b"#!/bin/sh\necho anvil Version: 11.7.1-dev\n");
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
    let (_node, node) = folder_with("node", b"#!/bin/sh\necho v20.0.0\n");
    fs::set_permissions(&node, fs::Permissions::from_mode(0o755)).unwrap();
    fs::copy(&node, folder.path().join("node")).unwrap();
    let mut doctor = concord(&["doctor", "--json"]);
    doctor
        .env("PATH", folder.path())
        .env("CONCORD_CACHE", "/nonexistent");
    let report: Value = serde_json::from_str(&answer(&mut doctor).stdout).unwrap();
    assert_eq!(finding(&report, "anvil")["state"], "other_version");
    assert_eq!(finding(&report, "node")["state"], "ok");
    assert_eq!(finding(&report, "rustc")["state"], "missing");
}

#[test]
fn doctor_takes_solana_s_own_tools_where_they_can_build() {
    // In a home of their own; `official` asks for the platform tools' compiler there.
    let version = b"#!/bin/sh\necho solana-cargo-build-sbf 9.9.9\necho platform-tools v1\necho rustc 1.99.0\n";
    let (folder, tool) = folder_with("cargo-build-sbf", version);
    let compiler = folder
        .path()
        .join(".cache/solana/v1/platform-tools/rust/bin");
    fs::create_dir_all(&compiler).unwrap();
    fs::copy(&tool, compiler.join("rustc")).unwrap();
    for tool in [tool, compiler.join("rustc")] {
        fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = format!(
        "{}:{}",
        folder.path().display(),
        std::env::var("PATH").unwrap()
    );
    let doctor = |home: &Path| {
        let mut doctor = concord(&["doctor", "--json"]);
        let answer = answer(doctor.env("PATH", &path).env("HOME", home));
        serde_json::from_str::<Value>(&answer.stdout).unwrap()
    };
    let report = doctor(folder.path());
    let found = &finding(&report, "cargo-build-sbf")["found"];
    assert!(found.as_str().unwrap().contains("9.9.9"), "{found}");
    let empty = tempfile::tempdir().unwrap();
    let report = doctor(empty.path());
    assert!(finding(&report, "sbpf-linker")["wanted"].is_string());
}

#[test]
fn doctor_wants_the_versions_that_bootstrap_installs() {
    let bootstrap = fs::read_to_string(clone_root().join("scripts/bootstrap")).unwrap();
    let pinned = |name: &str| {
        let (_, rest) = bootstrap.split_once(&format!("readonly {name}=")).unwrap();
        rest.lines().next().unwrap().to_owned()
    };
    let doctor = answer(&mut concord(&["doctor", "--json"]));
    let report: Value = serde_json::from_str(&doctor.stdout).unwrap();
    for tool in ["anvil", "forge", "cast"] {
        assert_eq!(finding(&report, tool)["wanted"], pinned("FOUNDRY"));
    }
    let node = format!("{}.0 or newer", pinned("NODE_MINIMUM"));
    assert_eq!(finding(&report, "node")["wanted"], node);
    let solc = finding(&report, "solc");
    assert_eq!(
        (&solc["wanted"], &solc["state"]),
        (&json!(pinned("SOLC")), &json!("ok"))
    );
    let bare = answer(concord(&["doctor", "--json"]).env("PATH", "/nonexistent"));
    let report: Value = serde_json::from_str(&bare.stdout).unwrap();
    let setup = fs::read_to_string(clone_root().join("scripts/toolchain/sbf/setup")).unwrap();
    let (_, rest) = setup.split_once("readonly LINKER_VERSION=").unwrap();
    let linker = finding(&report, "sbpf-linker");
    assert_eq!(linker["wanted"], rest.lines().next().unwrap());
}
