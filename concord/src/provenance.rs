//! Versions of what took part in a run, and hashes of what it checked.
use super::{
    arguments::{BackendName, Conform},
    conform::dialect,
    files::{ARTIFACTS, PROGRAM, built},
};
use concord_canonical::hash;
use concord_chain::ChainId;
use concord_deploy::Deployment;
use concord_harness::{
    backend::{evm::FoundCode, svm::FoundProgram},
    model::Chain,
    report::{Artifact, Fact, Provenance, Version},
};
use std::{env, fs, path::Path, process::Command};

const CONTRACTS: &[&str] = &[
    "IdentityRegistry",
    "AuthorizedReputationRegistry",
    "ReputationRegistry",
    "ValidationRegistry",
];
const LOCK: &str = include_str!("../../Cargo.lock");

/// Of a run whose backends have started, so that their files are known to be usable.
pub(super) fn provenance(options: &Conform) -> Provenance {
    let mut provenance = Provenance::default();
    note_version(&mut provenance, "concord", env!("CARGO_PKG_VERSION"));
    let is_chosen = |name| options.backend.contains(&name);
    if is_chosen(BackendName::EvmAnvil) {
        note_anvil(&mut provenance, options);
    }
    let is_evm = is_chosen(BackendName::EvmAnvil) || is_chosen(BackendName::EvmRevm);
    if is_evm {
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
    let crates = [
        ("alloy", is_evm || options.evm_rpc.is_some()),
        ("litesvm", is_chosen(BackendName::SvmLitesvm)),
        ("revm", is_chosen(BackendName::EvmRevm)),
    ];
    for (name, took_part) in crates {
        if let (true, Some(version)) = (took_part, locked(name)) {
            note_version(&mut provenance, name, version);
        }
    }
    provenance
}

/// Registries on an EVM node. HARN-60: a report says which they were.
pub(super) fn note_registries(
    provenance: &mut Provenance,
    participant: &str,
    options: &Conform,
    found: &[FoundCode],
) {
    let chain = format!("eip155:{}", options.chain_id);
    note_fact(provenance, participant, "chain", &chain);
    note_fact(provenance, participant, "interface", dialect(options).1);
    for code in found {
        if let Some(version) = &code.version {
            let name = format!("{} version", code.contract);
            note_fact(provenance, participant, &name, version);
        }
        provenance.artifacts.push(Artifact {
            name: code.contract.to_owned(),
            kind: format!("keccak256 of the code at {} on {chain}", code.address),
            hash: code.hash.to_string(),
        });
        if let Some((address, hash)) = code.implementation {
            provenance.artifacts.push(Artifact {
                name: format!("{}'s implementation", code.contract),
                kind: format!("keccak256 of the code at {address} on {chain}"),
                hash: hash.to_string(),
            });
        }
    }
}

/// The program on a Solana node.
pub(super) fn note_program(provenance: &mut Provenance, participant: &str, found: FoundProgram) {
    let FoundProgram { id, chain, hash } = found;
    note_fact(provenance, participant, "chain", &chain);
    note_fact(provenance, participant, "program", &id.to_string());
    if let Some(hash) = hash {
        provenance.artifacts.push(Artifact {
            name: "the program".to_owned(),
            kind: format!("sha256 of the ELF at {id} on {chain}"),
            hash,
        });
    }
}

pub(super) fn note_adapter(
    provenance: &mut Provenance,
    participant: &str,
    chain: Chain,
    command: &str,
) {
    note_fact(provenance, participant, "chain", &chain.to_string());
    note_fact(
        provenance,
        participant,
        "command",
        &without_keys_in_urls(command),
    );
}

/// Paths, queries and user names of URLs often hold a provider's key, and reports are passed on.
fn without_keys_in_urls(command: &str) -> String {
    let shortened = |word: &str| {
        let Some((before, rest)) = word.split_once("://") else {
            return word.to_owned();
        };
        let authority = rest
            .split(['/', '?', '#', '\'', '"'])
            .next()
            .unwrap_or_default();
        let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
        if user.is_empty() && authority.len() == rest.len() {
            word.to_owned()
        } else {
            format!("{before}://{host}/…")
        }
    };
    let words: Vec<_> = command.split(' ').map(shortened).collect();
    words.join(" ")
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

fn note_fact(provenance: &mut Provenance, participant: &str, name: &str, value: &str) {
    provenance.facts.push(Fact {
        participant: participant.to_owned(),
        name: name.to_owned(),
        value: value.to_owned(),
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

#[cfg(test)]
mod tests {
    use super::without_keys_in_urls;

    #[test]
    fn of_the_urls_in_a_command_only_the_hosts_are_shown() {
        for (command, shown) in [
            ("node mine.js --evm", "node mine.js --evm"),
            (
                "./mine http://localhost:8545",
                "./mine http://localhost:8545",
            ),
            (
                "./mine --rpc=https://rpc.example/v2/key -q",
                "./mine --rpc=https://rpc.example/… -q",
            ),
            (
                "./mine 'wss://me:key@rpc.example'",
                "./mine 'wss://rpc.example/…",
            ),
            (
                "./mine https://rpc.example?key=1",
                "./mine https://rpc.example/…",
            ),
        ] {
            assert_eq!(without_keys_in_urls(command), shown);
        }
    }
}
