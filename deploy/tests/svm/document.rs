//! The Solana commands of docs/DEPLOYING.md are run as they stand there, and print what stands
//! there. `CONCORD_BLESS=1` writes the output into the document anew.
use crate::{
    cluster::{Cluster, LOCALNET},
    console::{Example, parse, print},
    process::{clone_root, json_file},
    workplace::Workplace,
};
use std::{env, fs, process::Command};

const WRAPPER: &str = "scripts/deploy-solana-devnet";

/// Stdout, and what the program itself says on stderr; progress is left out.
fn run(command: &str, cluster: &Cluster, workplace: &Workplace) -> Vec<String> {
    let deployments = workplace.deployments();
    let output = Command::new("bash")
        .args(["-c", command])
        .current_dir(clone_root())
        .env("CONCORD_RPC_URL", cluster.url())
        .env("CONCORD_SOLANA_CHAIN", LOCALNET)
        .env("CONCORD_SOLANA_KEYPAIR", workplace.file("deployer.json"))
        .env("CONCORD_PROGRAM_KEYPAIR", workplace.file("program.json"))
        .env("CONCORD_DEPLOYMENTS", &deployments)
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

/// What depends on when and where it was: signatures, slots, keys that were made for this, the hash of
/// the build. With another
/// toolchain's program its size differs too, and with it every sum.
fn masked(lines: &[String], is_same_build: bool) -> Vec<String> {
    let mask = |word: &str, of_one_run: bool| {
        let is_signature = (86..=88).contains(&word.len());
        let is_slot = word.len() == 9 && word.parse::<u64>().is_ok();
        let is_sum = !is_same_build && word.contains(|digit: char| digit.is_ascii_digit());
        let is_key = of_one_run && word.len() > 30;
        let is_hash = word.starts_with("0x"); // so does the buffer's address, which is made of it
        let varies = is_signature || is_slot || is_sum || is_key || is_hash;
        if varies { "…" } else { word }.to_owned()
    };
    let line = |line: &String| {
        let starts = ["agent ", "client ", "buffer"];
        let of_one_run = starts.iter().any(|start| line.starts_with(start));
        let words = line.split_whitespace();
        let words: Vec<String> = words.map(|word| mask(word, of_one_run)).collect();
        words.join(" ")
    };
    let is_about_the_build = |line: &&String| line.starts_with("program of ");
    (lines
        .iter()
        .filter(|line| is_same_build || !is_about_the_build(line)))
    .map(line)
    .collect()
}

fn is_ours(example: &&mut Example) -> bool {
    example.command.starts_with(WRAPPER)
}

#[test]
fn every_command_of_the_document_prints_what_it_says() {
    let path = clone_root().join("docs/DEPLOYING.md");
    let document = fs::read_to_string(&path).unwrap();
    let mut parts = parse(&document);
    let cluster = Cluster::start();
    let workplace = Workplace::at(&cluster);
    let is_blessed = env::var_os("CONCORD_BLESS").is_some();
    let build = json_file(&clone_root().join("target/deploy/agent_registry.build.json"));
    let toolchain = format!("built by {}", build["toolchain"].as_str().unwrap());
    let is_same_build = is_blessed || document.contains(&toolchain);

    let mut commands = Vec::new();
    let examples = parts.iter_mut().flat_map(|(_, examples)| examples);
    for example in examples.filter(is_ours) {
        let output = run(&example.command, &cluster, &workplace);
        if is_blessed {
            example.output.clone_from(&output);
        }
        assert_eq!(
            masked(&output, is_same_build),
            masked(&example.output, is_same_build),
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
    if is_blessed {
        fs::write(&path, print(&parts)).unwrap();
    }
}
