//! Help, manual pages, completions.
use super::{assert_sentence, text};
use crate::invocation::{answer, clone_root, concord};
use serde_json::{Value, json};
use std::{env, fs, io::Write, path::Path, process::Stdio};

const COMMANDS: [&str; 68] = [
    "conform",
    "adapter",
    "adapter check",
    "adapter schema",
    "fuzz",
    "fill",
    "lint",
    "init",
    "scenarios export",
    "doctor",
    "deploy plan",
    "deploy apply",
    "deploy resume",
    "deploy verify",
    "deploy status",
    "deploy verify-source",
    "registry show",
    "registry propose",
    "registry accept",
    "registry add-token",
    "registry remove-token",
    "registry add-facilitator",
    "registry remove-facilitator",
    "smoke",
    "x402 serve",
    "x402 pay",
    "x402 verify",
    "x402 decode",
    "feedback give",
    "feedback get",
    "feedback list",
    "search",
    "summary",
    "agent check",
    "explain",
    "explain agent",
    "explain summary",
    "index run",
    "index serve",
    "index status",
    "index verify",
    "index rebuild",
    "index export",
    "aggregator run",
    "aggregator drain",
    "aggregator status",
    "aggregator retry",
    "aggregator backup",
    "aggregator files",
    "aggregator schema",
    "aggregator audit",
    "aggregator check",
    "watchtower run",
    "watchtower once",
    "watchtower plan",
    "watchtower schema",
    "watchtower status",
    "file check",
    "file hash",
    "file convert",
    "file new",
    "reviewers new",
    "reviewers check",
    "oracle",
    "vectors run",
    "vectors export",
    "completions",
    "man",
];

/// The help of each command, in the order in which the help above it lists them.
fn all_help(command: &[String], texts: &mut Vec<(String, String)>) {
    let mut asked = concord(&[]);
    asked.args(command).arg("--help");
    // Help shows the variables that options read.
    asked.env_clear().env("PATH", env::var_os("PATH").unwrap());
    let help = answer(&mut asked);
    assert_eq!((help.code, help.stderr.as_str()), (0, ""), "{command:?}");
    let listed = help.stdout.split_once("\nCommands:\n").map(|(_, it)| it);
    let parts = listed.map_or("", |it| it.split("\n\n").next().unwrap());
    let parts: Vec<_> = parts
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .filter(|name| !name.is_empty() && *name != "help")
        .map(|name| [command, &[name.to_owned()]].concat())
        .collect();
    texts.push((command.join(" "), help.stdout));
    for part in &parts {
        all_help(part, texts);
    }
}

/// Outsiders rely on the help: `CONCORD_BLESS=1` writes the golden text anew.
#[test]
fn help_is_the_golden_text_and_no_command_is_left_out() {
    let mut texts = Vec::new();
    all_help(&[], &mut texts);
    for (command, help) in &texts {
        let is_group = help.contains("Usage: concord") && help.contains("<COMMAND>\n");
        let is_known = COMMANDS.contains(&command.as_str());
        assert!(is_group || is_known, "COMMANDS lacks {command}");
    }
    let texts = texts.iter().map(|(command, help)| {
        let name = format!("concord {command}");
        format!("$ {} --help\n{help}", name.trim_end())
    });
    let found = texts.collect::<Vec<_>>().join("\n");
    let golden = clone_root().join("concord/tests/cli/help.txt");
    if env::var_os("CONCORD_BLESS").is_some() {
        fs::write(&golden, &found).unwrap();
    }
    assert_same_text(&golden, &found);
}

/// Names the first line that differs.
fn assert_same_text(golden: &Path, found: &str) {
    let expected = fs::read_to_string(golden).unwrap();
    for (number, (expected, found)) in expected.lines().zip(found.lines()).enumerate() {
        let advice = "run with CONCORD_BLESS=1 and read the difference";
        assert_eq!(found, expected, "line {}: {advice}", number + 1);
    }
    assert_eq!(found.len(), expected.len());
}

#[test]
fn help_lists_the_exit_codes_and_examples() {
    for command in COMMANDS {
        let arguments: Vec<_> = command.split(' ').chain(["--help"]).collect();
        let help = answer(&mut concord(&arguments)).stdout;
        for part in ["Examples:\n  ", "Exit codes:\n  0  "] {
            assert!(help.contains(part), "{help}");
        }
        // The exit codes are those of this command.
        let (_, codes) = help.split_once("Exit codes:").unwrap();
        let compares = ["conform", "adapter", "fuzz"].contains(&command);
        assert_eq!(codes.contains("participant"), compares, "{help}");
        let is_shown = help.contains(&format!("concord {command}"));
        assert!(is_shown || command == "oracle", "{help}");
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
fn each_command_has_a_manual_page() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man1");
    let written = answer(&mut concord(&["man", "--into", text(&pages)]));
    assert_eq!((written.code, written.stdout.as_str()), (0, ""));
    for command in COMMANDS {
        let page = format!("concord-{}.1", command.replace(' ', "-"));
        let page = fs::read_to_string(pages.join(page)).unwrap();
        assert!(page.contains("Examples:"), "{page}");
    }
    let refused = answer(&mut concord(&["man", "--into", "/proc/man"]));
    assert_sentence(&refused, 2, "/proc/man cannot be written");
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
