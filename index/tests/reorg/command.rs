//! The command, on a chain with reorganisations.
use crate::reorg::chain::Chain;
use concord_testkit::command::concord;
use serde_json::Value;
use std::{path::Path, thread, time::Duration};

struct Answer {
    code: i32,
    lines: Vec<Value>,
    stderr: String,
}

fn concord_index(store: &Path, arguments: &[&str]) -> Answer {
    let mut command = concord(&["index"]);
    let output = command
        .args(arguments)
        .arg("--store")
        .arg(store)
        .output()
        .unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    Answer {
        code: output.status.code().unwrap(),
        lines: stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn the_command_follows_a_chain_that_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("index.sqlite");
    let mut chain = Chain::start();
    chain.act(3);
    let registries = chain.registries();
    let mut following = concord(&["index"])
        .args(["run", "--rpc", chain.url(), "--identity"])
        .arg(registries.identity.to_string())
        .args([
            "--reputation",
            &registries.open_reputation.unwrap().to_string(),
        ])
        .arg("--store")
        .arg(&store)
        .spawn()
        .unwrap();
    // Each time it has caught up, and waits, when the chain goes on.
    for _ in 0..3 {
        let newest = chain.blocking.wait(chain.node.block_number()).unwrap();
        loop {
            assert_eq!(following.try_wait().unwrap(), None, "it ended");
            let status = concord_index(&store, &["status"]);
            if status.lines.first().is_some_and(|it| it["block"] == newest) {
                break;
            }
            thread::sleep(Duration::from_millis(50));
        }
        chain.act(2);
    }
    following.kill().unwrap();
    following.wait().unwrap();
}

#[test]
fn one_command_indexes_a_chain_and_follows_it_through_a_reorganisation() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("index.sqlite");
    let mut chain = Chain::start();
    chain.act(30);
    let url = chain.url().to_owned();
    let registries = chain.registries();
    let addresses = [
        registries.identity.to_string(),
        registries.open_reputation.unwrap().to_string(),
    ];
    let run = [
        "run",
        "--once",
        "--rpc",
        &url,
        "--identity",
        &addresses[0],
        "--reputation",
        &addresses[1],
    ];
    let first = concord_index(&store, &run);
    assert_eq!(first.code, 0, "{}", first.stderr);
    assert!(first.stderr.contains("events, "), "{}", first.stderr);
    let head = chain.blocking.wait(chain.node.block_number()).unwrap();
    let indexed = chain.log_count();
    chain.reorganise(7);
    let kept = chain.log_count();
    chain.act(2);
    let second = concord_index(&store, &run);
    assert_eq!(second.code, 0, "{}", second.stderr);
    assert!(
        second.stderr.contains("reorganised: 7 blocks"),
        "{}",
        second.stderr
    );

    let status = concord_index(&store, &["status"]);
    let newest = chain.blocking.wait(chain.node.block_number()).unwrap();
    assert_eq!(status.code, 0, "{:?}", status.lines);
    assert_eq!(status.lines[0]["chain"], "eip155:31337");
    assert_eq!(status.lines[0]["block"], newest);
    assert_eq!(status.lines[0]["missing"]["agents"], serde_json::json!([]));
    let noted = &status.lines[0]["reorganizations"];
    assert_eq!((&noted["count"], &noted["deepest"]), (&1.into(), &7.into()));
    assert_eq!(noted["newest"][0]["toBlock"], head);
    assert_eq!(noted["newest"][0]["fromBlock"], head - 6);
    assert_eq!(noted["newest"][0]["events"], indexed - kept);
    let verify = || concord_index(&store, &["verify"]);
    assert_eq!(
        (verify().code, &verify().lines[0]["equal"]),
        (0, &Value::Bool(true))
    );

    // A table that somebody changed is found, and made anew.
    let damage = rusqlite::Connection::open(&store).unwrap();
    damage
        .execute("UPDATE feedback SET value = '1' WHERE value <> '1'", [])
        .unwrap();
    assert_eq!(
        (verify().code, &verify().lines[0]["equal"]),
        (1, &Value::Bool(false))
    );
    assert_eq!(concord_index(&store, &["rebuild"]).code, 0);
    assert_eq!(verify().code, 0);
}

#[test]
fn what_cannot_be_done_has_a_code_and_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("none.sqlite");
    let missing = concord_index(&store, &["status"]);
    assert_eq!(missing.code, 2);
    assert!(missing.stderr.contains("use run"), "{}", missing.stderr);
    let nothing = concord_index(&store, &["run", "--rpc", "http://127.0.0.1:1"]);
    assert_eq!(nothing.code, 2);
    assert!(nothing.stderr.contains("--identity"), "{}", nothing.stderr);
    let address = format!("0x{}", "11".repeat(20));
    let arguments = [
        "run",
        "--once",
        "--rpc",
        "http://127.0.0.1:1",
        "--identity",
        &address,
    ];
    let unreachable = concord_index(&store, &arguments);
    assert_eq!(unreachable.code, 3);
    assert!(
        unreachable.stderr.contains("127.0.0.1:1"),
        "{}",
        unreachable.stderr
    );
}
