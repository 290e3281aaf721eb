use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use concord_canonical::sign::PreparedKey;
use concord_chain::{keys::read_keypair, stdout::show};
use serde::Deserialize;
use serde_json::json;

use super::{
    CliError, FINE, REFUSED,
    arguments::CheckOptions,
    audit::{client, read_json, url},
};
use crate::check::{Kit, PAYMENTS};

/// What a check is done with: an agent of one's own, and payments to it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Materials {
    /// The identity registry, CAIP-10.
    agent_registry: String,
    agent_id: String,
    /// A key file: 32 bytes in hex for secp256k1, or a Solana keypair.
    agent_key: PathBuf,
    /// The key of the account that paid.
    reviewer_key: PathBuf,
    /// CAIP-220, not rated by anybody.
    payments: [String; PAYMENTS],
}

pub async fn check(options: &CheckOptions) -> Result<u8, CliError> {
    let materials: Materials = read_json(&options.with)?;
    let kit = Kit {
        url: url(&options.url)?,
        client: client()?,
        agent_registry: materials.agent_registry,
        agent_id: materials.agent_id,
        agent_key: key(&materials.agent_key)?,
        reviewer_key: key(&materials.reviewer_key)?,
        payments: materials.payments,
        patience: Duration::from_secs(options.patience),
    };
    let results = kit.run().await?;
    let failed = results.iter().filter(|it| it.failure.is_some()).count();
    let report = json!({ "failed": failed, "cases": results });
    show(format!("{report:#}\n"))?;
    Ok(if failed == 0 { FINE } else { REFUSED })
}

/// Errors name the file, and nothing of what is in it.
fn key(path: &Path) -> Result<PreparedKey, CliError> {
    let usage = |reason: &str| CliError::Usage(format!("{}: {reason}", path.display()));
    let text = fs::read_to_string(path).map_err(|error| usage(&error.to_string()))?;
    if text.trim_start().starts_with('[') {
        return Ok(PreparedKey::ed25519(read_keypair(path)?.secret_bytes()));
    }
    let digits = text.trim().trim_start_matches("0x");
    let bytes = hex::decode(digits).ok().and_then(|it| it.try_into().ok());
    let bytes: [u8; 32] = bytes.ok_or_else(|| {
        usage("expected 32 bytes in hexadecimal, or the JSON of a Solana keypair")
    })?;
    PreparedKey::secp256k1(&bytes).map_err(|_| usage("is not a secp256k1 key"))
}
