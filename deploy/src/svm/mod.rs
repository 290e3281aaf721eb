//! Solana clusters.
mod authority;
mod choices;
pub(crate) mod command_line;
mod explorer;
mod hand_over;
mod loader;
pub(crate) mod planning;
pub(crate) mod registry_settings;
mod runtime_version;
mod snapshot;
pub(crate) mod step_kind;
mod transactions;
mod unused_buffers;
mod verification;

use crate::{
    Check, DeployError, Deployment, Plan, Record, Replaced, Setting, Settings, StatusRow, Step,
    Target, report,
};
use async_trait::async_trait;
pub use choices::{Choices, UpgradeAuthority};
pub(crate) use command_line::target;
use concord_chain::{
    ChainId, Signer, Svm,
    submission::{Finality, Landing, Resend, SendOutcome, SignedTx, TxChain, TxStatus},
    svm::{BuiltProgram, Cluster, PriorityFee, Transactions, code_hash, is_public},
};
use concord_registry::svm;
use snapshot::{Code, Snapshot};
use solana_address::Address;
use solana_keypair::Keypair;
use std::{collections::BTreeMap, path::Path};
use step_kind::StepKind;

/// Who deploys: a plan needs an address, a transaction the key.
pub enum Deployer {
    None,
    Address(Address),
    Key(Keypair),
}

impl Deployer {
    fn address(&self) -> Result<Address, DeployError> {
        match self {
            Self::Key(key) => Ok(key.address()),
            Self::Address(address) => Ok(*address),
            Self::None => Err(DeployError::KeypairMissing {
                or_from: ", or --from with the deployer's address",
            }),
        }
    }

    fn key(&self) -> Result<&Keypair, DeployError> {
        match self {
            Self::Key(key) => Ok(key),
            _ => Err(DeployError::KeypairMissing { or_from: "" }),
        }
    }

    fn signer(&self) -> Result<&dyn Signer<Svm>, DeployError> {
        Ok(self.key()?)
    }
}

/// Everything that an [`SvmTarget`] is made from.
pub struct SvmOptions {
    pub chain: ChainId,
    pub cluster: Cluster,
    pub deployer: Deployer,
    /// The key behind the program's address: it signs once, when the program is first deployed.
    pub program_key: Option<Keypair>,
    /// The next upgrade authority, if it signs the hand-over too.
    pub successor: Option<Keypair>,
    pub program: BuiltProgram,
    pub choices: Choices,
    pub priority_fee: PriorityFee,
}

/// A Solana cluster, with the program of this build.
pub struct SvmTarget {
    chain: ChainId,
    cluster: Cluster,
    transactions: Transactions,
    deployer: Deployer,
    program_key: Option<Keypair>,
    /// The next upgrade authority, if it signs the hand-over too.
    successor: Option<Keypair>,
    program: BuiltProgram,
    /// The program under its id, as its clients know it.
    registry: svm::Program,
    choices: Choices,
    priority_fee: PriorityFee,
    /// The program that the plan found in place of this one.
    replaced: Option<Replaced>,
}

/// The id of builds for local tests. Its secret key is public.
const DEVELOPMENT_ID: &str = "4dqu3YHQaBRRG7MPP4KRapDWK2XoAcHuAjTRwTuZCxbB";

impl SvmTarget {
    /// No request is made yet.
    #[must_use]
    pub fn new(options: SvmOptions) -> Self {
        Self {
            chain: options.chain,
            transactions: Transactions::new(options.cluster.clone()),
            cluster: options.cluster,
            deployer: options.deployer,
            program_key: options.program_key,
            successor: options.successor,
            registry: svm::Program::new(options.program.id),
            program: options.program,
            choices: options.choices,
            priority_fee: options.priority_fee,
            replaced: None,
        }
    }

    /// # Errors
    /// [`concord_chain::ChainError::WrongChain`]: everything after this would be about another
    /// cluster.
    pub async fn require_chain(&self) -> Result<(), DeployError> {
        Ok(self.cluster.require_chain(&self.chain).await?)
    }

    /// # Errors
    /// [`DeployError::ProgramIdDiffers`] if the program, this command and the program's key have
    /// not all the same id; [`DeployError::DevelopmentId`] if its key is public.
    fn require_own_id(&self) -> Result<(), DeployError> {
        let built = self.program.id;
        if let Some(key) = &self.program_key
            && key.address() != built
        {
            return Err(DeployError::ProgramIdDiffers {
                built: built.to_string(),
                keypair: key.address().to_string(),
            });
        }
        if built.to_string() == DEVELOPMENT_ID && is_public(&self.chain) {
            return Err(DeployError::DevelopmentId(DEVELOPMENT_ID));
        }
        Ok(())
    }

    fn deployer(&self) -> Result<Address, DeployError> {
        self.deployer.address()
    }

    /// The accounts of a deployment that was seen on chain, and whether the program is this build: an upgrade
    /// that another key must send may not have happened yet. A node that lags has older ones, which do not
    /// get into the address book (DEP-25).
    async fn deployed(&self) -> Result<(Snapshot, bool), DeployError> {
        let ask = || async {
            let snapshot = self.snapshot().await?;
            let code = snapshot.code(&self.program);
            let is_built = code == Code::Built;
            let is_deployed = is_built || self.upgrades_by_other(&snapshot, &code)?;
            Ok(if is_deployed && self.registry_exists(&snapshot)? {
                Ok((snapshot, is_built))
            } else {
                Err(format!(
                    "it does not have the program {} as it was deployed, or its registry",
                    self.program.id
                ))
            })
        };
        let endpoint = self.cluster.endpoint();
        endpoint.until_caught_up("getMultipleAccounts", ask).await
    }

