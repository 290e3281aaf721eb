//! A chain where the registries stand, and runs of the built program on it.
use crate::invocation::{Answer, answer, concord};
use crate::live::recorder::Recorder;
use alloy::{
    node_bindings::AnvilInstance,
    primitives::{Address, U256},
    signers::local::PrivateKeySigner,
};
use concord_testkit::anvil;
use concord_testkit::http::ask;
use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};
use tempfile::TempDir;

pub const CHAIN: &str = "eip155:84532";
/// Of the account that deploys and pays: known to nobody else on a chain of the test's own.
pub const SECRET: &str = "6c3b1f1cc2f0f1fbc9d5a4a1a3c0f1b2a4d5e6f708192a3b4c5d6e7f80910213";
pub const ETHER: u128 = 1_000_000_000_000_000_000;

/// It ends when it is dropped.
pub struct Deployed {
    _anvil: AnvilInstance,
    port: u16,
    folder: TempDir,
    pub recorder: Recorder,
}

pub fn funder() -> PrivateKeySigner {
    SECRET.parse().unwrap()
}

impl Deployed {
    /// A chain with these arguments of anvil's, and the registries as `deploy apply` leaves them.
    pub fn start(arguments: &[&str]) -> Self {
        let of_the_chain = ["--chain-id", "84532", "--hardfork", "prague"];
        let anvil = anvil::start(&[&of_the_chain, arguments].concat());
        let port = anvil.port();
        let deployed = Self {
            _anvil: anvil,
            port,
            folder: tempfile::tempdir().unwrap(),
            recorder: Recorder::start(port),
        };
        deployed.ask(
            "anvil_setBalance",
            json!([funder().address(), U256::from(ETHER)]),
        );
        let applied = deployed.run(&[
            "deploy",
            "apply",
            "--chain",
            CHAIN,
            "--yes",
            "--confirmations",
            "1",
        ]);
        assert_eq!(applied.code, 0, "{}", applied.stderr);
        deployed
    }

    pub fn ask(&self, method: &str, params: Value) -> Value {
        ask(self.port, method, params)
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = concord(arguments);
        command
            .env("CONCORD_RPC_URL", self.recorder.url())
            .env("CONCORD_DEPLOYMENTS", self.folder())
            .env("CONCORD_EVM_PRIVATE_KEY", SECRET)
            .env_remove("CONCORD_EVM_KEYSTORE")
            .env_remove("CONCORD_EVM_PASSWORD_FILE")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Answer {
        answer(&mut self.command(arguments))
    }

    /// `conform --live` with these arguments.
    pub fn live(&self, arguments: &[&str]) -> Answer {
        self.run(&[LIVE, arguments].concat())
    }

    pub fn balance(&self, account: Address) -> u128 {
        let wei = self.ask("eth_getBalance", json!([account, "latest"]));
        serde_json::from_value::<U256>(wei).unwrap().to()
    }

    /// How many transactions of the funder are in the chain.
    pub fn nonce(&self) -> u64 {
        let nonce = self.ask(
            "eth_getTransactionCount",
            json!([funder().address(), "latest"]),
        );
        serde_json::from_value::<U256>(nonce).unwrap().to()
    }

    pub fn address(&self, contract: &str) -> String {
        address_in(self.folder(), contract)
    }

    /// The record of a run that has not ended.
    pub fn record(&self) -> PathBuf {
        self.folder().join("runs/live-eip155-84532.json")
    }
}

/// Where the address book of this folder has a contract.
pub fn address_in(deployments: &Path, contract: &str) -> String {
    let book = fs::read_to_string(deployments.join("addresses.json")).unwrap();
    let book: Value = serde_json::from_str(&book).unwrap();
    let address = &book["chains"][CHAIN]["contracts"][contract]["address"];
    address.as_str().unwrap().to_owned()
}

pub const LIVE: &[&str] = &["conform", "--live", "--chain", CHAIN, "--yes"];

/// Neither the key nor the endpoint's path is anywhere in it.
pub fn assert_nothing_secret(text: &str) {
    assert!(!text.contains(&SECRET[..16]), "{text}");
    assert!(!text.contains("secret-of-the-endpoint"), "{text}");
}
