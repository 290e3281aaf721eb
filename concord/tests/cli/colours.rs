//! Colours on a terminal, and nowhere else.
use super::{changed, text};
use crate::invocation::{answer, clone_root, concord};
use serde_json::json;
use std::process::Command;

/// Gives the rest of the command line a terminal as its stdout; its exit code is handed on.
const ON_TERMINAL: &str = "import os, pty, sys; \
                           sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";
const RED: &str = "\u{1b}[1;31m";
const GREEN: &str = "\u{1b}[32m";

fn on_terminal(arguments: &[&str]) -> Command {
    let mut command = Command::new("python3");
    command
        .args([
            "-c",
            ON_TERMINAL,
            "sh",
            "-c",
            "exec \"$@\" 2>/dev/null",
            "-",
        ])
        .arg(env!("CARGO_BIN_EXE_concord"))
        .args(arguments)
        .current_dir(clone_root())
        .env("TERM", "xterm")
        .env_remove("NO_COLOR");
    command
}

const AGREES: [&str; 5] = [
    "conform",
    "--backend",
    "none",
    "--scenario",
    "identity/register",
];

#[test]
fn a_terminal_gets_colours_unless_it_asks_for_none() {
    let coloured = answer(&mut on_terminal(&AGREES));
    assert_eq!(coloured.code, 0, "{coloured:?}");
    let verdict = format!("{GREEN}1 scenario: model agree\u{1b}[0m");
    assert!(coloured.stdout.contains(&verdict), "{}", coloured.stdout);
    assert!(!coloured.stdout.contains(RED), "{}", coloured.stdout);

    let plain = answer(&mut concord(&AGREES)).stdout;
    assert!(!plain.contains('\u{1b}'), "{plain}");
    for (name, value) in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        let answer = answer(on_terminal(&AGREES).env(name, value));
        let lines = answer.stdout.replace("\r\n", "\n");
        assert_eq!(lines, plain, "{name}={value}");
    }
    let empty = answer(on_terminal(&AGREES).env("NO_COLOR", ""));
    assert_eq!(
        empty.stdout, coloured.stdout,
        "an empty NO_COLOR asks for nothing"
    );
}

#[test]
fn what_differs_is_red() {
    let digest = json!(format!("0x{}", "0".repeat(64)));
    let (_folder, file) = changed("register", "/steps/0/expect/digest", digest);
    let arguments = ["conform", "--backend", "none", "--scenario", text(&file)];
    let answer = answer(&mut on_terminal(&arguments));
    assert_eq!(answer.code, 1, "{answer:?}");
    for red in ["FAILED", "1 scenario: wrong: model", "           0/1"] {
        let painted = format!("{RED}{red}\u{1b}[0m");
        assert!(answer.stdout.contains(&painted), "{}", answer.stdout);
    }
}
