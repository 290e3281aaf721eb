use crate::backend::SetupError;
use alloy::primitives::Bytes;
use std::{fs, io, path::Path};

/// The creation bytecode of a contract in forge's output folder.
pub(super) fn creation_code(folder: &Path, contract: &str) -> Result<Bytes, SetupError> {
    let path = folder
        .join(format!("{contract}.sol"))
        .join(format!("{contract}.json"));
    let unreadable = |reason: String| SetupError::ArtifactUnreadable {
        path: path.clone(),
        reason,
    };
    let text = fs::read_to_string(&path).map_err(|fault| match fault.kind() {
        io::ErrorKind::NotFound => SetupError::Artifact(path.clone()),
        _ => unreadable(fault.to_string()),
    })?;
    let artifact: serde_json::Value =
        serde_json::from_str(&text).map_err(|fault| unreadable(fault.to_string()))?;
    let code = artifact["bytecode"]["object"]
        .as_str()
        .ok_or_else(|| unreadable("bytecode.object is not text".to_owned()))?;
    code.parse()
        .map_err(|_| unreadable("bytecode.object is not hex".to_owned()))
}
