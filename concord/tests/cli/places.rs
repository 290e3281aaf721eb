//! Files, folders and pipes that are not what a command expects.
use super::{assert_sentence, changed, folder_with, text};
use crate::invocation::{answer, clone_root, concord};
use serde_json::{Value, json};
use std::{
    fs,
    io::pipe,
    os::unix::fs::symlink,
    path::Path,
    process::{Command, Stdio},
};

/// Runs with a stdout that nobody reads any more: the exit code, and what stderr has.
fn unread(command: &mut Command) -> (i32, String) {
    let (reader, writer) = pipe().unwrap();
    drop(reader);
    let output = command
        .stdout(writer)
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    (output.status.code().expect("no signal ends it"), said)
}

#[test]
fn a_closed_pipe_changes_no_exit_code() {
    let registration = json!({
        "type": "https://eips.ethereum.org/EIPS/eip-8004#registration-v1",
        "name": "Weather", "description": "tells it", "image": "https://agent.example/a.png"
    });
    let (_folder, file) = folder_with("registration.json", registration.to_string().as_bytes());
    let commands = [
        "man",
        "--help",
        "--version",
        "completions bash",
        "adapter schema",
        "aggregator schema",
        "conform --backend none --scenario identity/register",
        "conform --backend none --scenario identity/register --json",
        "fuzz --backend none --steps 200 --seed 7",
        "vectors run --function x402_tag -- CONCORD oracle",
        "lint identity/register",
        "file hash FILE",
        "file convert FILE",
    ];
    for command in commands {
        let words = command.split(' ').map(|word| match word {
            "FILE" => text(&file),
            "CONCORD" => env!("CARGO_BIN_EXE_concord"),
            word => word,
        });
        let words: Vec<_> = words.collect();
        let (code, said) = unread(&mut concord(&words));
        assert_eq!(code, 0, "{command}: {said}");
        assert!(!said.contains("panicked"), "{command}: {said}");
    }
    let digest = json!(format!("0x{}", "0".repeat(64)));
    let (_folder, file) = changed("register", "/steps/0/expect/digest", digest);
    let differs = ["conform", "--backend", "none", "--scenario", text(&file)];
    assert_eq!(unread(&mut concord(&differs)).0, 1);
}

#[test]
fn a_full_device_is_an_error_but_hides_no_disagreement() {
    let digest = json!(format!("0x{}", "0".repeat(64)));
    let (_folder, file) = changed("register", "/steps/0/expect/digest", digest);
    let differs = ["conform", "--backend", "none", "--scenario", text(&file)];
    let agrees = [
        "conform",
        "--backend",
        "none",
        "--scenario",
        "identity/register",
    ];
    for (arguments, code) in [(differs, 1), (agrees, 2)] {
        for option in ["--json-file", "--html", "--junit"] {
            let full = [&arguments[..], &[option, "/dev/full"]].concat();
            let full = answer(&mut concord(&full));
            assert_eq!(full.code, code, "{full:?}");
            let words = "concord: /dev/full cannot be written: No space left on device";
            assert!(full.stderr.contains(words), "{full:?}");
            assert!(full.stdout.contains("1 scenario: "), "{full:?}");
        }
        let device = fs::File::options().write(true).open("/dev/full").unwrap();
        let output = concord(&arguments).stdout(device).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{output:?}");
    }
}

#[test]
fn two_spellings_of_one_report_are_exit_code_2_and_replace_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    fs::create_dir(place("reports")).unwrap();
    symlink(place("reports"), place("link")).unwrap();
    fs::write(place("reports/old"), "kept").unwrap();
    symlink(place("reports/old"), place("other")).unwrap();
    for (html, junit) in [
        ("reports/run", "reports/run"),
        ("reports/run", "reports/./run"),
        ("reports/run", "reports/../reports/run"),
        ("reports/run", "link/run"),
        ("reports/old", "other"),
    ] {
        let root = fs::canonicalize(clone_root()).unwrap();
        let scenario = root.join("tests/scenarios/identity/register.json");
        let mut named = concord(&[
            "conform",
            "--backend",
            "none",
            "--scenario",
            text(&scenario),
        ]);
        named.args(["--html", html, "--junit", junit]);
        let refused = answer(named.current_dir(folder.path()));
        assert_sentence(
            &refused,
            2,
            &format!("--html and --junit both name {html}: two reports"),
        );
        assert!(!place("reports/run").exists());
        assert_eq!(fs::read_to_string(place("reports/old")).unwrap(), "kept");
    }
}

/// A committed scenario under another name.
fn named(name: &str) -> (tempfile::TempDir, std::path::PathBuf) {
    let source = clone_root().join("tests/scenarios/identity/register.json");
    folder_with(name, &fs::read(source).unwrap())
}

