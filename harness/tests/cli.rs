//! What `concord` says and how it exits, above all when something is missing or wrong.
mod invocation;

use invocation::{Answer, answer, clone_root, concord};
use serde_json::{Value, json};
use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Child, ChildStderr, Command, Stdio},
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
    *scenario.pointer_mut(pointer).unwrap() = value;
    folder_with("spoilt/changed.json", scenario.to_string().as_bytes())
}

#[test]
fn a_missing_anvil_is_exit_code_3() {
    let mut bare = conform(&["--backend", "evm-anvil"]);
    bare.env("PATH", "/nonexistent").env_remove("CONCORD_ANVIL");
    assert_sentence(
        &answer(&mut bare),
        3,
        "anvil not found on PATH: run scripts/bootstrap",
    );
    let mut named = conform(&["--backend", "evm-anvil", "--anvil", "/nonexistent/anvil"]);
    assert_sentence(
        &answer(&mut named),
        3,
        "anvil not found at /nonexistent/anvil",
    );
    let mut by_variable = conform(&["--backend", "evm-anvil"]);
    by_variable.env("CONCORD_ANVIL", "/nonexistent/other");
    assert_sentence(
        &answer(&mut by_variable),
        3,
        "anvil not found at /nonexistent/other",
    );
}

#[test]
fn a_script_in_anvil_s_place_is_exit_code_3() {
    let (_folder, script) = folder_with("anvil", b"#!/bin/sh\nexit 0\n");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = conform(&["--backend", "evm-anvil", "--anvil", text(&script)]);
    assert_sentence(&answer(&mut command), 3, "is a script, not anvil itself");
}

#[test]
fn a_missing_or_unreadable_artifact_is_exit_code_3() {
    let (folder, file) = folder_with("IdentityRegistry.sol/IdentityRegistry.json", b"{}");
    let with = |path: &Path| {
        answer(&mut conform(&[
            "--backend",
            "evm-anvil",
            "--artifacts",
            text(path),
        ]))
    };
    assert_sentence(
        &with(folder.path()),
        3,
        "bytecode.object is not text; run scripts/build",
    );
    fs::remove_file(&file).unwrap();
    let missing = with(folder.path());
    assert_sentence(
        &missing,
        3,
        "IdentityRegistry.json not found: run scripts/build",
    );
}

#[test]
fn a_missing_or_unusable_program_is_exit_code_3() {
    let (folder, file) = folder_with("agent_registry.so", b"not an ELF");
    let with = |path: &Path| {
        answer(&mut conform(&[
            "--backend",
            "svm-litesvm",
            "--program",
            text(path),
        ]))
    };
    assert_sentence(&with(&file), 3, "agent_registry.so does not load");
    let missing = with(&folder.path().join("none.so"));
    assert_sentence(&missing, 3, "none.so not found: run scripts/build");
}

#[test]
fn a_malformed_scenario_is_exit_code_2_and_named_with_its_path() {
    let (_folder, file) = changed("register", "/steps/0/do/register/by", json!(7));
    let words = "changed.json: steps[0].do.register.by: invalid type: integer `7`";
    assert_sentence(
        &answer(&mut concord(&["conform", "--scenario", text(&file)])),
        2,
        words,
    );
    let (_folder, file) = folder_with("text.json", b"{ not json");
    let words = "text.json: ";
    assert_sentence(
        &answer(&mut concord(&["conform", "--scenario", text(&file)])),
        2,
        words,
    );
}

#[test]
fn an_unknown_scenario_backend_or_option_is_exit_code_2() {
    let unknown = answer(&mut concord(&["conform", "--scenario", "no-such-story"]));
    assert_sentence(&unknown, 2, "scenario no-such-story not found");
    for arguments in [
        &["conform", "--backend", "evm-besu"][..],
        &["conform", "--jsn"],
        &["conform", "--verbose", "--json"],
        &["conform", "--adapter", "true"],
        &["conform", "--adapter-chain", "evm"],
        &["conform", "--adapter", "true", "--adapter-chain", "near"],
        &["fill", "--json"],
        &["perform"],
        &[],
    ] {
        let answer = answer(&mut concord(arguments));
        assert_eq!(
            (answer.code, answer.stdout.as_str()),
            (2, ""),
            "{arguments:?}"
        );
        assert!(!answer.stderr.is_empty());
    }
}

/// The processes that `parent` has started and that still run.
fn children(parent: u32) -> Vec<String> {
    let file = format!("/proc/{parent}/task/{parent}/children");
    let list = fs::read_to_string(file).unwrap();
    list.split_whitespace().map(str::to_owned).collect()
}

