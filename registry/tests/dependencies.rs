//! Dependencies point downwards only, and this crate brings no network.
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    process::Command,
};

const MANIFEST: &str = env!("CARGO_MANIFEST_DIR");

/// What each crate of the workspace may depend on, among the workspace's own.
const ARROWS: &[(&str, &[&str])] = &[
    ("concord-canonical", &[]),
    ("concord-oracle", &["concord-canonical"]),
    ("concord-canonical-python", &["concord-oracle"]),
    ("concord-wasm-exchange", &[]),
    (
        "concord-canonical-wasm",
        &["concord-oracle", "concord-wasm-exchange"],
    ),
    (
        "concord-explain-wasm",
        &["concord-explain", "concord-wasm-exchange"],
    ),
    ("concord-files", &["concord-canonical"]),
    ("concord-registry", &["concord-canonical"]),
    (
        "concord-chain",
        &[
            "concord-canonical",
            "concord-files", // which puts a file together from IPFS's blocks
            "concord-registry",
        ],
    ),
    (
        "concord-deploy",
        &["concord-canonical", "concord-registry", "concord-chain"],
    ),
    ("concord-embed", &[]),
    (
        "concord-harness",
        &["concord-canonical", "concord-registry", "concord-chain"],
    ),
    (
        "concord", // the command calls every room
        &[
            "concord-canonical",
            "concord-embed",
            "concord-registry",
            "concord-chain",
            "concord-oracle",
            "concord-deploy",
            "concord-explain",
            "concord-files",
            "concord-harness",
            "concord-aggregator",
            "concord-index",
            "concord-watchtower",
            "concord-x402",
        ],
    ),
    (
        "concord-client",
        &[
            "concord-canonical",
            "concord-files",
            "concord-registry",
            "concord-chain",
        ],
    ),
    (
        "concord-x402",
        &[
            "concord-canonical",
            "concord-files",
            "concord-registry",
            "concord-chain",
            "concord-client", // sends feedback and keeps its files
        ],
    ),
    (
        "concord-growth", // measures the index
        &["concord-chain", "concord-index", "concord-registry"],
    ),
    (
        "concord-sql",
        &["concord-canonical", "concord-registry", "concord-chain"],
    ),
    (
        "concord-testkit", // of tests alone
        &[
            "concord-canonical",
            "concord-chain",
            "concord-files",
            "concord-local-cluster",
            "concord-registry",
            "concord-sql",
            "concord-x402",
        ],
    ),
    (
        "concord-index",
        &[
            "concord-canonical",
            "concord-files",
            "concord-registry",
            "concord-chain",
            "concord-sql",
            "concord-client", // its command line asks an index
        ],
    ),
    (
        "concord-explain",
        &[
            "concord-canonical",
            "concord-files",
            "concord-registry",
            "concord-x402",  // its checks of signer and payment, without its network
            "concord-chain", // its reader of chains, which is off by default
        ],
    ),
    (
        "concord-aggregator",
        &[
            "concord-canonical",
            "concord-files",
            "concord-registry",
            "concord-chain",
            "concord-client", // keeps files on an IPFS node
            "concord-x402",
            "concord-sql",
        ],
    ),
    (
        "concord-watchtower",
        &[
            "concord-canonical",
            "concord-files",
            "concord-registry",
            "concord-chain",
            "concord-x402", // gives feedback, reads agents and offers
        ],
    ),
    (
        "weather-agent",
        &[
            "concord-canonical",
            "concord-chain",
            "concord-files",
            "concord-local-cluster",
            "concord-registry",
            "concord-x402",
        ],
    ),
    ("concord-local-cluster", &[]),
    ("agent-registry", &["concord-canonical", "sbf-rt"]),
    ("canonical-probe", &["concord-canonical", "sbf-rt"]),
    ("test-caller", &["sbf-rt"]),
    ("sbf-rt", &[]),
];

/// Crates that open connections, or run those that do, and the program with its framework.
const NOT_BELOW_REGISTRY: &[&str] = &[
    "tokio",
    "mio",
    "socket2",
    "hyper",
    "reqwest",
    "rustls",
    "async-trait",
    "futures-util",
    "alloy",
    "alloy-provider",
    "alloy-transport",
    "solana-client",
    "solana-rpc-client",
    "litesvm",
    "anchor-lang",
    "agent-registry",
];

fn cargo(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .current_dir(Path::new(MANIFEST))
        .output()
        .expect("cargo runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo {arguments:?}: {errors}");
    String::from_utf8(output.stdout).expect("cargo writes UTF-8")
}

/// The crates of the workspace that each of them depends on, but for its tests.
fn declared() -> BTreeMap<String, BTreeSet<String>> {
    let metadata: Value =
        serde_json::from_str(&cargo(&["metadata", "--no-deps", "--format-version", "1"])).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let name = |it: &Value| it["name"].as_str().unwrap().to_owned();
    let normal = |it: &&Value| it["kind"] != "dev" && !it["path"].is_null();
    packages
        .iter()
        .map(|package| {
            let dependencies = package["dependencies"].as_array().unwrap();
            let own = dependencies.iter().filter(normal).map(name).collect();
            (name(package), own)
        })
        .collect()
}

#[test]
fn dependencies_point_downwards() {
    let arrows: BTreeMap<_, _> = ARROWS.iter().copied().collect();
    for (package, dependencies) in declared() {
        let allowed = arrows
            .get(&*package)
            .unwrap_or_else(|| panic!("{package} is missing in ARROWS"));
        let forbidden: Vec<_> = dependencies
            .iter()
            .filter(|it| !allowed.contains(&it.as_str()))
            .collect();
        assert!(
            forbidden.is_empty(),
            "{package} must not depend on {forbidden:?}"
        );
    }
}

#[test]
fn no_network_crate_and_no_program_is_below_this_one() {
    let package = env!("CARGO_PKG_NAME");
    let tree = cargo(&[
        "tree", "--locked", "-p", package, "-e", "normal", "--prefix", "none", "--format", "{p}",
    ]);
    let below: BTreeSet<_> = tree
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert!(below.contains("concord-canonical") && below.contains("alloy-sol-types"));
    for name in NOT_BELOW_REGISTRY {
        assert!(!below.contains(name), "{name} is below {package}");
    }
}
