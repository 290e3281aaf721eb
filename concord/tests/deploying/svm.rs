use crate::deploying::{Walk, document, is_blessed, text};
use crate::invocation::clone_root;
use concord_local_cluster::{LocalCluster, Options, Server};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use solana_keypair::Keypair;
use solana_signer::Signer;
use std::{fs, path::Path, time::Duration};

const SLOT: Duration = Duration::from_millis(20);
const SOL: u64 = 1_000_000_000;

/// What depends on when and where it was: signatures, slots, keys that were made for this, the hash
/// of the build. With another toolchain's program its size differs too, and with it every sum.
fn masked(lines: &[String], is_same_build: bool) -> Vec<String> {
    let mask = |word: &str, next: &str, of_one_run: bool| {
        let is_signature = (86..=88).contains(&word.len());
        let is_slot = word.len() == 9 && word.parse::<u64>().is_ok();
        let is_sum = !is_same_build && word.contains(|digit: char| digit.is_ascii_digit());
        let is_key = of_one_run && word.len() > 30;
        let is_hash = word.starts_with("0x"); // so does the buffer's address, which is made of it
        let is_compute_units = next == "CU"; // they depend on the bumps of the run's addresses
        let varies = is_signature || is_slot || is_sum || is_key || is_hash || is_compute_units;
        if varies { "…" } else { word }.to_owned()
    };
    let line = |line: &String| {
        let of_one_run = line.starts_with("buffer");
        let words: Vec<&str> = line.split_whitespace().collect();
        let next = |at: usize| words.get(at + 1).copied().unwrap_or_default();
        let words = words.iter().enumerate();
        let words: Vec<String> = words
            .map(|(at, word)| mask(word, next(at), of_one_run))
            .collect();
        words.join(" ")
    };
    let is_about_the_build = |line: &&String| line.starts_with("program of ");
    (lines
        .iter()
        .filter(|line| is_same_build || !is_about_the_build(line)))
    .map(line)
    .collect()
}

/// As solana-keygen writes it: the secret's 32 bytes, then the public key's.
fn write_keypair(path: &Path, key: &Keypair) -> String {
    fs::write(path, json!(key.to_bytes().to_vec()).to_string()).unwrap();
    text(path)
}

/// Was the program built by the toolchain that the document's was built by?
fn is_same_build() -> bool {
    let build = clone_root().join("target/deploy/agent_registry.build.json");
    let build: Value = serde_json::from_slice(&fs::read(build).unwrap()).unwrap();
    let toolchain = format!("built by {}", build["toolchain"].as_str().unwrap());
    is_blessed() || document().contains(&toolchain)
}

#[test]
fn every_command_of_the_document_prints_what_it_says() {
    let deployer = Keypair::new_from_array([7; 32]);
    // The key of `programs/agent-registry/build.rs`.
    let program = Keypair::new_from_array(Sha256::digest(b"concord localnet program").into());
    let options = Options {
        slot_duration: SLOT,
        funded: vec![(deployer.pubkey(), 100 * SOL)],
        ..Options::default()
    };
    let cluster = Server::start(LocalCluster::new(options), 0).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let is_same_build = is_same_build();
    Walk {
        wrapper: "scripts/deploy-solana-devnet",
        chain: &[
            ("CONCORD_RPC_URL", cluster.url()),
            ("CONCORD_SOLANA_CHAIN", "solana:localnet".to_owned()),
            (
                "CONCORD_SOLANA_KEYPAIR",
                write_keypair(&folder.path().join("deployer.json"), &deployer),
            ),
            (
                "CONCORD_PROGRAM_KEYPAIR",
                write_keypair(&folder.path().join("program.json"), &program),
            ),
        ],
        deployments: folder.path().join("deployments"),
        masked: &|lines| masked(lines, is_same_build),
    }
    .assert_prints_what_the_document_says();
}
