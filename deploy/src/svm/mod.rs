//! Solana clusters over JSON-RPC.
mod choices;
pub mod cluster;
mod command_line;
mod explorer;
mod landing;
mod left_over;
mod loader;
mod look;
mod planning;
mod program;
mod runtime_version;
mod smoke;
mod transactions;
pub mod transport;
mod verification;
mod work;

use crate::{
    Answer, Attempt, ChainId, Check, Deployment, Depth, Fate, Fault, Landing, Plan, Record,
    Setting, Settings, Smoke, Standing, Step, Target,
};
pub use choices::{Choices, PriorityFee, UpgradeAuthority};
use cluster::{Cluster, RecentBlockhash};
pub(crate) use command_line::target;
use concord_registry::svm;
pub use landing::{hand_over, land, wait};
pub use program::Program;
use solana_address::Address;
use solana_keypair::Keypair;
use solana_signer::Signer;
use std::{
    collections::BTreeMap,
    path::Path,
    time::{Duration, Instant},
};
pub use transactions::{Signed, signed, unsigned};
use work::Work;

/// Who deploys: a plan needs an address, a transaction the key.
#[derive(Debug)]
pub enum Deployer {
    Nobody,
    Address(Address),
    Key(Keypair),
}

/// Everything that an [`SvmTarget`] is made from.
pub struct SvmOptions {
    pub chain: ChainId,
    pub cluster: Cluster,
    pub deployer: Deployer,
    /// The key behind the program's address: it signs once, when the program is first deployed.
    pub program_key: Option<Keypair>,
    pub program: Program,
    pub choices: Choices,
    pub priority_fee: PriorityFee,
}

/// A Solana cluster, with the program of this build.
pub struct SvmTarget {
    chain: ChainId,
    cluster: Cluster,
    deployer: Deployer,
    program_key: Option<Keypair>,
    program: Program,
    /// The program under its id, as its clients know it.
    registry: svm::Program,
    choices: Choices,
    priority_fee: PriorityFee,
    /// The last block hash, and when it was asked for.
    blockhash: Option<(RecentBlockhash, Instant)>,
    /// When this process last handed a transaction over.
    sent_at: BTreeMap<String, Instant>,
}

/// The clusters of Solana's own network. What is none of them is somebody's own.
const PUBLIC_GENESIS: [&str; 3] = [
    "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d", // mainnet-beta
    "EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG", // devnet
    "4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY", // testnet
];
/// CAIP-2: so much of the genesis hash names a cluster.
const REFERENCE: usize = 32;
/// R9: any cluster of one's own.
const LOCALNET: &str = "localnet";
/// The id of builds for local tests. Its secret key is public.
const DEVELOPMENT_ID: &str = "4dqu3YHQaBRRG7MPP4KRapDWK2XoAcHuAjTRwTuZCxbB";

/// # Errors
/// [`Fault::WrongChain`]: the cluster is another than `chain` names.
pub fn require_chain(cluster: &Cluster, chain: &ChainId) -> Result<(), Fault> {
    let genesis = cluster.genesis_hash()?;
    let is_own = !PUBLIC_GENESIS.contains(&&*genesis);
    let reference = genesis.get(..REFERENCE).unwrap_or(&genesis);
    if chain.reference() == reference || (chain.reference() == LOCALNET && is_own) {
        return Ok(());
    }
    Err(Fault::WrongChain {
        expected: chain.to_string(),
        found: format!("solana:{reference}"),
    })
}

impl SvmTarget {
    /// No request is made yet.
    #[must_use]
    pub fn new(options: SvmOptions) -> Self {
        Self {
            chain: options.chain,
            cluster: options.cluster,
            deployer: options.deployer,
            program_key: options.program_key,
            registry: svm::Program::new(options.program.id),
            program: options.program,
            choices: options.choices,
            priority_fee: options.priority_fee,
            blockhash: None,
            sent_at: BTreeMap::new(),
        }
    }

    /// R9: the program cannot read the cluster's genesis hash, so it is compared here.
    ///
    /// # Errors
    /// [`Fault::WrongChain`]: everything after this would speak of another cluster.
    pub fn require_chain(&self) -> Result<(), Fault> {
        require_chain(&self.cluster, &self.chain)
    }

    /// # Errors
    /// [`Fault::ProgramIdDiffers`] where the program, this command and the program's key are not
    /// all of one id; [`Fault::DevelopmentId`] where everybody has its key.
    fn require_own_id(&self) -> Result<(), Fault> {
        let built = self.program.id;
        if let Some(key) = &self.program_key
            && key.pubkey() != built
        {
            return Err(Fault::ProgramIdDiffers {
                built: built.to_string(),
                keypair: key.pubkey().to_string(),
            });
        }
        let is_public = |genesis: &&str| genesis.starts_with(self.chain.reference());
        if built.to_string() == DEVELOPMENT_ID && PUBLIC_GENESIS.iter().any(is_public) {
            return Err(Fault::DevelopmentId(DEVELOPMENT_ID));
        }
        Ok(())
    }

