//! EVM chains.
pub mod artifact;
mod code;
mod command_line;
pub mod contracts;
pub mod create2;
mod explorer;
mod identity;
mod measurement;
mod planning;
mod transactions;
mod verification;

use crate::{
    AddressBook, Check, DeployError, Deployment, Plan, Record, Settings, StatusRow, Step, Target,
    source_commit,
};
use alloy::{
    primitives::{Address, Bytes, keccak256},
    signers::local::PrivateKeySigner,
};
use async_trait::async_trait;
pub use command_line::fee_limit;
pub(crate) use command_line::target;
use concord_chain::{
    ChainId, EndpointOptions, Evm, Signer,
    evm::{Confirmations, FeeLimit, Node, Transactions},
    submission::{Finality, Landing, Resend, SendOutcome, SignedTx, TxChain, TxStatus},
};
use contracts::{Choices, Contract};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// Who deploys: a plan needs an address, a transaction the key.
pub enum Deployer {
    None,
    Address(Address),
    Key(PrivateKeySigner),
    /// A device or a service.
    Signer(Box<dyn Signer<Evm>>),
}

/// Everything that an [`EvmTarget`] is made from.
pub struct EvmOptions {
    pub chain: ChainId,
    pub endpoint: EndpointOptions,
    pub deployer: Deployer,
    pub choices: Choices,
    /// The clone: where the sources are.
    pub root: PathBuf,
    /// Forge's output folder.
    pub artifacts: PathBuf,
    pub fee_limit: FeeLimit,
    pub confirmations: Confirmations,
}

/// An EVM chain, with the registries of this build.
pub struct EvmTarget {
    chain: ChainId,
    chain_id: u64,
    node: Node,
    transactions: Transactions,
    deployer: Deployer,
    choices: Choices,
    root: PathBuf,
    contracts: Vec<Contract>,
    /// Forge's output folder.
    artifacts: PathBuf,
    fee_limit: FeeLimit,
    /// The address book's deployment on this chain.
    recorded: Option<Deployment>,
}

impl EvmTarget {
    /// Reads the build. No request is made yet.
    ///
    /// # Errors
    /// [`DeployError::ArtifactMissing`], [`DeployError::ArtifactStale`], and an invalid endpoint or
    /// chain.
    pub fn new(options: EvmOptions, book: &AddressBook) -> Result<Self, DeployError> {
        let chain_id = options.chain.evm_number()?;
        let contracts = contracts::registries(&options.artifacts, &options.choices)?;
        for contract in &contracts {
            contract.artifact.sources(&options.root)?;
        }
        let node = Node::new(&options.endpoint)?;
        let confirmations = options.confirmations;
        Ok(Self {
            chain_id,
            transactions: Transactions::new(
                node.clone(),
                chain_id,
                options.fee_limit,
                confirmations,
            ),
            node,
            deployer: options.deployer,
            choices: options.choices,
            root: options.root,
            artifacts: options.artifacts,
            contracts,
            fee_limit: options.fee_limit,
            recorded: book.deployment(&options.chain).cloned(),
            chain: options.chain,
        })
    }

    /// # Errors
    /// [`concord_chain::ChainError::WrongChain`]: everything after this would be about another chain.
    pub async fn require_chain(&self) -> Result<(), DeployError> {
        Ok(self.node.require_chain(self.chain_id).await?)
    }

    fn deployer(&self) -> Result<Address, DeployError> {
        match &self.deployer {
            Deployer::Key(key) => Ok(key.address()),
            Deployer::Signer(signer) => Ok(signer.address()),
            Deployer::Address(address) => Ok(*address),
            Deployer::None => Err(DeployError::KeyMissing {
                or_from: ", or --from with the deployer's address",
            }),
        }
    }

    fn signer(&self) -> Result<&dyn Signer<Evm>, DeployError> {
        match &self.deployer {
            Deployer::Key(key) => Ok(key),
            Deployer::Signer(signer) => Ok(&**signer),
            _ => Err(DeployError::KeyMissing { or_from: "" }),
        }
    }

    async fn is_done(&self, step: &Step) -> Result<bool, DeployError> {
        match (&*step.id, self.contract(step)) {
            (_, Some(contract)) => self.contract_exists(contract).await,
            (planning::PROXY_FUNDS, _) => self.proxy_is_paid_for().await,
            (contracts::IDENTITY_ID, None) => Ok(true), // it was there before the plan
            _ => self.proxy_exists().await,
        }
    }

    /// The code of a contract that was seen on chain. A node that lags has none yet, and nothing but
    /// the plan's code gets into the address book (DEP-25).
    async fn own_code(&self, contract: &Contract) -> Result<Bytes, DeployError> {
        let Contract { name, address, .. } = contract;
        let ask = || async {
            let found = self.node.code(*address).await?;
            Ok(match code::difference(contract, self.chain_id, &found) {
                None => Ok(found),
                Some(difference) => Err(format!("{name} at {address} has {difference}")),
            })
        };
        let endpoint = self.node.endpoint();
        endpoint.until_caught_up("eth_getCode", ask).await
    }

