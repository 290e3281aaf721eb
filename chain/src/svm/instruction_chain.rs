use super::{Cluster, PriorityFee, Transactions, compute_budget, fee};
use crate::{
    Amount, ChainError, ChainId, Signer, Svm,
    submission::{Finality, Landing, Resend, SendOutcome, SignedTx, TxChain, TxJob, TxStatus},
};
use alloy::primitives::FixedBytes;
use async_trait::async_trait;
use concord_registry::svm::compute_budget::{LOADED_DATA_MAX, set_loaded_data_limit};
use solana_instruction::Instruction;

/// Instructions that are to land once, together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstructionJob {
    /// Its name in the record.
    pub id: String,
    /// Without the compute budget's.
    pub instructions: Vec<Instruction>,
    /// The limit of compute units.
    pub units: u32,
}

impl TxJob for InstructionJob {
    fn id(&self) -> &str {
        &self.id
    }
}

/// A cluster and keys to which [`InstructionJob`]s are submitted. A job is done if its transaction
/// has landed.
pub struct InstructionChain {
    transactions: Transactions,
    /// The first pays.
    signers: Vec<Box<dyn Signer<Svm>>>,
    priority_fee: PriorityFee,
}

impl InstructionChain {
    /// The cluster, which must be `chain`. `signers`: the one that pays, then every other that an
    /// instruction needs.
    ///
    /// # Errors
    /// [`ChainError::WrongChain`], [`ChainError::Unreachable`].
    pub async fn connect(
        cluster: Cluster,
        chain: &ChainId,
        signers: Vec<Box<dyn Signer<Svm>>>,
        priority_fee: PriorityFee,
    ) -> Result<Self, ChainError> {
        cluster.require_chain(chain).await?;
        Ok(Self {
            transactions: Transactions::new(cluster),
            signers,
            priority_fee,
        })
    }

    /// Adds a key that signs what names it. It never pays.
    pub fn add_signer(&mut self, signer: Box<dyn Signer<Svm>>) {
        self.signers.push(signer);
    }

    /// Returns the most that a transaction with so many compute units pays as its fee. Rent is not in it.
    #[must_use]
    pub fn fee_max(&self, units: u32) -> Amount {
        let price = self.priority_fee.first.max(self.priority_fee.most);
        Amount(fee(self.signers.len() as u64, units, price).into())
    }
}

/// An instruction without effect, by which no two transactions are equal. Two equal jobs of one key that are signed with
/// the same block hash would be one transaction, which lands once and counts for both.
fn unlike_any_other() -> Instruction {
    let random = u32::from_le_bytes(FixedBytes::random().0);
    set_loaded_data_limit(random | LOADED_DATA_MAX)
}

#[async_trait]
impl TxChain for InstructionChain {
    type Job = InstructionJob;
    type Error = ChainError;

    async fn effects(&mut self, jobs: &[&InstructionJob]) -> Result<Vec<Option<bool>>, ChainError> {
        Ok(vec![None; jobs.len()])
    }

    async fn sign(&mut self, job: &InstructionJob, expired: usize) -> Result<SignedTx, ChainError> {
        let budget = compute_budget(job.units, self.priority_fee.after(expired));
        let instructions = [budget, vec![unlike_any_other()], job.instructions.clone()].concat();
        let signers: Vec<&dyn Signer<Svm>> = self.signers.iter().map(|it| &**it).collect();
        self.transactions.sign(&instructions, &signers).await
    }

    /// A second transaction would not replace the first one: a fee is raised only once the first can
    /// no longer land.
    async fn replace(
        &mut self,
        _job: &InstructionJob,
        _transaction: &SignedTx,
    ) -> Result<Option<SignedTx>, ChainError> {
        Ok(None)
    }

    async fn resend(
        &mut self,
        _job: &InstructionJob,
        transaction: &SignedTx,
    ) -> Result<Resend, ChainError> {
        (self.transactions).resend(transaction, self.priority_fee.most)
    }

    async fn send(&mut self, transaction: &SignedTx) -> Result<SendOutcome, ChainError> {
        self.transactions.send(transaction).await
    }

    async fn send_all(
        &mut self,
        transactions: &[SignedTx],
    ) -> Vec<Result<SendOutcome, ChainError>> {
        self.transactions.send_all(transactions).await
    }

    async fn statuses(&mut self, transactions: &[SignedTx]) -> Result<Vec<TxStatus>, ChainError> {
        self.transactions.statuses(transactions).await
    }

    async fn finality(&mut self, landings: &[Landing]) -> Result<Vec<Finality>, ChainError> {
        self.transactions.finality(landings).await
    }
}