    fn deployer(&self) -> Result<Address, Fault> {
        match &self.deployer {
            Deployer::Key(key) => Ok(key.pubkey()),
            Deployer::Address(address) => Ok(*address),
            Deployer::Nobody => Err(Fault::KeypairMissing {
                or_from: ", or --from with the deployer's address",
            }),
        }
    }

    fn key(&self) -> Result<&Keypair, Fault> {
        match &self.deployer {
            Deployer::Key(key) => Ok(key),
            _ => Err(Fault::KeypairMissing { or_from: "" }),
        }
    }

    fn program_key(&self) -> Result<&Keypair, Fault> {
        let id = self.program.id.to_string();
        (self.program_key.as_ref()).ok_or(Fault::ProgramKeypairMissing(id))
    }

    fn buffer_address(&self) -> Result<Address, Fault> {
        let deployer = self.deployer()?;
        Ok(loader::buffer_address(&deployer, &self.program.sha256))
    }
}

impl Target for SvmTarget {
    fn chain(&self) -> &ChainId {
        &self.chain
    }

    fn plan(&mut self) -> Result<Plan, Fault> {
        self.make_plan()
    }

    fn require_keys(&self, plan: &Plan) -> Result<(), Fault> {
        for step in plan.sending() {
            if Work::of(step)?.needs_program_key() {
                self.program_key()?;
            }
        }
        Ok(())
    }

    fn settings(&self) -> Settings {
        self.choices.settings()
    }

    fn build(&self) -> Option<String> {
        Some(self.program.code_hash())
    }

    fn require_own(&mut self, step: &Step, attempt: &Attempt) -> Result<(), Fault> {
        self.require_own_transaction(step, attempt)
    }

    fn final_for(&self) -> Option<String> {
        let is_final = self.choices.authority == UpgradeAuthority::None;
        is_final.then(|| self.program.id.to_string())
    }

    fn standing(&mut self, steps: &[&Step]) -> Result<Vec<bool>, Fault> {
        let works: Result<Vec<Work>, Fault> = steps.iter().map(|step| Work::of(step)).collect();
        self.standing_of(&works?)
    }

    fn sign(&mut self, step: &Step, expired: usize) -> Result<Attempt, Fault> {
        self.sign_step(step, expired)
    }

    /// A second transaction would not replace the first one: a fee is raised only once the first
    /// can no longer land.
    fn outbid(&mut self, _step: &Step, _attempt: &Attempt) -> Result<Option<Attempt>, Fault> {
        Ok(None)
    }

    fn send(&mut self, attempt: &Attempt) -> Result<Answer, Fault> {
        self.send_raw(attempt)
    }

    fn fates(&mut self, attempts: &[Attempt]) -> Result<Vec<Fate>, Fault> {
        self.fates_of(attempts)
    }

    fn depths(&mut self, landings: &[Landing]) -> Result<Vec<Depth>, Fault> {
        self.depths_of(landings)
    }

    fn deployment(&mut self, landings: &BTreeMap<String, Landing>) -> Result<Deployment, Fault> {
        let work = Work::Program { upgrades: false };
        let landing = landings.get(&work.id());
        let registry = Setting::Text(self.registry.registry().to_string());
        let record = Record {
            address: self.program.id.to_string(),
            code_hash: self.program.code_hash(),
            settings: Settings::from([("registry".to_owned(), registry)]),
            transaction: landing.map(|landing| landing.transaction.clone()),
            block: landing.map(|landing| landing.block),
        };
        Ok(Deployment {
            deployer: self.deployer()?.to_string(),
            settings: self.choices.settings(),
            contracts: BTreeMap::from([(planning::PROGRAM_TITLE.to_owned(), record)]),
            others: Vec::new(),
        })
    }

    fn verify(&mut self, recorded: &Deployment) -> Result<Vec<Check>, Fault> {
        self.require_chain()?;
        self.checks(recorded)
    }

    fn status(&mut self, recorded: Option<&Deployment>) -> Result<Vec<Standing>, Fault> {
        self.require_chain()?;
        self.standings(recorded)
    }

    fn smoke(
        &mut self,
        recorded: &Deployment,
        patience: Duration,
        confirm: &mut dyn FnMut(usize) -> Result<(), Fault>,
    ) -> Result<Smoke, Fault> {
        self.require_chain()?;
        self.require_own_id()?;
        confirm(smoke::TRANSACTIONS)?;
        self.run_smoke(recorded, patience)
    }

    fn publish(&mut self, folder: &Path) -> Result<Vec<String>, Fault> {
        explorer::publish(folder, &self.program)
    }
}
