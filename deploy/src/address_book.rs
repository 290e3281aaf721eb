use crate::{DeployError, Settings};
use concord_canonical::caip;
use concord_chain::{ChainId, atomic_file};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

/// `deployments/addresses.json`: the deployments by CAIP-2 id. Its JSON Schema is in the same folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AddressBook {
    #[serde(rename = "$schema")]
    schema: String,
    chains: BTreeMap<ChainId, Deployment>,
}

/// The deployment on one chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Deployment {
    pub deployer: String,
    /// The choices that the addresses depend on.
    pub settings: Settings,
    /// The ones in use, by name.
    pub contracts: BTreeMap<String, Record>,
    /// The ones beside them: earlier deployments, and registries of others that were entered by
    /// hand because a rule looks at them (R6).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<Other>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Record {
    pub address: String,
    /// keccak256 of the code on chain (EVM), SHA-256 of the program's bytes (Solana).
    pub code_hash: String,
    /// What it was made with, such as `identityRegistry`.
    #[serde(default, skip_serializing_if = "Settings::is_empty")]
    pub settings: Settings,
    /// The transaction that made it, where this book's owner sent it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction: Option<String>,
    /// The block (EVM) or slot (Solana) of that transaction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Other {
    pub contract: String,
    pub address: String,
    #[serde(default, skip_serializing_if = "Settings::is_empty")]
    pub settings: Settings,
}

const SCHEMA: &str = "addresses.schema.json";
const SCHEMA_TEXT: &str = include_str!("../../deployments/addresses.schema.json");

impl AddressBook {
    pub fn path(deployments: &Path) -> PathBuf {
        deployments.join("addresses.json")
    }

    /// The book, empty where there is no file yet.
    ///
    /// # Errors
    /// [`concord_chain::ChainError::File`] where it is not such a book.
    pub fn load(deployments: &Path) -> Result<Self, DeployError> {
        let path = Self::path(deployments);
        let book = atomic_file::read_json(&path)?.unwrap_or_else(|| Self {
            schema: SCHEMA.to_owned(),
            chains: BTreeMap::new(),
        });
        for (chain, deployment) in &book.chains {
            deployment.check(chain).map_err(|reason| {
                DeployError::file(path.clone(), format!("chains.{chain}.{reason}"))
            })?;
        }
        Ok(book)
    }

    /// Runs on other chains write to the same book: one at a time, from reading to writing.
    fn lock(deployments: &Path) -> Result<fs::File, DeployError> {
        let path = deployments.join("runs/addresses.lock");
        let file = atomic_file::open_lock(&path)?;
        file.lock()
            .map_err(|error| atomic_file::unusable(&path, error))?;
        Ok(file)
    }

    pub fn deployment(&self, chain: &ChainId) -> Option<&Deployment> {
        self.chains.get(chain)
    }

    /// Enters the deployment on a chain. Earlier contracts at other addresses are kept among the
    /// others. Nothing is written where the book says so already.
    ///
    /// # Errors
    /// [`concord_chain::ChainError::File`].
    pub fn enter(
        deployments: &Path,
        chain: &ChainId,
        deployment: Deployment,
    ) -> Result<(), DeployError> {
        let _lock = Self::lock(deployments)?;
        let mut book = Self::load(deployments)?;
        let merged = match book.chains.get(chain) {
            Some(before) => deployment.after(before),
            None => deployment,
        };
        if book.chains.get(chain) == Some(&merged) {
            return Ok(());
        }
        book.chains.insert(chain.clone(), merged);
        atomic_file::write(&deployments.join(SCHEMA), SCHEMA_TEXT.as_bytes())?;
        Ok(atomic_file::write_json(&Self::path(deployments), &book)?)
    }
}

impl Deployment {
    /// This deployment, with what the book knew before and this one does not say. A run that sent
    /// nothing deployed nothing: the deployer stays.
    fn after(mut self, before: &Self) -> Self {
        let is_sent = |record: &Record| record.transaction.is_some();
        let is_known = |(name, record): (&String, &Record)| {
            let old = before.contracts.get(name);
            old.is_some_and(|old| old.address == record.address)
        };
        if !self.contracts.values().any(is_sent) && self.contracts.iter().all(is_known) {
            self.deployer.clone_from(&before.deployer);
        }
        for (name, record) in &mut self.contracts {
            let Some(old) = before.contracts.get(name) else {
                continue;
            };
            if old.address == record.address && record.transaction.is_none() {
                record.transaction = old.transaction.clone();
                record.block = old.block;
            }
        }
        let is_current = |name: &str, address: &str| {
            let current = self.contracts.get(name);
            current.is_some_and(|record| record.address.eq_ignore_ascii_case(address))
        };
        let left: Vec<_> = (before.everything())
            .filter(|(name, address, _)| !is_current(name, address))
            .map(|(name, address, settings)| Other {
                contract: name.to_owned(),
                address: address.to_owned(),
                settings: settings.clone(),
            })
            .collect();
        for other in left {
            if !self.others.contains(&other) {
                self.others.push(other);
            }
        }
        self
    }

    /// What the types do not say: the form of addresses and hashes.
    fn check(&self, chain: &ChainId) -> Result<(), String> {
        let check_address = |field: &'static str, text: &str| {
            let parsed = match chain.namespace() {
                caip::EIP155 => caip::parse_evm_address(field, text).map(drop),
                caip::SOLANA => caip::parse_solana_key(field, text).map(drop),
                other => return Err(format!("{field}: addresses of {other} are not known")),
            };
            parsed.map_err(|error| error.to_string())
        };
        check_address("deployer", &self.deployer)?;
        for (name, address, _) in self.everything() {
            if name.is_empty() {
                return Err("others: contract is empty".to_owned());
            }
            check_address("address", address)?;
        }
        match self
            .contracts
            .iter()
            .find(|(_, record)| !is_word(&record.code_hash))
        {
            Some((name, record)) => Err(format!(
                "contracts.{name}.codeHash: `{}` is not 0x and 64 lower-case hex digits",
                record.code_hash
            )),
            None => Ok(()),
        }
    }

    /// Every contract on record: name, address, what it was made with.
    pub fn everything(&self) -> impl Iterator<Item = (&str, &str, &Settings)> {
        let current = self
            .contracts
            .iter()
            .map(|(name, record)| (&**name, &*record.address, &record.settings));
        let others = self
            .others
            .iter()
            .map(|other| (&*other.contract, &*other.address, &other.settings));
        current.chain(others)
    }
}

fn is_word(text: &str) -> bool {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    text.strip_prefix("0x")
        .is_some_and(|digits| digits.len() == 64 && digits.bytes().all(is_digit))
}
