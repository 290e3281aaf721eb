//! Versions of what took part in a run, and hashes of what it checked.
use super::{
    arguments::{BackendName, Conform},
    files::{ARTIFACTS, PROGRAM, built},
};
use crate::report::{Artifact, Provenance, Version};
use concord_canonical::hash;
use concord_chain::ChainId;
use concord_deploy::Deployment;
use std::{env, fs, path::Path, process::Command};

const CONTRACTS: &[&str] = &[
    "IdentityRegistry",
    "AuthorizedReputationRegistry",
    "ReputationRegistry",
    "ValidationRegistry",
];
/// Crates whose version says what a chain did.
const CRATES: &[&str] = &["alloy", "litesvm", "revm"];
const LOCK: &str = include_str!("../../../Cargo.lock");

/// Of a run whose backends have started, so that their files are known to be usable.
pub(super) fn provenance(options: &Conform) -> Provenance {
    let mut provenance = Provenance::default();
    note_version(&mut provenance, "concord", env!("CARGO_PKG_VERSION"));
    let is_chosen = |name| options.backend.contains(&name);
    if is_chosen(BackendName::EvmAnvil) {
        note_anvil(&mut provenance, options);
    }
    if is_chosen(BackendName::EvmAnvil) || is_chosen(BackendName::EvmRevm) {
        note_contracts(&mut provenance, options);
    }
    if is_chosen(BackendName::SvmLitesvm) {
        let file = built(options.program.as_deref(), PROGRAM).ok();
        if let Some(elf) = file.and_then(|it| fs::read(it).ok()) {
            provenance.artifacts.push(Artifact {
                name: "agent_registry.so".to_owned(),
                kind: "sha256 of the ELF file".to_owned(),
                hash: format!("0x{}", hex::encode(hash::sha256(&elf))),
            });
        }
    }
    for name in CRATES {
        if let Some(version) = locked(name) {
            note_version(&mut provenance, name, version);
        }
    }
    provenance
}

/// Of a run on registries that are already deployed.
pub(super) fn of_deployment(chain: &ChainId, deployment: &Deployment) -> Provenance {
    let mut provenance = Provenance::default();
    note_version(&mut provenance, "concord", env!("CARGO_PKG_VERSION"));
    for (contract, record) in &deployment.contracts {
        provenance.artifacts.push(Artifact {
            name: contract.clone(),
            kind: format!("code hash on record at {} on {chain}", record.address),
            hash: record.code_hash.clone(),
        });
    }
    provenance
}

/// Of a list of what the registries' own refusals mean (`--error-classes`).
pub(super) fn of_error_classes(path: &Path, text: &str) -> Artifact {
    let name = path.file_name().unwrap_or(path.as_os_str());
    Artifact {
        name: name.to_string_lossy().into_owned(),
        kind: "sha256 of the list of error classes".to_owned(),
        hash: format!("0x{}", hex::encode(hash::sha256(text.as_bytes()))),
    }
}

fn note_version(provenance: &mut Provenance, tool: &str, version: &str) {
    provenance.versions.push(Version {
        tool: tool.to_owned(),
        version: version.to_owned(),
    });
}

fn note_anvil(provenance: &mut Provenance, options: &Conform) {
    let anvil = options
        .anvil
        .clone()
        .map_or_else(|| env::var_os("CONCORD_ANVIL"), |path| Some(path.into()))
        .unwrap_or_else(|| "anvil".into());
    if let Some(version) = first_line(Command::new(anvil).arg("--version")) {
        let number = version.rsplit(' ').next().unwrap_or(&version);
        note_version(provenance, "anvil", number);
    }
}

fn note_contracts(provenance: &mut Provenance, options: &Conform) {
    let Ok(folder) = built(options.artifacts.as_deref(), ARTIFACTS) else {
        return;
    };
    let mut compiler = None;
    for contract in CONTRACTS {
        let Some((artifact, solc)) = contract_artifact(&folder, contract) else {
            continue;
        };
        provenance.artifacts.push(artifact);
        compiler = compiler.or(solc);
    }
    if let Some(solc) = compiler {
        note_version(provenance, "solc", &solc);
    }
}

fn contract_artifact(folder: &Path, contract: &str) -> Option<(Artifact, Option<String>)> {
    let path = folder
        .join(format!("{contract}.sol"))
        .join(format!("{contract}.json"));
    let built: serde_json::Value = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    let code = hex::decode(built["bytecode"]["object"].as_str()?.strip_prefix("0x")?).ok()?;
    let artifact = Artifact {
        name: contract.to_owned(),
        kind: "keccak256 of the creation bytecode".to_owned(),
        hash: format!("0x{}", hex::encode(hash::keccak256(&code))),
    };
    let solc = built["metadata"]["compiler"]["version"].as_str();
    Some((artifact, solc.map(str::to_owned)))
}

/// The first line that a command prints.
pub(super) fn first_line(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|it| it.status.success())?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .map(str::to_owned)
}

/// A crate's version in the lock that this binary was built with.
fn locked(name: &str) -> Option<&'static str> {
    let (_, rest) = LOCK.split_once(&format!("name = \"{name}\"\nversion = \""))?;
    rest.split('"').next()
}
