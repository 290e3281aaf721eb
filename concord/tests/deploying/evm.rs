use crate::deploying::{Walk, text};
use crate::invocation::clone_root;
use alloy::primitives::U256;
use concord_testkit::anvil;
use concord_testkit::http::ask;
use serde_json::json;
use std::fs;

/// Of the key in the keystore.
const DEPLOYER: &str = "0x008AeEda4D805471dF9b2A5B0f38A0C3bCBA786b";
const PASSWORD: &str = "testpassword";

/// What depends on when a block came: transactions, block numbers, fees.
fn masked(lines: &[String]) -> Vec<String> {
    let is_hash = |word: &str| word.len() == 66 && word.starts_with("0x");
    let mask = |word: &str, is_of_a_block: bool| {
        let is_transaction = is_hash(word) || word.contains("/tx/0x");
        let is_fee = word.parse::<f64>().is_ok() && word.contains('.');
        let is_block = is_of_a_block && word.parse::<u64>().is_ok();
        let varies = is_transaction || is_fee || is_block;
        if varies { "…" } else { word }.to_owned()
    };
    let line = |line: &String| {
        let is_of_a_block = line.split_whitespace().any(is_hash);
        let words = line.split_whitespace().map(|it| mask(it, is_of_a_block));
        words.collect::<Vec<_>>().join(" ")
    };
    lines.iter().map(line).collect()
}

#[test]
fn every_command_of_the_document_prints_what_it_says() {
    // Blocks come by themselves, as they do on Base: confirmations are waited for.
    let arguments = ["--chain-id", "84532", "--hardfork", "prague"];
    let anvil = anvil::start(&[&arguments[..], &["--block-time", "1"]].concat());
    let balance = U256::from(10).pow(U256::from(18));
    ask(anvil.port(), "anvil_setBalance", json!([DEPLOYER, balance]));
    let folder = tempfile::tempdir().unwrap();
    let password = folder.path().join("password");
    fs::write(&password, PASSWORD).unwrap();
    let keystore = clone_root().join("deploy/tests/keystores/scrypt.json");
    Walk {
        wrapper: "scripts/deploy-base-sepolia",
        chain: &[
            ("CONCORD_RPC_URL", anvil.endpoint()),
            (
                "CONCORD_EVM_KEYSTORE",
                text(&keystore.canonicalize().unwrap()),
            ),
            ("CONCORD_EVM_PASSWORD_FILE", text(&password)),
        ],
        deployments: folder.path().join("deployments"),
        masked: &masked,
    }
    .assert_prints_what_the_document_says();
    let nonce = ask(
        anvil.port(),
        "eth_getTransactionCount",
        json!([DEPLOYER, "latest"]),
    );
    assert_eq!(nonce, "0x6"); // four contracts, and what two actors of the smoke test get
}
