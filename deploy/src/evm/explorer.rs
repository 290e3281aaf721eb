//! The files that a block explorer needs to show the sources of deployed contracts.
use super::contracts::Contract;
use crate::DeployError;
use concord_chain::atomic_file;
use serde_json::{Map, Value, json};
use std::path::Path;

/// Writes one standard JSON input per contract, and returns the command that verifies each.
pub(super) fn publish(
    folder: &Path,
    root: &Path,
    chain_id: u64,
    contracts: &[Contract; 4],
) -> Result<Vec<String>, DeployError> {
    let mut commands = Vec::new();
    for contract in contracts {
        let input = standard_json(contract, root)?;
        let file = folder.join(format!("{}.json", contract.name));
        atomic_file::write_json(&file, &input)?;
        commands.push(command(contract, chain_id));
    }
    Ok(commands)
}

/// The compiler's input: the very sources and settings of the build.
fn standard_json(contract: &Contract, root: &Path) -> Result<Value, DeployError> {
    let sources: Map<String, Value> = contract
        .artifact
        .sources(root)?
        .into_iter()
        .map(|(file, content)| (file, json!({ "content": content })))
        .collect();
    let mut settings = contract.artifact.settings.clone();
    if let Some(settings) = settings.as_object_mut() {
        settings.remove("compilationTarget"); // the compiler's answer, not its input
        let output = ["abi", "evm.bytecode.object", "evm.deployedBytecode.object"];
        settings.insert("outputSelection".to_owned(), json!({"*": {"*": output}}));
    }
    Ok(json!({ "language": "Solidity", "sources": sources, "settings": settings }))
}

/// Forge reads the explorer's key from ETHERSCAN_API_KEY: it is no argument.
fn command(contract: &Contract, chain_id: u64) -> String {
    let name = contract.name;
    let mut command = format!(
        "forge verify-contract {} contracts/src/{name}.sol:{name} --chain {chain_id} --compiler-version {} --verifier etherscan --watch",
        contract.address, contract.artifact.compiler,
    );
    if !contract.arguments.is_empty() {
        let arguments = alloy::primitives::hex::encode_prefixed(&contract.arguments);
        command.push_str(&format!(" --constructor-args {arguments}"));
    }
    command
}
