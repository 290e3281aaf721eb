//! Help, manual pages, completions.
use super::invocation::{answer, concord};
use serde_json::{Value, json};
use std::{io::Write, process::Stdio};

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