    fn buffer_address(&self) -> Result<Address, DeployError> {
        let deployer = self.deployer()?;
        Ok(loader::buffer_address(&deployer, &self.program.sha256))
    }
}

#[async_trait]
impl TxChain for SvmTarget {
    type Job = Step;
    type Error = DeployError;

    async fn effects(&mut self, steps: &[&Step]) -> Result<Vec<Option<bool>>, DeployError> {
        let kinds: Result<Vec<StepKind>, DeployError> =
            steps.iter().map(|step| StepKind::of(step)).collect();
        let done = self.are_done(&kinds?).await?;
        Ok(done.into_iter().map(Some).collect())
    }

    async fn sign(&mut self, step: &Step, expired: usize) -> Result<SignedTx, DeployError> {
        self.sign_step(step, expired).await
    }

    /// A second transaction would not replace the first one: a fee is raised only once the first
    /// can no longer land.
    async fn replace(
        &mut self,
        _step: &Step,
        _transaction: &SignedTx,
    ) -> Result<Option<SignedTx>, DeployError> {
        Ok(None)
    }

    async fn resend(
        &mut self,
        _step: &Step,
        transaction: &SignedTx,
    ) -> Result<Resend, DeployError> {
        Ok((self.transactions).resend(transaction, self.priority_fee.most)?)
    }

    async fn send(&mut self, transaction: &SignedTx) -> Result<SendOutcome, DeployError> {
        Ok(self.transactions.send(transaction).await?)
    }

    async fn send_all(
        &mut self,
        transactions: &[SignedTx],
    ) -> Vec<Result<SendOutcome, DeployError>> {
        let outcomes = self.transactions.send_all(transactions).await;
        let outcomes = outcomes.into_iter();
        outcomes.map(|it| it.map_err(DeployError::from)).collect()
    }

    async fn statuses(&mut self, transactions: &[SignedTx]) -> Result<Vec<TxStatus>, DeployError> {
        Ok(self.transactions.statuses(transactions).await?)
    }

    async fn finality(&mut self, landings: &[Landing]) -> Result<Vec<Finality>, DeployError> {
        Ok(self.transactions.finality(landings).await?)
    }
}

#[async_trait]
impl Target for SvmTarget {
    fn chain(&self) -> &ChainId {
        &self.chain
    }

    async fn plan(&mut self) -> Result<Plan, DeployError> {
        let (plan, code) = self.make_plan().await?;
        if let Code::Other(code_hash) = code {
            self.replaced = Some(Replaced::of_hash(code_hash));
        }
        Ok(plan)
    }

    fn require_keys(&self, plan: &Plan) -> Result<(), DeployError> {
        for step in plan.sending() {
            if StepKind::of(step)?.needs_program_key() {
                transactions::program_key(&self.program_key, &self.program.id)?;
            }
        }
        Ok(())
    }

    fn successor(&self, plan: &Plan) -> Option<String> {
        let hands_over = |step: &Step| step.id == StepKind::HandOver.id();
        let successor = self.choices.authority.successor()?;
        plan.sending()
            .any(hands_over)
            .then(|| successor.to_string())
    }

    fn settings(&self) -> Settings {
        self.choices.settings()
    }

    fn build(&self) -> Option<String> {
        Some(self.program.code_hash())
    }

    async fn require_own(
        &mut self,
        step: &Step,
        transaction: &SignedTx,
    ) -> Result<(), DeployError> {
        self.require_own_transaction(step, transaction).await
    }

    fn final_for(&self) -> Option<String> {
        let is_final = self.choices.authority == UpgradeAuthority::None;
        is_final.then(|| self.program.id.to_string())
    }

    async fn deployment(
        &mut self,
        landings: &BTreeMap<String, Landing>,
    ) -> Result<Deployment, DeployError> {
        let kind = StepKind::Program { upgrades: false };
        let landing = landings.get(&kind.id());
        let registry = Setting::Text(self.registry.registry().to_string());
        let (snapshot, is_built) = self.deployed().await?;
        let on_chain = snapshot.program_data();
        let commit = self.program.commit.clone();
        let replaced = self.replaced.clone().filter(|_| landing.is_some());
        let record = Record {
            address: self.program.id.to_string(),
            code_hash: on_chain.map_or(self.program.code_hash(), |data| code_hash(data.content)),
            settings: Settings::from([("registry".to_owned(), registry)]),
            transaction: landing.map(|landing| landing.transaction.clone()),
            block: landing.map(|landing| landing.block),
            commit: commit.filter(|_| is_built),
            replaced: replaced.into_iter().collect(),
        };
        Ok(Deployment {
            deployer: self.deployer()?.to_string(),
            settings: self.choices.settings(),
            contracts: BTreeMap::from([(planning::PROGRAM_TITLE.to_owned(), record)]),
            registry: snapshot.registry()?.map(Into::into),
            others: Vec::new(),
        })
    }

    async fn verify(&mut self, recorded: &Deployment) -> Result<Vec<Check>, DeployError> {
        self.require_chain().await?;
        let snapshot = self.snapshot().await?;
        if let Some(warning) = snapshot.authority_left_behind(recorded) {
            report::print_status(format_args!("warning: {warning}"));
        }
        self.checks(&snapshot, recorded)
    }

    async fn status(
        &mut self,
        recorded: Option<&Deployment>,
    ) -> Result<Vec<StatusRow>, DeployError> {
        self.require_chain().await?;
        self.status_rows(recorded).await
    }

    fn publish(&mut self, folder: &Path) -> Result<Vec<String>, DeployError> {
        explorer::publish(folder, &self.program)
    }
}