/// A run on anvil that has played its first scenario, and the process ids of what it started.
fn started_on_anvil() -> (Child, BufReader<ChildStderr>, Vec<String>) {
    let mut run = concord(&["conform", "--backend", "evm-anvil"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut progress = BufReader::new(run.stderr.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("evm-anvil") {
        line.clear();
        let read = progress.read_line(&mut line).unwrap();
        assert_ne!(read, 0, "the run ended early");
    }
    let started = children(run.id());
    assert!(!started.is_empty());
    (run, progress, started)
}

#[test]
fn an_anvil_that_dies_in_mid_run_is_exit_code_3() {
    let (run, mut progress, started) = started_on_anvil();
    for process in started {
        let kill = Command::new("kill").args(["-KILL", &process]).status();
        assert!(kill.unwrap().success());
    }
    let mut rest = String::new();
    progress.read_to_string(&mut rest).unwrap();
    let output = run.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{rest}");
    assert_eq!(output.stdout, b"");
    let last = rest.lines().last().unwrap();
    let words = "concord: evm-anvil stopped answering in scenario ";
    assert!(last.starts_with(words), "{rest}");
}

#[test]
fn a_run_leaves_no_process_behind() {
    let (run, mut progress, started) = started_on_anvil();
    progress.read_to_string(&mut String::new()).unwrap();
    assert_eq!(run.wait_with_output().unwrap().status.code(), Some(0));
    for process in started {
        assert!(!Path::new("/proc").join(&process).exists(), "{process}");
    }
}

#[test]
fn outside_a_clone_is_exit_code_2() {
    let folder = tempfile::tempdir().unwrap();
    let lost = answer(concord(&["conform"]).current_dir(folder.path()));
    assert_sentence(&lost, 2, "no folder tests/scenarios here or above");
}

#[test]
fn help_lists_the_exit_codes_and_examples() {
    for command in [
        "conform",
        "fill",
        "lint",
        "doctor",
        "oracle",
        "completions",
        "man",
    ] {
        let help = answer(&mut concord(&[command, "--help"])).stdout;
        assert!(help.contains("Examples:"), "{help}");
    }
    for arguments in [&["--help"][..], &["conform", "--help"]] {
        let answer = answer(&mut concord(arguments));
        assert_eq!((answer.code, answer.stderr.as_str()), (0, ""));
        for code in [
            "0  every",
            "1  a participant",
            "2  the command line",
            "3  a tool",
        ] {
            assert!(answer.stdout.contains(code), "{}", answer.stdout);
        }
    }
}

#[test]
fn one_backend_alone_runs_without_the_other_s_tools() {
    let mut command = conform(&["--backend", "svm-litesvm", "--json"]);
    command
        .env("PATH", "/nonexistent")
        .env_remove("CONCORD_ANVIL");
    let answer = answer(&mut command);
    assert_eq!(answer.code, 0, "{}", answer.stderr);
    let report: Value = serde_json::from_str(&answer.stdout).expect("stdout is one JSON value");
    assert_eq!(report["participants"], json!(["model", "svm-litesvm"]));
    assert_eq!(report["matrix"]["R2"]["svm-litesvm"]["passed"], 1);
}

#[test]
fn a_stale_digest_is_exit_code_1_and_names_everybody() {
    let digest = json!(format!("0x{}", "0".repeat(64)));
    let (_folder, file) = changed("register", "/steps/0/expect/digest", digest);
    let arguments = [
        "conform",
        "--backend",
        "svm-litesvm",
        "--scenario",
        text(&file),
    ];
    let answer = answer(&mut concord(&arguments));
    assert_eq!(answer.code, 1, "{}", answer.stderr);
    let report = answer.stdout;
    assert!(report.contains("FAILED model: spoilt/changed step 1 (register; R1 R2 R3)\n  state"));
    assert!(
        report.contains("FAILED svm-litesvm: spoilt/changed step 1 (register; R1 R2 R3)\n  state")
    );
    assert!(
        report.ends_with("1 scenario: wrong: model, svm-litesvm\n"),
        "{report}"
    );
}

#[test]
fn filling_writes_the_model_s_expectations_only() {
    let source = clone_root().join("tests/scenarios/identity/register.json");
    let (_folder, file) = changed("register", "/steps/0/expect/events", json!([]));
    let filled = answer(&mut concord(&["fill", text(&file)]));
    assert_eq!(
        (filled.code, filled.stdout.as_str()),
        (0, ""),
        "{}",
        filled.stderr
    );
    assert_eq!(fs::read(&file).unwrap(), fs::read(source).unwrap());
}

#[test]
fn filling_leaves_a_file_alone_whose_outcome_is_not_the_model_s() {
    let (_folder, file) = changed("register", "/steps/0/expect/outcome", json!("ReservedKey"));
    let before = fs::read(&file).unwrap();
    let refused = answer(&mut concord(&["fill", text(&file)]));
    assert_sentence(&refused, 2, "the file says ReservedKey, the model says ok");
    assert_eq!(fs::read(&file).unwrap(), before);
}

#[test]
fn lint_finds_nothing_in_a_file_as_fill_leaves_it() {
    let clean = answer(&mut concord(&["lint", "identity/register"]));
    assert_eq!((clean.code, clean.stdout.as_str()), (0, ""), "{clean:?}");
}

#[test]
fn lint_names_each_file_that_is_not_as_it_should_be() {
    let digest = json!(format!("0x{}", "0".repeat(64)));
    let (_stale, stale) = changed("register", "/steps/0/expect/digest", digest);
    let (_wrong, wrong) = changed("register", "/steps/0/expect/outcome", json!("ReservedKey"));
    let (_shape, shape) = changed("register", "/actors", json!(["Alice"]));
    let found = answer(&mut concord(&[
        "lint",
        text(&stale),
        text(&wrong),
        text(&shape),
    ]));
    assert_eq!(found.code, 2, "{found:?}");
    let lines: Vec<_> = found.stdout.lines().collect();
    assert_eq!(lines.len(), 3, "{lines:#?}");
    assert!(lines[0].contains("changed.json: steps[0]: is not what the model comes to"));
    assert!(lines[1].contains("the file says ReservedKey, the model says ok"));
    assert!(lines[2].contains("changed.json: actors[0]: `Alice` is no label"));
}

#[test]
fn lint_of_a_clone_names_each_rule_that_no_scenario_shows() {
    let folder = tempfile::tempdir().unwrap();
    let area = folder.path().join("tests/scenarios/identity");
    fs::create_dir_all(&area).unwrap();
    let name = "transfer-by-stranger.json";
    let source = clone_root().join("tests/scenarios/identity").join(name);
    fs::copy(source, area.join(name)).unwrap();
    let found = answer(concord(&["lint"]).current_dir(folder.path()));
    assert_eq!(found.code, 2, "{found:?}");
    let lines: Vec<_> = found.stdout.lines().collect();
    for gap in [
        "R8: no scenario shows it holding (in an accepted step)",
        "R8: no scenario shows it refusing (in a refused step)",
        "R14: no scenario shows it holding (in an accepted step)",
        "R3: no scenario shows it refusing (in a refused step)",
    ] {
        assert!(lines.contains(&gap), "{lines:#?}");
    }
    for shown in [
        "R4:",
        "R3: no scenario shows it holding",
        "R14: no scenario shows it refusing",
    ] {
        assert!(!found.stdout.contains(shown), "{lines:#?}");
    }
}

#[test]
fn a_filter_that_leaves_nothing_is_exit_code_2() {
    let none = answer(&mut concord(&["conform", "--filter", "no-such-story"]));
    assert_sentence(&none, 2, "no scenario has `no-such-story` in its name");
}

#[test]
fn a_filter_takes_a_part_of_a_name_or_a_rule() {
    let names = |filter: &str| {
        let arguments = ["conform", "--backend", "none", "--json", "--filter", filter];
        let answer = answer(&mut concord(&arguments));
        assert_eq!(answer.code, 0, "{}", answer.stderr);
        let report: Value = serde_json::from_str(&answer.stdout).unwrap();
        let scenarios = report["scenarios"].as_array().unwrap().clone();
        let name = |it: &Value| it["name"].as_str().unwrap().to_owned();
        scenarios.iter().map(name).collect::<Vec<_>>()
    };
    let by_name = names("transfer-cl");
    assert_eq!(by_name, ["identity/transfer-clears-wallet"]);
    let by_rule = names("R2");
    assert!(
        by_rule.contains(&"identity/register".to_owned()),
        "{by_rule:?}"
    );
    assert!(!by_rule.contains(&"identity/transfer-clears-wallet".to_owned()));
}

#[test]
fn a_report_that_cannot_be_written_is_exit_code_2() {
    for option in ["--html", "--junit"] {
        let place = "/nonexistent/report";
        let mut command = conform(&["--backend", "none", option, place]);
        let refused = answer(&mut command);
        assert_eq!((refused.code, refused.stdout.as_str()), (2, ""));
        let words = "concord: /nonexistent/report cannot be written: No such file";
        assert!(refused.stderr.contains(words), "{}", refused.stderr);
    }
}

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

#[test]
fn completions_and_manual_page_are_written_to_stdout() {
    for shell in ["bash", "zsh", "fish"] {
        let script = answer(&mut concord(&["completions", shell]));
        assert_eq!(script.code, 0);
        assert!(script.stdout.contains("adapter-chain"), "{shell}");
    }
    let unknown = answer(&mut concord(&["completions", "command.com"]));
    assert_eq!((unknown.code, unknown.stdout.as_str()), (2, ""));
    let page = answer(&mut concord(&["man"]));
    assert_eq!(page.code, 0);
    assert!(page.stdout.contains(".TH concord 1"), "{}", page.stdout);
}

#[test]
fn the_oracle_answers_on_stdout() {
    let mut child = concord(&["oracle"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let request = br#"{"id":1,"fn":"keccak256","data":"0x"}"#;
    child.stdin.take().unwrap().write_all(request).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let of_nothing = "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470";
    assert_eq!(answer, json!({"id": 1, "ok": of_nothing}));
}
