//! `concord deploy` is the deployment's own command line; what it does is tested in `deploy/tests`.

use crate::invocation::{answer, concord};

#[test]
fn deploy_has_its_five_commands() {
    let help = answer(&mut concord(&["deploy", "--help"]));
    assert_eq!((help.code, help.stderr.as_str()), (0, ""));
    for command in ["plan", "apply", "resume", "verify", "status"] {
        let line = format!("\n  {command} ");
        assert!(help.stdout.contains(&line), "{}", help.stdout);
    }
    assert!(help.stdout.contains("refused before anything was sent"));
}

#[test]
fn deploy_passes_its_exit_codes_on() {
    let mut elsewhere = concord(&["deploy", "status", "--chain", "cosmos:cosmoshub-2"]);
    let refused = answer(&mut elsewhere);
    assert_eq!((refused.code, refused.stdout.as_str()), (2, ""));
    let words =
        "concord: --chain cosmos:cosmoshub-2: only eip155 and solana chains can be deployed to\n";
    assert_eq!(refused.stderr, words);
    let mut smoke = concord(&["smoke", "--chain", "eip155:8453"]);
    let refused = answer(&mut smoke);
    assert_eq!((refused.code, refused.stdout.as_str()), (2, ""));
    assert!(refused.stderr.contains("is not a listed testnet"));
    let mut silent = concord(&["deploy", "status", "--chain", "eip155:84532"]);
    silent.env("CONCORD_RPC_URL", "http://127.0.0.1:1");
    let stopped = answer(&mut silent);
    assert_eq!((stopped.code, stopped.stdout.as_str()), (3, ""));
}
