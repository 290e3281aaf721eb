//! One command for chains of both kinds, with no configuration file.
use crate::cluster::{World, chain};
use alloy::primitives::Address;
use concord_chain::{Blocking, EndpointOptions, evm::Node};
use concord_harness::backend::evm::EvmAnvil;
use concord_registry::evm::{RegistryAddresses, calls};
use concord_testkit::command::concord;
use serde_json::{Value, json};
use std::{fs, path::Path, process::Output, thread};

/// A provider's key, in an endpoint's path or query.
const SECRET: &str = "0123456789abcdef";

/// An anvil with two agents, and a local cluster with one that has three reviews.
pub(crate) struct Chains {
    anvil: EvmAnvil,
    pub(crate) cluster: World,
}

impl Chains {
    pub(crate) fn start() -> Self {
        let artifacts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../contracts/out");
        let chains = Self {
            anvil: EvmAnvil::start(None, &artifacts).unwrap(),
            cluster: chain(),
        };
        chains.register("ipfs://one");
        chains.register("ipfs://two");
        chains
    }

    fn registries(&self) -> RegistryAddresses {
        *self.anvil.addresses()
    }

    pub(crate) fn url(&self) -> &str {
        self.anvil.ledger().url()
    }

    pub(crate) fn register(&self, uri: &str) {
        let node = Node::new(&EndpointOptions::new(self.url())).unwrap();
        let blocking = Blocking::new().unwrap();
        let ask = |method: &'static str, params: Value| -> Value {
            blocking
                .wait(node.endpoint().request(method, params))
                .unwrap()
                .unwrap()
        };
        let from: Vec<Address> = serde_json::from_value(ask("eth_accounts", json!([]))).unwrap();
        let (to, input) = (self.registries().identity, calls::register(uri, &[]));
        let call = json!([{ "from": from[0], "to": to, "input": input, "gas": "0x7a1200" }]);
        let hash = ask("eth_sendTransaction", call);
        while ask("eth_getTransactionReceipt", json!([hash])).is_null() {
            thread::yield_now(); // it is mined a moment later
        }
    }

    /// As `concord deploy` writes it.
    pub(crate) fn book(&self) -> Value {
        let record = |address: String, block: u64| json!({ "address": address, "codeHash": "00", "block": block });
        let evm = self.registries();
        let optional = |it: Option<Address>| record(it.unwrap().to_string(), 0);
        json!({ "$schema": "addresses.schema.json", "chains": {
            "eip155:31337": { "deployer": "", "settings": {}, "contracts": {
                "IdentityRegistry": record(evm.identity.to_string(), 0),
                "ReputationRegistry": optional(evm.open_reputation),
                "AuthorizedReputationRegistry": optional(evm.authorized_reputation),
                "ValidationRegistry": optional(evm.validation),
            }},
            "eip155:1": { "deployer": "", "settings": {}, "contracts": {} },
            "solana:localnet": { "deployer": "", "settings": {}, "contracts": {
                "AgentRegistry": record(self.cluster.program.id().to_string(), self.cluster.start),
            }},
        }})
    }
}

fn concord_index(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = concord(&["index"]);
    command
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap()
}

fn words(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// What `status` says of each chain: its events, and that nothing is missing or unread.
fn events(folder: &Path) -> Vec<(String, u64)> {
    let status = concord_index(folder, &["status"]);
    assert_eq!(status.status.code(), Some(0), "{}", words(&status));
    let lines = String::from_utf8(status.stdout).unwrap();
    let mut found: Vec<(String, u64)> = (lines.lines())
        .map(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            let state = json!({ "unread": 0, "differing": 0, "differences": [] });
            assert_eq!(line["state"], state, "{line}");
            let chain = line["chain"].as_str().unwrap().to_owned();
            (chain, line["events"].as_u64().unwrap())
        })
        .collect();
    found.sort();
    let verified = concord_index(folder, &["verify"]);
    assert_eq!(verified.status.code(), Some(0), "{}", words(&verified));
    found
}

