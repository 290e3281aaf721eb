//! The registry account on a cluster, to which one change is submitted.
use super::change::Change;
use crate::{DeployError, svm::step_kind::REGISTRY_CHANGE_UNITS};
use async_trait::async_trait;
use concord_chain::{
    ChainId, Signer, Svm,
    submission::{Finality, Landing, Resend, SendOutcome, SignedTx, TxChain, TxJob, TxStatus},
    svm::{Cluster, PriorityFee, Transactions, compute_budget, decode},
};
use concord_registry::svm::{Program, accounts::Registry};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_message::Message;

/// A change that is to land once.
pub(super) struct ChangeJob {
    pub id: String,
    pub change: Change,
}

impl TxJob for ChangeJob {
    fn id(&self) -> &str {
        &self.id
    }
}

/// The registry account of one program.
#[derive(Clone)]
pub(super) struct RegistryAccount {
    pub cluster: Cluster,
    pub program: Program,
}

impl RegistryAccount {
    /// # Errors
    /// [`DeployError::NoRegistry`]; [`DeployError::RegistryElsewhere`] if it was initialized for
    /// another chain (R9).
    pub async fn read(&self, chain: &ChainId) -> Result<Registry, DeployError> {
        let address = self.program.registry();
        let absent = || DeployError::NoRegistry {
            registry: address.to_string(),
            program: self.program.id().to_string(),
        };
        let account = self.cluster.account(&address).await?.ok_or_else(absent)?;
        let decoded: Result<Registry, _> = self.program.decode(&account.owner, &account.data);
        let registry = decoded.map_err(|_| absent())?;
        if registry.chain == chain.to_string() {
            Ok(registry)
        } else {
            Err(DeployError::RegistryElsewhere {
                registry: address.to_string(),
                found: registry.chain,
                expected: chain.to_string(),
            })
        }
    }
}

/// A key that changes a registry account. Whether a change is done is read from the account, so that
/// nothing is sent for one that is.
pub(super) struct RegistryChain {
    pub account: RegistryAccount,
    pub chain: ChainId,
    pub signer: Keypair,
    pub priority_fee: PriorityFee,
    transactions: Transactions,
}

impl RegistryChain {
    pub fn new(
        account: RegistryAccount,
        chain: ChainId,
        signer: Keypair,
        priority_fee: PriorityFee,
    ) -> Self {
        Self {
            transactions: Transactions::new(account.cluster.clone()),
            account,
            chain,
            signer,
            priority_fee,
        }
    }

    fn instructions(&self, change: Change, price: u64) -> Vec<Instruction> {
        let signer = self.signer.address();
        let mut instructions = compute_budget(REGISTRY_CHANGE_UNITS, price);
        instructions.push(change.instruction(&self.account.program, signer));
        instructions
    }

    /// Requires that a recorded transaction is the change's and its signer's. Write access to the
    /// record must not decide what is sent.
    ///
    /// # Errors
    /// [`concord_chain::ChainError::RecordMalformed`].
    pub fn require_own(&self, job: &ChangeJob, recorded: &SignedTx) -> Result<(), DeployError> {
        let found = decode(recorded)?.message;
        let signer = self.signer.address();
        // With and without a price: the two differ in nothing else that is compared.
        let is_own = [0, 1].iter().any(|price| {
            let planned = Message::new(&self.instructions(job.change, *price), Some(&signer));
            planned.account_keys == found.account_keys
                && planned.header == found.header
                && planned.instructions.len() == found.instructions.len()
                && planned.instructions.last() == found.instructions.last()
                && programs(&planned) == programs(&found)
        });
        if is_own {
            Ok(())
        } else {
            Err(recorded
                .malformed("is not this change, or not by this key")
                .into())
        }
    }
}

/// The program of each instruction, by its place among the keys.
fn programs(message: &Message) -> Vec<u8> {
    let instructions = message.instructions.iter();
    instructions.map(|it| it.program_id_index).collect()
}

#[async_trait]
impl TxChain for RegistryChain {
    type Job = ChangeJob;
    type Error = DeployError;

    async fn effects(&mut self, jobs: &[&ChangeJob]) -> Result<Vec<Option<bool>>, DeployError> {
        let registry = self.account.read(&self.chain).await?;
        let signer: Address = self.signer.address();
        let effects = jobs
            .iter()
            .map(|job| job.change.is_done(&registry, &signer));
        Ok(effects.map(Some).collect())
    }

    async fn sign(&mut self, job: &ChangeJob, expired: usize) -> Result<SignedTx, DeployError> {
        let instructions = self.instructions(job.change, self.priority_fee.after(expired));
        let signer: &dyn Signer<Svm> = &self.signer;
        Ok(self.transactions.sign(&instructions, &[signer]).await?)
    }

    /// A second transaction would not replace the first one: a fee is raised only once the first can
    /// no longer land.
    async fn replace(
        &mut self,
        _job: &ChangeJob,
        _transaction: &SignedTx,
    ) -> Result<Option<SignedTx>, DeployError> {
        Ok(None)
    }

    async fn resend(
        &mut self,
        _job: &ChangeJob,
        transaction: &SignedTx,
    ) -> Result<Resend, DeployError> {
        Ok((self.transactions).resend(transaction, self.priority_fee.most)?)
    }

    async fn send(&mut self, transaction: &SignedTx) -> Result<SendOutcome, DeployError> {
        Ok(self.transactions.send(transaction).await?)
    }

    async fn statuses(&mut self, transactions: &[SignedTx]) -> Result<Vec<TxStatus>, DeployError> {
        Ok(self.transactions.statuses(transactions).await?)
    }

    async fn finality(&mut self, landings: &[Landing]) -> Result<Vec<Finality>, DeployError> {
        Ok(self.transactions.finality(landings).await?)
    }
}
