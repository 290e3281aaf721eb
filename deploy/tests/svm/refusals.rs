//! What can be known beforehand is one clear error, and nothing is sent.
use crate::shared::process::answer;
use crate::svm::{
    cluster::{Cluster, DEVNET, DEVNET_GENESIS, LOCALNET, deployer, program_key},
    workplace::{APPLY, Workplace, built, built_path},
};
use concord_local_cluster::Options;
use serde_json::json;
use solana_signer::Signer;
use solana_system_interface::instruction as system;

fn own_id() -> String {
    program_key().pubkey().to_string()
}

#[test]
fn refuses_another_cluster_than_the_one_named() {
    let cluster = Cluster::start();
    let own = Cluster::options().chain_id();
    let refused = Workplace::at(&cluster).of_chain(DEVNET).apply(&[]);
    refused.assert_refused(
        2,
        &format!("the RPC endpoint is chain {own}, --chain says {DEVNET}"),
    );

    let devnet = Cluster::with(Options {
        genesis_hash: DEVNET_GENESIS.parse().unwrap(),
        ..Cluster::options()
    });
    let refused = Workplace::at(&devnet).of_chain(LOCALNET).apply(&[]);
    refused.assert_refused(2, &format!("is chain {DEVNET}, --chain says {LOCALNET}"));
    cluster.assert_nothing_was_sent();
    devnet.assert_nothing_was_sent();
}

/// A program needs no sources: `--deployments` and `--program`, which the error names, are enough.
#[test]
fn outside_a_clone_a_program_is_deployed_from_the_files_that_are_named() {
    let cluster = Cluster::start();
    let workplace = Workplace::at(&cluster);
    let elsewhere = |arguments: &[&str]| {
        let mut command = workplace.command(&[APPLY, arguments].concat());
        command.current_dir(workplace.file(""));
        answer(command.spawn().unwrap())
    };
    let words = "run inside one, or pass --deployments and --program";
    elsewhere(&[]).assert_refused(2, words);
    cluster.assert_nothing_was_sent();
    let program = built_path();
    elsewhere(&["--program", program.to_str().unwrap()]).assert_done();
    workplace.run(&["verify"]).assert_done();
}

/// Its genesis hash is the cluster's name too.
#[test]
fn a_cluster_s_own_reference_names_it() {
    let cluster = Cluster::start();
    let own = Cluster::options().chain_id();
    let workplace = Workplace::at(&cluster).of_chain(&own);
    workplace
        .apply(&[])
        .assert_refused(2, "is not a listed testnet");
    workplace.apply(&["--allow-mainnet"]).assert_done();
    workplace.run(&["verify"]).assert_done();
}

/// Everybody has the key of the development id.
#[test]
fn refuses_the_development_id_on_public_clusters() {
    let devnet = Cluster::with(Options {
        genesis_hash: DEVNET_GENESIS.parse().unwrap(),
        ..Cluster::options()
    });
    let refused = Workplace::at(&devnet).of_chain(DEVNET).apply(&[]);
    refused.assert_refused(2, "whose secret key is public: set CONCORD_PROGRAM_ID");
    devnet.assert_nothing_was_sent();
}

#[test]
fn refuses_a_program_of_another_id_than_its_keypairs() {
    let cluster = Cluster::start();
    let other = deployer().pubkey().to_string();
    let workplace = Workplace::at(&cluster).with_program("other", &built(), &other);
    let words = format!(
        "the program is built for {other}, and the program's keypair is for {}",
        own_id()
    );
    workplace.apply(&[]).assert_refused(2, &words);
    cluster.assert_nothing_was_sent();
}

#[test]
fn refuses_a_balance_that_does_not_reach() {
    let cluster = Cluster::with(Options {
        funded: vec![(deployer().pubkey(), 2_000_000_000)],
        ..Cluster::options()
    });
    let refused = Workplace::at(&cluster).apply(&[]);
    assert_eq!(refused.code, Some(2));
    let words = "has 2.000000000 SOL, the deployment needs up to ";
    let needed = refused.stderr.trim_end().split_once(words).unwrap().1;
    let needed: f64 = needed.strip_suffix(" SOL").unwrap().parse().unwrap();
    assert!(needed > 2.5, "{needed}");
    assert!(refused.stdout.contains("short"), "{}", refused.stdout);
    assert_eq!(cluster.signatures().len(), 0);
}

