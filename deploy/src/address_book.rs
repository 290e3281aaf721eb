use crate::{DeployError, Settings, source_commit};
use concord_canonical::caip;
use concord_chain::{ChainId, atomic_file};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    fs, iter,
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
    /// Solana: what the registry account had when it was last read or changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registry: Option<RegistrySettings>,
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
    /// A git commit whose sources are the code's: 40 hex digits, then `-dirty` if the tree had other
    /// changes. `None`: not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Solana: the builds that upgrades replaced, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaced: Vec<Replaced>,
}

/// A build that an upgrade replaced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Replaced {
    pub code_hash: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The transaction that had deployed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<u64>,
}

/// Who keeps the registry account, and which payments count in it (R13).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RegistrySettings {
    pub authority: String,
    /// Who becomes the authority by accepting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposed_authority: Option<String>,
    /// Mints.
    pub payment_tokens: Vec<String>,
    pub facilitators: Vec<String>,
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

    /// The book, empty if there is no file yet.
    ///
    /// # Errors
    /// [`concord_chain::ChainError::File`] if it is not such a book.
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
        book.store(deployments)
    }

    /// Enters what the registry account of `program` has. Returns whether that program is the one on
    /// record; another's registry is not entered.
    ///
    /// # Errors
    /// [`concord_chain::ChainError::File`].
    pub fn enter_registry(
        deployments: &Path,
        chain: &ChainId,
        program: &str,
        registry: RegistrySettings,
    ) -> Result<bool, DeployError> {
        let _lock = Self::lock(deployments)?;
        let mut book = Self::load(deployments)?;
        let deployment = book.chains.get_mut(chain);
        let has_it = |one: &&mut Deployment| one.contracts.values().any(|it| it.address == program);
        let Some(deployment) = deployment.filter(has_it) else {
            return Ok(false);
        };
        if deployment.registry.as_ref() != Some(&registry) {
            deployment.registry = Some(registry);
            book.store(deployments)?;
        }
        Ok(true)
    }

    fn store(&self, deployments: &Path) -> Result<(), DeployError> {
        atomic_file::write(&deployments.join(SCHEMA), SCHEMA_TEXT.as_bytes())?;
        Ok(atomic_file::write_json(&Self::path(deployments), self)?)
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
            let old = before.contracts.get(name);
            if let Some(old) = old.filter(|old| old.address == record.address) {
                record.follow(old);
            }
        }
        self.registry = self.registry.or_else(|| before.registry.clone());
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
        let registry = self.registry.iter();
        for key in registry.flat_map(RegistrySettings::keys) {
            check_address("registry", key)?;
        }
        (self.contracts.iter()).try_for_each(|(name, record)| {
            record
                .check()
                .map_err(|reason| format!("contracts.{name}.{reason}"))
        })
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

impl Record {
    /// Takes over what the book knew of the contract before. A run that sent nothing knows less; an
    /// upgrade makes the earlier build a replaced one.
    fn follow(&mut self, old: &Self) {
        let mut replaced = old.replaced.clone();
        if old.code_hash != self.code_hash {
            replaced.push(old.as_replaced());
        } else if self.transaction.is_none() {
            self.transaction = old.transaction.clone();
            self.block = old.block;
            self.commit = old.commit.clone().or(self.commit.take());
        }
        for found in std::mem::take(&mut self.replaced) {
            let last = replaced.last().map(|it| &it.code_hash);
            if last != Some(&found.code_hash) {
                replaced.push(found);
            }
        }
        self.replaced = replaced;
    }

    fn as_replaced(&self) -> Replaced {
        Replaced {
            code_hash: self.code_hash.clone(),
            commit: self.commit.clone(),
            transaction: self.transaction.clone(),
            block: self.block,
        }
    }

    fn check(&self) -> Result<(), String> {
        let hashes = self.replaced.iter().map(|it| &it.code_hash);
        if let Some(hash) = iter::once(&self.code_hash)
            .chain(hashes)
            .find(|it| !is_word(it))
        {
            let form = "is not 0x and 64 lower-case hex digits";
            return Err(format!("codeHash: `{hash}` {form}"));
        }
        let commits = self.replaced.iter().map(|it| &it.commit);
        let commits = iter::once(&self.commit).chain(commits).flatten();
        match commits.into_iter().find(|it| !source_commit::is_one(it)) {
            None => Ok(()),
            Some(commit) => Err(format!(
                "commit: `{commit}` is not 40 lower-case hex digits, with or without `-dirty`"
            )),
        }
    }
}

impl Replaced {
    /// A build of which nothing else is known.
    pub(crate) const fn of_hash(code_hash: String) -> Self {
        Self {
            code_hash,
            commit: None,
            transaction: None,
            block: None,
        }
    }
}

impl RegistrySettings {
    fn keys(&self) -> impl Iterator<Item = &str> {
        let others = self.proposed_authority.iter();
        let keys = iter::once(&self.authority).chain(others);
        let lists = self.payment_tokens.iter().chain(&self.facilitators);
        keys.chain(lists).map(String::as_str)
    }
}

fn is_word(text: &str) -> bool {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    text.strip_prefix("0x")
        .is_some_and(|digits| digits.len() == 64 && digits.bytes().all(is_digit))
}