#[test]
fn no_escape_byte_of_a_file_name_reaches_the_terminal() {
    let (_folder, file) = named("\u{1b}[31mred/\u{1b}]0;title\u{7}.json");
    let folder = tempfile::tempdir().unwrap();
    let html = folder.path().join("report.html");
    let (_broken, broken) = folder_with("\u{1b}[2J.json", b"{");
    for (arguments, code) in [
        (
            &[
                "conform",
                "--backend",
                "none",
                "--html",
                text(&html),
                "--scenario",
                text(&file),
            ][..],
            0,
        ),
        (
            &[
                "conform",
                "--backend",
                "none",
                "--verbose",
                "--scenario",
                text(&file),
            ],
            0,
        ),
        (
            &[
                "conform",
                "--backend",
                "none",
                "--json",
                "--scenario",
                text(&file),
            ],
            0,
        ),
        (&["fill", text(&file)], 0),
        (&["lint", text(&file)], 0),
        (&["lint", text(&broken)], 2),
        (&["fill", text(&broken)], 2),
        (&["conform", "--scenario", text(&broken)], 2),
        (&["conform", "--scenario", "\u{1b}[31mnone"], 2),
        (&["file", "check", text(&broken)], 1),
        (
            &[
                "conform",
                "--backend",
                "none",
                "--html",
                "/nonexistent/\u{1b}[31m",
            ],
            2,
        ),
    ] {
        let run = answer(&mut concord(arguments));
        assert_eq!(run.code, code, "{arguments:?}: {run:?}");
        for shown in [&run.stdout, &run.stderr] {
            assert!(
                !shown.contains(['\u{1b}', '\u{7}']),
                "{arguments:?}: {shown:?}"
            );
        }
    }
    let report = fs::read_to_string(&html).unwrap();
    assert!(!report.contains('\u{1b}'));
}

#[test]
fn a_scenario_that_is_named_without_a_folder_has_its_own_name() {
    let (folder, _) = named("register.json");
    let alone = [
        "conform",
        "--backend",
        "none",
        "--json",
        "--scenario",
        "register.json",
    ];
    let run = answer(concord(&alone).current_dir(folder.path()));
    assert_eq!(run.code, 0, "{run:?}");
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report["scenarios"][0]["name"], "register");
    assert!(run.stderr.ends_with(" register\n"), "{run:?}");
}

/// Every entry below a folder.
fn entries(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let names = entries.map(|it| it.unwrap().file_name().into_string().unwrap());
    names.collect()
}

#[test]
fn a_run_of_the_fuzzer_outside_a_clone_leaves_nothing_that_looks_like_one() {
    let folder = tempfile::tempdir().unwrap();
    let fuzz = ["fuzz", "--backend", "none", "--steps", "200", "--seed", "7"];
    let run = answer(concord(&fuzz).current_dir(folder.path()));
    assert_eq!(run.code, 0, "{run:?}");
    assert!(
        !folder.path().join("tests").exists(),
        "{:?}",
        entries(folder.path())
    );
}

/// Forge's output with an identity registry that answers another version: the first world shows it.
fn artifacts_that_differ() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let built = fs::canonicalize(clone_root().join("contracts/out")).unwrap();
    for entry in fs::read_dir(&built).unwrap() {
        let entry = entry.unwrap();
        symlink(entry.path(), folder.path().join(entry.file_name())).unwrap();
    }
    let identity = folder.path().join("IdentityRegistry.sol");
    fs::remove_file(&identity).unwrap();
    fs::create_dir(&identity).unwrap();
    let text =
        fs::read_to_string(built.join("IdentityRegistry.sol/IdentityRegistry.json")).unwrap();
    let (version, other) = ("322e302e30", "322e302e31"); // 2.0.0 and 2.0.1 in hexadecimal
    assert!(text.contains(version));
    fs::write(
        identity.join("IdentityRegistry.json"),
        text.replace(version, other),
    )
    .unwrap();
    folder
}

#[test]
fn a_finding_outside_a_clone_is_kept_apart_and_no_full_device_hides_it() {
    let artifacts = artifacts_that_differ();
    let folder = tempfile::tempdir().unwrap();
    let arguments = [
        "--steps",
        "200",
        "--seed",
        "7",
        "--workers",
        "1",
        "--artifacts",
        text(artifacts.path()),
    ];
    let fuzz = [&["fuzz", "--backend", "evm-revm"], &arguments[..]].concat();
    let run = answer(concord(&fuzz).current_dir(folder.path()));
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stdout.contains("DIVERGENCE"), "{run:?}");
    assert_eq!(entries(folder.path()), ["concord-regressions"]);
    assert_eq!(entries(&folder.path().join("concord-regressions")).len(), 1);

    let device = fs::File::options().write(true).open("/dev/full").unwrap();
    let full = concord(&fuzz)
        .current_dir(folder.path())
        .stdout(device)
        .output()
        .unwrap();
    assert_eq!(full.status.code(), Some(1), "{full:?}");
    let said = String::from_utf8(full.stderr).unwrap();
    assert!(
        said.contains("concord: stdout: No space left on device"),
        "{said}"
    );
}
