//! `concord-index export`.
use crate::{
    database::argument,
    given::{CHAINS, blocks},
    server::Server,
};
use serde_json::{Value, json};
use std::process::{Command, Output};

fn export(server: &Server, options: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_concord-index"))
        .args(["export", "--store", &argument(&server.database.location)])
        .args(options)
        .output()
        .unwrap()
}

fn lines(output: &Output) -> Vec<Value> {
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = str::from_utf8(&output.stdout).unwrap();
    text.lines()
        .map(|it| serde_json::from_str(it).unwrap())
        .collect()
}

#[test]
fn every_event_is_exported_in_order_and_an_export_goes_on_where_one_ended() {
    let server = Server::start();
    let all = lines(&export(&server, &["--unfinal"]));
    let given = [0, 1].map(|chain| blocks(chain).iter().map(|(_, it)| it.len()).sum::<usize>());
    assert_eq!(all.len(), given[0] + given[1]);
    let first = json!({
        "position": "000000000000000100000000000000000000000000000000",
        "chain": CHAINS[0],
        "identityRegistry": format!("0x{}", "ab".repeat(20)),
        "registry": format!("0x{}", "02".repeat(20)),
        "block": "1",
        "transaction": format!("0x{}", "06".repeat(32)),
        "time": 1_700_000_010,
        "event": "AgentRegistered",
        "fields": {
            "agent": "1",
            "owner": format!("0x{}", "65".repeat(20)),
            "uri": "ipfs://agent-1",
        },
    });
    assert_eq!(all[0], first);
    let of_chain = lines(&export(&server, &["--unfinal", "--chain", CHAINS[1]]));
    assert_eq!(of_chain, all[given[0]..]);
    let position = |line: &Value| line["position"].as_str().unwrap().to_owned();
    assert!(of_chain.iter().map(position).is_sorted());
    for ended in [0, 5, of_chain.len() - 1] {
        let after = position(&of_chain[ended]);
        let rest = ["--unfinal", "--chain", CHAINS[1], "--after", &after];
        assert_eq!(lines(&export(&server, &rest)), of_chain[ended + 1..]);
    }
}

#[test]
fn what_may_be_taken_back_is_not_exported_unasked() {
    let mut server = Server::start(); // its chains say nothing of finality
    assert_eq!(lines(&export(&server, &[])), Vec::<Value>::new());
    let number = blocks(0).last().unwrap().0 + 1;
    let batch = crate::given::batch(0, number, vec![]);
    server
        .store
        .commit(server.ids[0], &batch, Some(3), 64)
        .unwrap();
    let last = lines(&export(&server, &[])).pop().unwrap();
    assert_eq!(last["block"], "3");
    assert_eq!(last["chain"], CHAINS[0]);
}

#[test]
fn a_position_needs_its_deployment() {
    let server = Server::start();
    let position = "00".repeat(24);
    for (options, words) in [
        (vec!["--after", &position], "--chain"),
        (vec!["--chain", "eip155:2"], "no such deployment"),
        (vec!["--after", "12"], "48 hex digits"),
        (vec!["--to", "parquet"], "ndjson"),
    ] {
        let refused = export(&server, &options);
        assert_eq!(refused.status.code(), Some(2), "{options:?}");
        let stderr = String::from_utf8_lossy(&refused.stderr);
        assert!(stderr.contains(words), "{stderr}");
    }
}
