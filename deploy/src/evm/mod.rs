//! EVM chains over JSON-RPC.
pub mod artifact;
pub mod client;
mod code;
mod command_line;
pub mod contracts;
pub mod create2;
mod explorer;
mod fees;
mod node;
mod planning;
mod sending;
mod smoke;
mod transactions;
mod verification;

use crate::{
    AddressBook, Answer, Attempt, ChainId, Check, Deployment, Depth, Fate, Fault, Landing, Plan,
    Record, Settings, Smoke, Standing, Step, Target,
};
use alloy::{
    primitives::{Address, keccak256},
    signers::local::PrivateKeySigner,
};
pub(crate) use command_line::target;
use contracts::{Choices, Contract};
use fees::FeeLimit;
use node::Node;
pub use sending::Call;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};

/// Who deploys: a plan needs an address, a transaction the key.
#[derive(Clone, Debug)]
pub enum Deployer {
    Nobody,
    Address(Address),
    Key(PrivateKeySigner),
}

/// Everything that an [`EvmTarget`] is made from.
#[derive(Debug)]
pub struct EvmOptions {
    pub chain: ChainId,
    pub rpc_url: String,
    /// How long to wait for one answer.
    pub timeout: Duration,
    pub deployer: Deployer,
    pub choices: Choices,
    /// The clone: where the sources are.
    pub root: PathBuf,
    /// Forge's output folder.
    pub artifacts: PathBuf,
    /// Gwei a unit of gas, such as `1.5`.
    pub max_fee: Option<String>,
    /// Blocks, the transaction's own among them, before it is final.
    pub confirmations: u64,
}

/// An EVM chain, with the four registries of this build.
pub struct EvmTarget {
    chain: ChainId,
    chain_id: u64,
    node: Node,
    deployer: Deployer,
    choices: Choices,
    root: PathBuf,
    contracts: [Contract; 4],
    fee_limit: FeeLimit,
    confirmations: u64,
    /// No nonce below is free, whatever a node that lags behind says.
    nonce_floor: u64,
    /// What the address book has on this chain.
    recorded: Option<Deployment>,
}

impl EvmTarget {
    /// Reads the build. No request is made yet.
    ///
    /// # Errors
    /// [`Fault::ArtifactMissing`], [`Fault::ArtifactStale`], [`Fault::RpcUrlMalformed`], and
    /// [`Fault::Option`] for a fee limit that is no number.
    pub fn new(options: EvmOptions, book: &AddressBook) -> Result<Self, Fault> {
        let chain_id = options.chain.reference().parse().map_err(|_| {
            Fault::ChainId(format!("{} is beyond 64 bits", options.chain.reference()))
        })?;
        let contracts = contracts::registries(&options.artifacts, &options.choices)?;
        for contract in &contracts {
            contract.artifact.sources(&options.root)?;
        }
        Ok(Self {
            chain_id,
            node: Node::new(&options.rpc_url, options.timeout)?,
            deployer: options.deployer,
            choices: options.choices,
            root: options.root,
            contracts,
            fee_limit: FeeLimit::parse(options.max_fee.as_deref())?,
            confirmations: options.confirmations,
            nonce_floor: 0,
            recorded: book.deployment(&options.chain).cloned(),
            chain: options.chain,
        })
    }

    /// # Errors
    /// [`Fault::WrongChain`]: everything after this would speak of another chain.
    pub fn require_chain(&self) -> Result<(), Fault> {
        let found = self.node.chain_id()?;
        if found == self.chain_id {
            return Ok(());
        }
        Err(Fault::WrongChain {
            expected: self.chain.to_string(),
            found: format!("eip155:{found}"),
        })
    }

    fn deployer(&self) -> Result<Address, Fault> {
        match &self.deployer {
            Deployer::Key(key) => Ok(key.address()),
            Deployer::Address(address) => Ok(*address),
            Deployer::Nobody => Err(Fault::KeyMissing {
                or_from: ", or --from with the deployer's address",
            }),
        }
    }