/// sBPF v3's gate.
#[test]
fn refuses_a_program_that_the_cluster_s_runtime_does_not_take() {
    let gate = "5cC3foj77CWun58pC51ebHFUWavHWKarWyR5UUik7dnC";
    let cluster = Cluster::with(Options {
        inactive_features: vec![gate.parse().unwrap()],
        ..Cluster::options()
    });
    let refused = Workplace::at(&cluster).apply(&[]);
    refused.assert_refused(
        2,
        "the program is for sBPF version 3, and the cluster takes [0",
    );
    cluster.assert_nothing_was_sent();
}

#[test]
fn refuses_an_account_of_something_else_at_the_program_s_address() {
    let cluster = Cluster::start();
    let (key, payer) = (program_key(), deployer().pubkey());
    let taken = [
        system::transfer(&payer, &key.pubkey(), 10_000_000),
        system::allocate(&key.pubkey(), 100),
    ];
    cluster.carry_out(&taken, &[&key]);
    let refused = Workplace::at(&cluster).apply(&[]);
    refused.assert_refused(2, &format!("program: other code is at {}", own_id()));
}

#[test]
fn refuses_a_registry_that_was_initialized_for_another_chain() {
    let cluster = Cluster::start();
    let own = Cluster::options().chain_id();
    let first = Workplace::at(&cluster).of_chain(&own);
    first.apply(&["--allow-mainnet"]).assert_done();
    let sent = cluster.signatures().len();
    let refused = Workplace::at(&cluster).apply(&[]);
    refused.assert_refused(
        2,
        &format!("is initialized for {own}, which cannot be changed, expected {LOCALNET}"),
    );
    assert_eq!(cluster.signatures().len(), sent);
}

#[test]
fn refuses_files_that_are_no_program() {
    let cluster = Cluster::start();
    let workplace = || Workplace::at(&cluster);
    let refused = workplace()
        .with_program("text", b"#!/bin/sh", &own_id())
        .apply(&[]);
    refused.assert_refused(2, "is not a 64-bit little-endian ELF for SBF");
    let two = workplace().with_program("two", &built(), &own_id());
    std::fs::write(two.file("two.so"), &built()[1..]).unwrap();
    two.apply(&[])
        .assert_refused(2, "is about a program with SHA-256");
    std::fs::remove_file(two.file("two.so")).unwrap();
    two.apply(&[])
        .assert_refused(3, "not found: run scripts/build-program");
    cluster.assert_nothing_was_sent();
}

#[test]
fn refuses_options_of_the_other_kind_of_chain() {
    let cluster = Cluster::start();
    let workplace = Workplace::at(&cluster);
    for (option, value) in [
        ("salt", "x"),
        ("accepts-draft-v1", "true"),
        ("max-fee", "1"),
    ] {
        let words = format!("--{option} is for EVM chains, not for {LOCALNET}");
        workplace
            .plan(&[&format!("--{option}"), value])
            .assert_refused(2, &words);
    }
    let evm = workplace.of_chain("eip155:84532");
    let words = "--upgrade-authority is for Solana chains, not for eip155:84532";
    evm.plan(&[]).assert_refused(2, words);
}

#[test]
fn refuses_a_first_price_above_the_most() {
    let cluster = Cluster::start();
    let prices = ["--priority-fee", "9", "--max-priority-fee", "8"];
    let refused = Workplace::at(&cluster).plan(&prices);
    refused.assert_refused(2, "--priority-fee 9: above --max-priority-fee 8");
}

#[test]
fn a_priority_fee_is_paid_as_asked_for() {
    let cluster = Cluster::start_slow();
    let workplace = Workplace::at(&cluster);
    workplace
        .apply(&["--priority-fee", "1000000"])
        .assert_done();
    let run = workplace.run_record();
    let write = &run["steps"][1]["landing"];
    // 5,000 a signature, and 3,000 units at one lamport
    assert_eq!(write["cost"], json!("8000"));
}
