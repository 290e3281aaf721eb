//! What shows others that the program on chain is the one of these sources.
use crate::DeployError;
use concord_chain::{atomic_file, svm::BuiltProgram};
use serde_json::json;
use std::path::Path;

/// Writes what the program was built from and with. Returns the commands by which anyone repeats
/// the build and compares.
pub(super) fn publish(folder: &Path, program: &BuiltProgram) -> Result<Vec<String>, DeployError> {
    let note = json!({
        "programId": program.id.to_string(),
        "bytes": program.elf.len(),
        "sha256": program.code_hash(),
        "sbpfVersion": program.sbpf,
        "toolchain": program.toolchain,
    });
    atomic_file::write_json(&folder.join("AgentRegistry.json"), &note)?;
    Ok(vec![
        format!("CONCORD_PROGRAM_ID={} scripts/build-program", program.id),
        "sha256sum target/deploy/agent_registry.so".to_owned(),
    ])
}
