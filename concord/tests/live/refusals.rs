use crate::live::deployed::{CHAIN, Deployed, LIVE, assert_nothing_secret};
use serde_json::json;
use std::fs;

#[test]
fn refuses_what_can_be_known_to_fail_before_anything_is_sent() {
    let deployed = Deployed::start(&[]);
    let sent = deployed.recorder.sends();
    let base = |chain: &'static str| ["conform", "--live", "--chain", chain];
    let refused = |arguments: &[&str], words: &str| {
        let answer = deployed.run(arguments);
        let seen = format!("{arguments:?}: {answer:?}");
        assert_eq!((answer.code, answer.stdout.as_str()), (2, ""), "{seen}");
        assert!(answer.stderr.contains(words), "{seen}");
        assert_nothing_secret(&answer.stderr);
    };
    let live = |more: &[&'static str]| [LIVE, more].concat();
    refused(
        &live(&["--budget", "0.0001"]),
        "--budget allows 0.000100000 ETH",
    );
    refused(
        &live(&["--budget", "a lot"]),
        "--budget a lot: not a number of ETH",
    );
    refused(&base(CHAIN), "stdin is not a terminal");
    refused(
        &base("cosmos:cosmoshub-3"),
        "live runs are for chains of the namespaces eip155 and solana",
    );
    refused(&base("eip155:8453"), "eip155:8453 is not a listed testnet");
    refused(&base("eip155:11155111"), "no deployment on eip155:11155111");
    refused(
        &live(&["--scenario", "authorized/expiry"]),
        "authorized/expiry is not flagged `live`",
    );
    deployed.ask(
        "anvil_setBalance",
        json!([crate::live::deployed::funder().address(), "0x1"]),
    );
    refused(&live(&[]), "the run needs up to");
    assert_eq!(deployed.recorder.sends(), sent);
    assert!(!deployed.record().exists());
}

#[test]
fn refuses_an_address_without_code() {
    let deployed = Deployed::start(&[]);
    let sent = deployed.recorder.sends();
    let registry = deployed.address("ValidationRegistry");
    deployed.ask("anvil_setCode", json!([registry, "0x"]));
    let answer = deployed.live(&[]);
    assert_eq!(answer.code, 2, "{answer:?}");
    assert!(answer.stderr.contains("ValidationRegistry: no code at"));
    assert_eq!(deployed.recorder.sends(), sent);
}

#[test]
fn an_endpoint_that_is_not_there_is_exit_code_3() {
    let deployed = Deployed::start(&[]);
    let book = fs::read(deployed.folder().join("addresses.json")).unwrap();
    assert!(!book.is_empty());
    let output = deployed
        .command(LIVE)
        .env(
            "CONCORD_RPC_URL",
            "http://127.0.0.1:1/secret-of-the-endpoint",
        )
        .output()
        .unwrap();
    let words = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{words}");
    assert!(words.contains("127.0.0.1:1 does not answer"), "{words}");
    assert_nothing_secret(&words);
    assert_eq!(words.lines().count(), 1);
}
