//! Runs the built program, in a folder of deployments of the test's own.
use crate::evm::local_chain::{BASE_SEPOLIA, LocalChain, SECRET};
use crate::shared::process::{Answer, answer, clone_root, json_file};
use alloy::primitives::U256;
use concord_testkit::command::concord;
use serde_json::Value;
use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};
use tempfile::TempDir;

/// The contracts, as the address book names them.
pub const CONTRACTS: [&str; 4] = [
    "IdentityRegistry",
    "ReputationRegistry",
    "AuthorizedReputationRegistry",
    "ValidationRegistry",
];

pub struct Workplace {
    folder: TempDir,
    url: String,
    chain: String,
}

impl Workplace {
    pub fn at(chain: &LocalChain) -> Self {
        Self::at_url(&chain.url())
    }

    pub fn at_url(url: &str) -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            url: url.to_owned(),
            chain: format!("eip155:{BASE_SEPOLIA}"),
        }
    }

    /// The same files, another endpoint.
    pub fn to(self, url: &str) -> Self {
        Self {
            url: url.to_owned(),
            ..self
        }
    }

    pub fn of_chain(self, chain: &str) -> Self {
        Self {
            chain: chain.to_owned(),
            ..self
        }
    }

    pub fn deployments(&self) -> &Path {
        self.folder.path()
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn run_file(&self) -> PathBuf {
        self.file("runs")
            .join(format!("{}.json", self.chain.replace(':', "-")))
    }

    /// `concord deploy`, or `concord registry`, with these arguments, the key in the environment.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let group: &[&str] = match arguments.first() {
            Some(&"registry") => &[],
            _ => &["deploy"],
        };
        let mut command = concord(group);
        command
            .args(arguments)
            .args(["--chain", &self.chain, "--deployments"])
            .arg(self.deployments())
            .current_dir(clone_root())
            .env("CONCORD_RPC_URL", &self.url)
            .env("CONCORD_EVM_PRIVATE_KEY", SECRET)
            .env_remove("CONCORD_EVM_KEYSTORE")
            .env_remove("CONCORD_EVM_PASSWORD_FILE")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Answer {
        answer(self.command(arguments).spawn().unwrap())
    }

    /// `plan`, for an address: no key.
    pub fn plan(&self, arguments: &[&str]) -> Answer {
        let from = crate::evm::local_chain::deployer().address().to_string();
        self.run(&[&["plan", "--from", &from], arguments].concat())
    }

    pub fn apply(&self, arguments: &[&str]) -> Answer {
        self.run(&[&["apply"], SENDING, arguments].concat())
    }

    pub fn resume(&self, arguments: &[&str]) -> Answer {
        self.run(&[&["resume"], SENDING, arguments].concat())
    }

    pub fn address_book(&self) -> Value {
        json_file(&self.file("addresses.json"))
    }

    /// What the address book has on this chain.
    pub fn recorded(&self) -> Value {
        self.address_book()["chains"][&self.chain].clone()
    }

    pub fn run_record(&self) -> Value {
        json_file(&self.run_file())
    }

    pub fn chain(&self) -> &str {
        &self.chain
    }
}

/// anvil mines when something is sent: no second block will come.
pub const SENDING: &[&str] = &["--yes", "--confirmations", "1"];

/// Everything stands, nothing was sent twice, and the address book knows every transaction.
pub fn assert_deployed(chain: &LocalChain, workplace: &Workplace, transactions: u64) {
    let deployer = crate::evm::local_chain::deployer().address();
    assert_eq!(chain.nonce(deployer), transactions);
    let recorded = workplace.recorded();
    for name in CONTRACTS {
        let record = &recorded["contracts"][name];
        let address = record["address"].as_str().unwrap();
        assert_ne!(chain.code(address), "0x", "{name}");
        let receipt = chain.ask(
            "eth_getTransactionReceipt",
            serde_json::json!([record["transaction"]]),
        );
        assert_eq!(receipt["status"], "0x1", "{name}: {record}");
        let block: U256 = serde_json::from_value(receipt["blockNumber"].clone()).unwrap();
        assert_eq!(record["block"], block.to::<u64>(), "{name}");
    }
    assert_eq!(workplace.run_record()["finished"], true);
    workplace.run(&["verify"]).assert_done();
    workplace.run(&["status"]).assert_done();
    let again = workplace.apply(&[]);
    assert!(again.assert_done().stderr.contains("nothing was sent"));
    assert_eq!(chain.nonce(deployer), transactions);
}
