//! The files and requests by which explorers show the sources of deployed contracts. Nothing here
//! compiles: the compiler's input was written down when the contracts were built.
use super::contracts::Contract;
use crate::DeployError;
use alloy::primitives::hex;
use concord_chain::atomic_file;
use serde_json::{Map, Value, json};
use std::path::Path;

const SOURCIFY: &str = "https://sourcify.dev/server/v2/verify";
const ETHERSCAN: &str = "https://api.etherscan.io/v2/api";

/// Writes the compiler's standard JSON input and Sourcify's request for each contract, and returns
/// the commands that send them.
pub(super) fn publish(
    folder: &Path,
    root: &Path,
    chain_id: u64,
    contracts: &[Contract],
) -> Result<Vec<String>, DeployError> {
    let mut commands = Vec::new();
    for contract in contracts {
        let input = standard_json(contract, root)?;
        let standard = folder.join(format!("{}.json", contract.name));
        atomic_file::write_json(&standard, &input)?;
        let request = folder.join(format!("{}.sourcify.json", contract.name));
        atomic_file::write_json(&request, &sourcify_request(contract, input))?;
        commands.push(to_sourcify(contract, chain_id, &request));
        commands.push(to_etherscan(contract, chain_id, &standard));
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

fn identifier(contract: &Contract) -> String {
    let name = contract.name;
    format!("contracts/src/{name}.sol:{name}")
}

fn sourcify_request(contract: &Contract, input: Value) -> Value {
    json!({
        "stdJsonInput": input,
        "compilerVersion": contract.artifact.compiler,
        "contractIdentifier": identifier(contract),
    })
}

fn to_sourcify(contract: &Contract, chain_id: u64, request: &Path) -> String {
    format!(
        "curl -sS --fail-with-body -H 'Content-Type: application/json' --data-binary @{} {SOURCIFY}/{chain_id}/{}",
        quoted(&request.display().to_string()),
        contract.address
    )
}

/// The explorer's key goes through a pipe: it is not an argument. The explorer's own documents spell the
/// constructor's arguments in two ways.
fn to_etherscan(contract: &Contract, chain_id: u64, standard: &Path) -> String {
    let arguments = hex::encode(&contract.arguments);
    let fields = [
        "module=contract".to_owned(),
        "action=verifysourcecode".to_owned(),
        "codeformat=solidity-standard-json-input".to_owned(),
        format!("contractaddress={}", contract.address),
        format!("contractname={}", identifier(contract)),
        format!("compilerversion=v{}", contract.artifact.compiler),
        format!("constructorArguments={arguments}"),
        format!("constructorArguements={arguments}"),
    ];
    let fields = fields.map(|field| format!("--data-urlencode {field}"));
    format!(
        "printf 'data-urlencode = \"apikey=%s\"' \"$ETHERSCAN_API_KEY\" | curl -sS --fail-with-body --config - --data-urlencode sourceCode@{} {} '{ETHERSCAN}?chainid={chain_id}'",
        quoted(&standard.display().to_string()),
        fields.join(" ")
    )
}

/// One word for a shell.
fn quoted(text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-".contains(letter);
    if text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}
