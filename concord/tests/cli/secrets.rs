//! A URL may have a key in its path or query, and a store's address a password: no command prints them.
use super::{folder_with, text};
use crate::invocation::{answer, concord};
use serde_json::json;

const SECRET: &str = "0123456789abcdef";
/// No server listens on this port.
const SILENT: &str = "http://127.0.0.1:1/v2/0123456789abcdef";

#[test]
fn no_command_prints_a_secret_of_what_it_is_given() {
    let (folder, registries) = folder_with("registries.json", br#"{ "chains": {} }"#);
    let new = folder.path().join("index.sqlite");
    let run = ["index", "run", "--store", text(&new), "--program", PROGRAM];
    let registries = ["--registries", text(&registries)];
    let malformed = "http://127.0.0.1:port/0123456789abcdef";
    let subject = format!("eip155:31337:0x{}", "ab".repeat(32));
    let without_chain = format!("https://node.example/v2/{SECRET}");
    let with_equals = format!("https://node.example/v2/{SECRET}?a=b");
    let of_chain = format!("eip155:31337={SILENT}");
    let store = format!("postgres://reader:{SECRET}@127.0.0.1:port/index");
    let audit = ["aggregator", "audit"];
    for (arguments, code, words) in [
        (
            [&audit[..], &[SILENT], &registries].concat(),
            3,
            "http://127.0.0.1:1: receipts?from=1",
        ),
        (
            [&audit[..], &[malformed], &registries].concat(),
            2,
            "the aggregator's URL is malformed: invalid port number",
        ),
        (
            vec!["explain", &subject, "--rpc", &without_chain],
            2,
            "--rpc: expected a CAIP-2 id, = and a URL",
        ),
        (
            vec!["explain", &subject, "--rpc", &with_equals],
            2,
            "--rpc: expected a CAIP-2 id, = and a URL",
        ),
        (
            vec!["explain", &subject, "--rpc", &of_chain],
            3,
            "127.0.0.1:1",
        ),
        ([&run[..], &["--rpc", SILENT]].concat(), 3, "127.0.0.1:1"),
        (
            vec!["index", "status", "--store", &store],
            2,
            "--store: the address is malformed",
        ),
        (
            vec!["search", "--index", SILENT],
            3,
            "the index at http://127.0.0.1:1 does not answer",
        ),
    ] {
        let answered = answer(concord(&arguments).env_remove("PGPASSWORD"));
        assert_eq!(answered.code, code, "{arguments:?}: {answered:?}");
        assert!(answered.stderr.contains(words), "{answered:?}");
        let printed = [answered.stdout, answered.stderr].concat();
        assert!(!printed.contains(SECRET), "{printed}");
    }
}

/// The check of an aggregator, whose materials are complete and of no use.
#[test]
fn a_check_of_an_aggregator_prints_no_more_than_its_host() {
    let key = "11".repeat(32);
    let (_key, key) = folder_with("key", key.as_bytes());
    let payment = |digits: &str| format!("eip155:84532:0x{}", digits.repeat(32));
    let materials = json!({
        "agentRegistry": format!("eip155:84532:0x{}", "ab".repeat(20)),
        "agentId": "42",
        "agentKey": key,
        "reviewerKey": key,
        "payments": [payment("01"), payment("02"), payment("03")],
    });
    let (_with, with) = folder_with("materials.json", materials.to_string().as_bytes());
    let check = ["aggregator", "check", SILENT, "--with", text(&with)];
    let answered = answer(&mut concord(&check));
    assert_eq!(answered.code, 3, "{answered:?}");
    assert!(
        answered.stderr.contains("http://127.0.0.1:1: "),
        "{answered:?}"
    );
    assert!(!answered.stderr.contains(SECRET), "{answered:?}");
}

const PROGRAM: &str = "4zvwRjXUKGfvwnParsHAS3HuSVzV5cA4McphgmoCtajS";
