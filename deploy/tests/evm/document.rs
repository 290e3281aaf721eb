//! The EVM commands of docs/DEPLOYING.md are run as they stand there, and print what stands there.
//! `CONCORD_BLESS=1` writes the output into the document anew.
use crate::{
    console::{parse, print},
    keys::keystore,
    local_chain::{BASE_SEPOLIA, LocalChain, PASSWORD, deployer},
    process::clone_root,
};
use std::{env, fs, path::Path, process::Command};

const WRAPPER: &str = "scripts/deploy-base-sepolia";

/// Stdout, and what the program itself says on stderr; progress is left out.
fn run(command: &str, chain: &LocalChain, deployments: &Path, password: &Path) -> Vec<String> {
    let output = Command::new("bash")
        .args(["-c", command])
        .current_dir(clone_root())
        .env("CONCORD_RPC_URL", chain.url())
        .env("CONCORD_EVM_KEYSTORE", keystore("scrypt.json"))
        .env("CONCORD_EVM_PASSWORD_FILE", password)
        .env("CONCORD_DEPLOYMENTS", deployments)
        .env(
            "CONCORD_DEPLOY_PROGRAM",
            env!("CARGO_BIN_EXE_concord-deploy"),
        )
        .output()
        .unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    let said = stderr.lines().filter(|line| line.starts_with("concord: "));
    (stdout.lines().chain(said))
        .map(|line| line.replace(deployments.to_str().unwrap(), "deployments"))
        .collect()
}

/// What depends on when a block came: transactions, block numbers, fees.
fn masked(lines: &[String]) -> Vec<String> {
    let mask = |word: &str| {
        let is_hash = word.len() == 66 && word.starts_with("0x") || word.contains("/tx/0x");
        let is_fee = word.parse::<f64>().is_ok() && word.contains('.');
        let is_block = word.parse::<u64>().is_ok_and(|number| number < 10_000);
        let is_varying = is_hash || is_fee || is_block;
        if is_varying { "…" } else { word }.to_owned()
    };
    let lines = lines.iter().filter(|line| !line.starts_with("client ")); // another every time
    let line = |line: &String| {
        line.split_whitespace()
            .map(mask)
            .collect::<Vec<_>>()
            .join(" ")
    };
    lines.map(line).collect()
}

#[test]
fn every_command_of_the_document_prints_what_it_says() {
    let path = clone_root().join("docs/DEPLOYING.md");
    let mut parts = parse(&fs::read_to_string(&path).unwrap());
    // Blocks come by themselves, as they do on Base: confirmations are waited for.
    let chain = LocalChain::start_with(BASE_SEPOLIA, &["--block-time", "1"]);
    let folder = tempfile::tempdir().unwrap();
    let password = folder.path().join("password");
    fs::write(&password, PASSWORD).unwrap();
    let deployments = folder.path().join("deployments");

    let mut commands = Vec::new();
    let examples = parts.iter_mut().flat_map(|(_, examples)| examples);
    for example in examples.filter(|example| example.command.starts_with(WRAPPER)) {
        let output = run(&example.command, &chain, &deployments, &password);
        if env::var_os("CONCORD_BLESS").is_some() {
            example.output.clone_from(&output);
        }
        assert_eq!(
            masked(&output),
            masked(&example.output),
            "{}",
            example.command
        );
        commands.push(example.command.clone());
    }
    for command in ["plan", "apply", "resume", "verify", "status", "smoke"] {
        let wrapper = format!("{WRAPPER} {command}");
        let is_shown = commands.iter().any(|shown| shown.starts_with(&wrapper));
        assert!(is_shown, "{wrapper} is not in the document");
    }
    assert_eq!(chain.nonce(deployer().address()), 4 + 2); // an agent, and its client's funds
    if env::var_os("CONCORD_BLESS").is_some() {
        fs::write(&path, print(&parts)).unwrap();
    }
}