    fn key(&self) -> Result<&PrivateKeySigner, Fault> {
        match &self.deployer {
            Deployer::Key(key) => Ok(key),
            _ => Err(Fault::KeyMissing { or_from: "" }),
        }
    }

    fn stands(&self, step: &Step) -> Result<bool, Fault> {
        match (&*step.id, self.contract(step)) {
            (_, Some(contract)) => self.contract_stands(contract),
            (planning::PROXY_FUNDS, _) => self.proxy_is_paid_for(),
            _ => self.proxy_stands(),
        }
    }

    fn contract(&self, step: &Step) -> Option<&Contract> {
        self.contracts
            .iter()
            .find(|contract| contract.id == step.id)
    }
}

impl Target for EvmTarget {
    fn chain(&self) -> &ChainId {
        &self.chain
    }

    fn plan(&mut self) -> Result<Plan, Fault> {
        self.make_plan()
    }

    fn settings(&self) -> Settings {
        self.choices.settings()
    }

    fn require_own(&mut self, step: &Step, attempt: &Attempt) -> Result<(), Fault> {
        self.require_own_transaction(step, attempt)
    }

    fn standing(&mut self, steps: &[&Step]) -> Result<Vec<bool>, Fault> {
        steps.iter().map(|step| self.stands(step)).collect()
    }

    fn sign(&mut self, step: &Step, _expired: usize) -> Result<Attempt, Fault> {
        self.sign_step(step)
    }

    fn outbid(&mut self, _step: &Step, attempt: &Attempt) -> Result<Option<Attempt>, Fault> {
        self.raise_fee(attempt)
    }

    fn send(&mut self, attempt: &Attempt) -> Result<Answer, Fault> {
        self.send_raw(attempt)
    }

    fn fates(&mut self, attempts: &[Attempt]) -> Result<Vec<Fate>, Fault> {
        attempts
            .iter()
            .map(|attempt| self.fate_of(attempt))
            .collect()
    }

    fn depths(&mut self, landings: &[Landing]) -> Result<Vec<Depth>, Fault> {
        landings
            .iter()
            .map(|landing| self.depth_of(landing))
            .collect()
    }

    fn deployment(&mut self, landings: &BTreeMap<String, Landing>) -> Result<Deployment, Fault> {
        let mut contracts = BTreeMap::new();
        for contract in &self.contracts {
            let landing = landings.get(contract.id);
            let record = Record {
                address: contract.address.to_string(),
                code_hash: keccak256(self.node.code(contract.address)?).to_string(),
                settings: contract.settings.clone(),
                transaction: landing.map(|landing| landing.transaction.clone()),
                block: landing.map(|landing| landing.block),
            };
            contracts.insert(contract.name.to_owned(), record);
        }
        Ok(Deployment {
            deployer: self.deployer()?.to_string(),
            settings: self.choices.settings(),
            contracts,
            others: Vec::new(),
        })
    }

    fn verify(&mut self, recorded: &Deployment) -> Result<Vec<Check>, Fault> {
        self.require_chain()?;
        verification::checks(&self.node, self.chain_id, &self.contracts, recorded)
    }

    fn status(&mut self, recorded: Option<&Deployment>) -> Result<Vec<Standing>, Fault> {
        self.require_chain()?;
        verification::standings(&self.node, self.chain_id, &self.contracts, recorded)
    }

    fn smoke(
        &mut self,
        recorded: &Deployment,
        patience: Duration,
        confirm: &mut dyn FnMut(usize) -> Result<(), Fault>,
    ) -> Result<Smoke, Fault> {
        self.require_chain()?;
        confirm(smoke::TRANSACTIONS)?;
        self.run_smoke(recorded, patience)
    }

    fn publish(&mut self, folder: &Path) -> Result<Vec<String>, Fault> {
        explorer::publish(folder, &self.root, self.chain_id, &self.contracts)
    }
}
