//! `concord explain --from`: bundles on a machine without a network.
use super::{assert_sentence, folder_with, text};
use crate::invocation::{Answer, answer, clone_root, concord};
use serde_json::Value;
use std::{fs, path::PathBuf};

fn fixture(name: &str) -> PathBuf {
    clone_root().join("explain/tests/fixtures").join(name)
}

fn recorded(name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(fixture(name)).unwrap()).unwrap()
}

/// The option that trusts the block of a recorded bundle.
fn block(name: &str) -> String {
    let bundle = recorded(name);
    let anchor = bundle["evm"]["eip155:31337"]["anchor"].as_str().unwrap();
    format!("eip155:31337={anchor}")
}

fn explain(name: &str, options: &[&str]) -> Answer {
    let (file, book) = (fixture(name), fixture("addresses.json"));
    let fixed = [
        "explain",
        "--from",
        text(&file),
        "--address-book",
        text(&book),
    ];
    answer(&mut concord(&[&fixed, options].concat()))
}

#[test]
fn a_bundle_and_a_block_hash_are_enough() {
    let trusted = explain("open.json", &["--block", &block("open.json")]);
    assert_eq!(trusted.code, 0, "{trusted:?}");
    assert!(
        trusted
            .stdout
            .ends_with("10 VERIFIED, 0 CLAIMED, 0 CANNOT CHECK, 0 REFUTED\n"),
        "{trusted:?}"
    );
    assert_eq!(trusted.stderr, "");
    let untrusted = explain("open.json", &[]);
    assert_eq!(untrusted.code, 4, "{untrusted:?}");
    assert!(
        untrusted.stdout.contains("CANNOT CHECK inclusion"),
        "{untrusted:?}"
    );
    let revoked = explain(
        "revoked.json",
        &["--block", &block("revoked.json"), "--json"],
    );
    assert_eq!(revoked.code, 1, "{revoked:?}");
    let report: Value = serde_json::from_str(&revoked.stdout).unwrap();
    assert_eq!(report["state"], "refuted");
    let findings = report["findings"].as_array().unwrap().iter();
    let refuted: Vec<_> = findings
        .filter(|it| it["state"] == "refuted")
        .map(|it| &it["step"])
        .collect();
    assert_eq!(refuted, ["not-revoked"]);
}

#[test]
fn what_is_no_bundle_is_exit_code_2_and_named() {
    let (_folder, file) = folder_with("bundle.json", b"{}");
    let answered = answer(&mut concord(&["explain", "--from", text(&file)]));
    assert_sentence(
        &answered,
        2,
        "bundle.json: the bundle is malformed: missing field `format`",
    );
    let answered = answer(&mut concord(&["explain", "--from", "no-such-file"]));
    assert_sentence(&answered, 2, "no-such-file: No such file");
    for wrong in [
        &["explain"][..],
        &["explain", "42"],
        &[
            "explain",
            "--from",
            "bundle.json",
            "--rpc",
            "eip155:1=http://127.0.0.1:1",
        ],
        &[
            "explain",
            "--from",
            "bundle.json",
            "--block",
            "eip155:1=0x12",
        ],
    ] {
        let answered = answer(&mut concord(wrong));
        assert_eq!(
            (answered.code, &*answered.stdout),
            (2, ""),
            "{wrong:?}: {answered:?}"
        );
    }
    let feedback = format!("eip155:31337:0x{}", "ab".repeat(32));
    let answered = answer(&mut concord(&["explain", &feedback]));
    assert_sentence(
        &answered,
        3,
        "no endpoint for eip155:31337; pass --rpc eip155:31337=URL",
    );
}