#[test]
fn one_command_indexes_an_anvil_and_a_cluster_from_the_address_book() {
    let chains = Chains::start();
    let cluster = chains.cluster.cluster.url();
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("deployments")).unwrap();
    let book = folder.path().join("deployments/addresses.json");
    fs::write(&book, chains.book().to_string()).unwrap();
    let run = ["run", "--once", "--rpc", chains.url(), "--rpc", &cluster];
    let done = concord_index(folder.path(), &run);
    assert_eq!(done.status.code(), Some(0), "{}", words(&done));
    for chain in ["eip155:31337", "solana:localnet"] {
        let line = format!("{chain}: everything up to block");
        assert!(words(&done).contains(&line), "{}", words(&done));
    }
    let first = events(folder.path());
    let names: Vec<&str> = first.iter().map(|(chain, _)| &**chain).collect();
    assert_eq!(names, ["eip155:31337", "solana:localnet"]);
    // An agent, three reviews, and that the registry was made.
    assert!(first[1].1 >= 4, "{first:?}");

    // It goes on where it ended, with the book named, whatever the endpoints' order.
    chains.register("ipfs://three");
    let book = book.to_str().unwrap();
    let again = [
        "run",
        "--once",
        "--rpc",
        &cluster,
        "--rpc",
        chains.url(),
        "--address-book",
        book,
    ];
    let done = concord_index(folder.path(), &again);
    assert_eq!(done.status.code(), Some(0), "{}", words(&done));
    let second = events(folder.path());
    assert!(
        second[0].1 > first[0].1 && second[1] == first[1],
        "{second:?}"
    );
}

#[test]
fn one_command_indexes_an_anvil_and_a_cluster_whose_registries_are_named() {
    let chains = Chains::start();
    let cluster = chains.cluster.cluster.url();
    let folder = tempfile::tempdir().unwrap();
    let (evm, program) = (chains.registries(), chains.cluster.program.id().to_string());
    let identity = evm.identity.to_string();
    let both = ["run", "--once", "--rpc", chains.url(), "--rpc", &cluster];
    let named = ["--identity", &identity, "--program", &program];
    let done = concord_index(folder.path(), &[&both[..], &named[..]].concat());
    assert_eq!(done.status.code(), Some(0), "{}", words(&done));
    assert_eq!(events(folder.path()).len(), 2);

    // What is not known is named, and nothing is indexed.
    let folder = tempfile::tempdir().unwrap();
    let [first, second] = [chains.url(), &*cluster].map(host);
    let keyed = [
        format!("http://{first}/?apikey={SECRET}"),
        format!("http://{second}/v2/{SECRET}"),
    ];
    let both = ["run", "--once", "--rpc", &keyed[0], "--rpc", &keyed[1]];
    let refusals = [
        (&[][..], "deployments/addresses.json is not here".to_owned()),
        (
            &["--identity", &identity],
            format!("of {second}: which registries? Give --program"),
        ),
        (
            &["--program", &program],
            format!("of {first}: which registries? Give --identity"),
        ),
        (
            &["--address-book", "none.json"],
            "--address-book none.json".to_owned(),
        ),
        (
            &[
                "--identity",
                &identity,
                "--program",
                &program,
                "--chain",
                "eip155:31337",
            ],
            "of several".to_owned(),
        ),
    ];
    for (more, named) in refusals {
        let refused = concord_index(folder.path(), &[&both, more].concat());
        let words = words(&refused);
        assert_eq!(refused.status.code(), Some(2), "{more:?}: {words}");
        assert!(words.contains(&named), "{more:?}: {words}");
        assert!(!words.contains(SECRET), "{more:?}: {words}");
    }
    assert!(!folder.path().join("concord-index.sqlite").exists());
}

/// Host and port.
fn host(url: &str) -> &str {
    url.trim_start_matches("http://").trim_end_matches('/')
}
