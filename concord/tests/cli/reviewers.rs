//! `concord reviewers`: lists that are written, signed and checked.
use super::{assert_sentence, text};
use crate::invocation::{answer, concord};
use concord_canonical::sign::ed25519_public_key;
use serde_json::{Value, json};
use std::{fs, path::Path};

const EVM: &str = "eip155:84532:0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const SVM: &str = "solana:localnet:4zvwRjXUKGfvwnParsHAS3HuSVzV5cA4McphgmoCtajS";
/// By a Keccak in Python, of the RFC 8785 text.
const HASH: &str = "0x7ed17822b45cd0c742b570c27808f076a2794e1c0376f325d6e975c4a2bebf16";

fn new(folder: &Path, options: &[&str]) -> std::path::PathBuf {
    let reviewer = format!("{EVM}=asks daily");
    let fixed = [
        "reviewers",
        "new",
        "--name",
        "Weather desk",
        "--created",
        "2026-11-23T00:00:00Z",
        "--reviewer",
        &reviewer,
        "--reviewer",
        SVM,
    ];
    let written = answer(&mut concord(&[&fixed, options].concat()));
    assert_eq!((written.code, &*written.stderr), (0, ""));
    let path = folder.join(format!("{}.json", options.len()));
    fs::write(&path, written.stdout).unwrap();
    path
}

#[test]
fn a_list_is_written_and_checked() {
    let folder = tempfile::tempdir().unwrap();
    let list = new(folder.path(), &[]);
    let checked = answer(&mut concord(&[
        "reviewers",
        "check",
        text(&list),
        "--hash",
        HASH,
    ]));
    let expected = format!(
        "\"Weather desk\", 2026-11-23T00:00:00Z\n1 on eip155:84532\n1 on solana:localnet\nnot signed\nhash {HASH}\n"
    );
    assert_eq!((checked.code, &*checked.stdout), (0, &*expected));
    let unsigned = ["reviewers", "check", text(&list), "--signer", "0x12"];
    assert_sentence(
        &answer(&mut concord(&unsigned)),
        1,
        "signed by no one, expected 0x12",
    );

    let seed = [7; 32];
    let keypair = folder.path().join("me.json");
    fs::write(
        &keypair,
        json!([seed, ed25519_public_key(&seed)].concat()).to_string(),
    )
    .unwrap();
    let signed = new(folder.path(), &["--keypair", text(&keypair)]);
    let signer = bs58::encode(ed25519_public_key(&seed)).into_string();
    let check = [
        "reviewers",
        "check",
        text(&signed),
        "--signer",
        &signer,
        "--hash",
        HASH,
        "--json",
    ];
    let checked = answer(&mut concord(&check));
    assert_eq!(checked.code, 0, "{checked:?}");
    let report: Value = serde_json::from_str(&checked.stdout).unwrap();
    assert_eq!(
        (&report["signer"], &report["hash"]),
        (&json!(signer), &json!(HASH))
    );
}

#[test]
fn what_was_changed_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let seed = [7; 32];
    let keypair = folder.path().join("me.json");
    fs::write(
        &keypair,
        json!([seed, ed25519_public_key(&seed)].concat()).to_string(),
    )
    .unwrap();
    let signed = new(folder.path(), &["--keypair", text(&keypair)]);
    let original = fs::read_to_string(&signed).unwrap();
    for (from, to, words) in [
        ("asks daily", "asks twice", "$.signature.signature"),
        ("84532:0x7", "84532:0x8", "$.signature.signature"),
        ("list-v1", "list-v9", "$.type"),
        ("\"created\"", "\"made\"", "$.created: is required"),
    ] {
        fs::write(&signed, original.replacen(from, to, 1)).unwrap();
        let refused = answer(&mut concord(&["reviewers", "check", text(&signed)]));
        assert_sentence(&refused, 1, words);
    }
    fs::write(&signed, original).unwrap();
    let other = format!("0x{}", "00".repeat(32));
    let refused = answer(&mut concord(&[
        "reviewers",
        "check",
        text(&signed),
        "--hash",
        &other,
    ]));
    assert_sentence(&refused, 1, "expected 0x00");
    let missing = folder.path().join("missing");
    let refused = answer(&mut concord(&["reviewers", "check", text(&missing)]));
    assert_sentence(&refused, 2, "missing");
    let wrong = ["reviewers", "new", "--name", "a", "--reviewer", "0x12"];
    assert_sentence(&answer(&mut concord(&wrong)), 2, "$.reviewers[0].account");
}