    /// As [`Self::own_code`], for the identity registry of others.
    async fn sound_identity(&self) -> Result<Option<identity::Found>, DeployError> {
        let ask = || async {
            let found = self.attached().await?;
            let sound = found
                .as_ref()
                .map_or(Ok(()), identity::Found::require_sound);
            Ok(sound.map_or_else(|reason| Err(reason.to_string()), |()| Ok(found)))
        };
        let endpoint = self.node.endpoint();
        endpoint.until_caught_up("eth_getCode", ask).await
    }

    fn contract(&self, step: &Step) -> Option<&Contract> {
        self.contracts
            .iter()
            .find(|contract| contract.id == step.id)
    }
}

#[async_trait]
impl TxChain for EvmTarget {
    type Job = Step;
    type Error = DeployError;

    async fn effects(&mut self, steps: &[&Step]) -> Result<Vec<Option<bool>>, DeployError> {
        let mut effects = Vec::with_capacity(steps.len());
        for step in steps {
            effects.push(Some(self.is_done(step).await?));
        }
        Ok(effects)
    }

    async fn sign(&mut self, step: &Step, _expired: usize) -> Result<SignedTx, DeployError> {
        self.sign_step(step).await
    }

    async fn replace(
        &mut self,
        _step: &Step,
        transaction: &SignedTx,
    ) -> Result<Option<SignedTx>, DeployError> {
        let signer = self.signer()?;
        Ok(self.transactions.replace(signer, transaction).await?)
    }

    async fn resend(
        &mut self,
        _step: &Step,
        transaction: &SignedTx,
    ) -> Result<Resend, DeployError> {
        let signer = self.signer()?;
        Ok(self.transactions.resend(signer, transaction).await?)
    }

    async fn send(&mut self, transaction: &SignedTx) -> Result<SendOutcome, DeployError> {
        Ok(self.transactions.send(transaction).await?)
    }

    async fn statuses(&mut self, transactions: &[SignedTx]) -> Result<Vec<TxStatus>, DeployError> {
        let mut statuses = Vec::with_capacity(transactions.len());
        for transaction in transactions {
            statuses.push(self.transactions.status(transaction).await?);
        }
        Ok(statuses)
    }

    async fn finality(&mut self, landings: &[Landing]) -> Result<Vec<Finality>, DeployError> {
        let mut finality = Vec::with_capacity(landings.len());
        for landing in landings {
            finality.push(self.transactions.finality(landing).await?);
        }
        Ok(finality)
    }
}

#[async_trait]
impl Target for EvmTarget {
    fn chain(&self) -> &ChainId {
        &self.chain
    }

    async fn plan(&mut self) -> Result<Plan, DeployError> {
        self.make_plan().await
    }

    fn settings(&self) -> Settings {
        self.choices.settings()
    }

    async fn require_own(
        &mut self,
        step: &Step,
        transaction: &SignedTx,
    ) -> Result<(), DeployError> {
        self.require_own_transaction(step, transaction)
    }

    async fn deployment(
        &mut self,
        landings: &BTreeMap<String, Landing>,
    ) -> Result<Deployment, DeployError> {
        // Its sources are those of the build: their hashes were compared.
        let commit = source_commit::of(&self.root).ok();
        let mut contracts = BTreeMap::new();
        if let Some(found) = self.sound_identity().await? {
            contracts.insert(contracts::IDENTITY.to_owned(), found.record());
        }
        for contract in &self.contracts {
            let landing = landings.get(contract.id);
            let record = Record {
                address: contract.address.to_string(),
                code_hash: keccak256(self.own_code(contract).await?).to_string(),
                settings: contract.settings.clone(),
                transaction: landing.map(|landing| landing.transaction.clone()),
                block: landing.map(|landing| landing.block),
                commit: commit.clone(),
                replaced: Vec::new(),
            };
            contracts.insert(contract.name.to_owned(), record);
        }
        Ok(Deployment {
            deployer: self.deployer()?.to_string(),
            settings: self.choices.settings(),
            contracts,
            registry: None,
            others: Vec::new(),
        })
    }

    async fn verify(&mut self, recorded: &Deployment) -> Result<Vec<Check>, DeployError> {
        self.require_chain().await?;
        let mut checks = self.identity_checks(recorded).await?;
        let ours = verification::checks(&self.node, self.chain_id, &self.contracts, recorded);
        checks.extend(ours.await?);
        Ok(checks)
    }

    async fn status(
        &mut self,
        recorded: Option<&Deployment>,
    ) -> Result<Vec<StatusRow>, DeployError> {
        self.require_chain().await?;
        let rows = verification::status_rows(&self.node, self.chain_id, &self.contracts, recorded);
        let rows = rows.await?.into_iter();
        let identity = self.identity_row(recorded).await?;
        Ok(identity.into_iter().chain(rows).collect())
    }

    fn publish(&mut self, folder: &Path) -> Result<Vec<String>, DeployError> {
        explorer::publish(folder, &self.root, self.chain_id, &self.contracts)
    }
}
