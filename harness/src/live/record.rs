use super::LiveFault;
use crate::model::Actor;
use alloy::primitives::B256;
use concord_chain::{ChainId, atomic_file};
use serde::{Deserialize, Serialize};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// A live run that has, or may have, given money to its actors. Nothing in it is secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Record {
    pub chain: ChainId,
    /// Who paid: only this key can make the actors' keys again.
    pub funder: String,
    /// Of the run: part of what its actors' keys are made from.
    pub nonce: B256,
    pub actors: Vec<Actor>,
    /// In the order in which they were signed.
    #[serde(default)]
    pub gifts: Vec<Gift>,
}

/// The transaction by which an actor gets money: on record before it is sent, as it may land long after its run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Gift {
    pub to: Actor,
    /// The transaction's hash or signature.
    pub transaction: String,
    /// It has landed, or never will: on EVM chains once this nonce is used, on Solana above this block height.
    pub ends_with: u64,
}

impl Record {
    /// Where the record of a chain is kept.
    pub fn path(deployments: &Path, chain: &ChainId) -> PathBuf {
        let name = format!("live-{}.json", chain.file_stem());
        deployments.join("runs").join(name)
    }

    /// The run that did not give back what it had, if there is one.
    ///
    /// # Errors
    /// The file is not a record of this chain, or records the run of another funder.
    pub fn unfinished(
        path: &Path,
        chain: &ChainId,
        funder: &str,
    ) -> Result<Option<Self>, LiveFault> {
        let Some(record) = atomic_file::read_json::<Self>(path)? else {
            return Ok(None);
        };
        if record.chain != *chain {
            let reason = format!("is for chain {}, expected {chain}", record.chain);
            return Err(atomic_file::unusable(path, reason).into());
        }
        if record.funder == funder {
            Ok(Some(record))
        } else {
            Err(LiveFault::AnotherFunder {
                record: path.display().to_string(),
                recorded: record.funder,
                now: funder.to_string(),
            })
        }
    }

    /// # Errors
    /// The file cannot be written.
    pub fn store(&self, path: &Path) -> Result<(), LiveFault> {
        Ok(atomic_file::write_json(path, self)?)
    }

    /// The actors have given back what they could.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub fn remove(path: &Path) -> Result<(), LiveFault> {
        fs::remove_file(path).map_err(|error| atomic_file::unusable(path, error).into())
    }
}
