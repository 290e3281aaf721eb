use super::{Confirmations, FeeLimit, Fees, Node, Transactions, TxCall, layer_one_fee};
use crate::{
    Amount, ChainError, ChainId, Evm, Signer,
    submission::{Finality, Landing, Resend, SendOutcome, SignedTx, TxChain, TxJob, TxStatus},
};
use alloy::{
    network::TransactionBuilder,
    primitives::{Address, Bytes, U256},
    rpc::types::{TransactionRequest, state::StateOverride},
};
use async_trait::async_trait;

/// More than a transaction has beside its input.
const ENVELOPE_BYTES: usize = 200;

/// A contract call that is to land once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallJob {
    /// Its name in the record.
    pub id: String,
    /// The contract.
    pub to: Address,
    /// Wei.
    pub value: U256,
    /// The call's data: selector and arguments.
    pub input: Bytes,
}

impl TxJob for CallJob {
    fn id(&self) -> &str {
        &self.id
    }
}

/// A chain and a key to which [`CallJob`]s are submitted. A job is done if its transaction has
/// landed.
pub struct CallChain {
    node: Node,
    transactions: Transactions,
    signer: Box<dyn Signer<Evm>>,
}

impl CallChain {
    /// The node's chain, which must be `chain`.
    ///
    /// # Errors
    /// [`ChainError::WrongChain`], [`ChainError::Unreachable`].
    pub async fn connect(
        node: Node,
        chain: &ChainId,
        signer: Box<dyn Signer<Evm>>,
        fee_limit: FeeLimit,
        confirmations: Confirmations,
    ) -> Result<Self, ChainError> {
        let chain_id = chain.evm_number()?;
        node.require_chain(chain_id).await?;
        Ok(Self {
            transactions: Transactions::new(node.clone(), chain_id, fee_limit, confirmations),
            node,
            signer,
        })
    }

    /// Returns the most that the call can cost now: its gas at the fee limit, or at current fees if there is no
    /// limit, and what a chain below takes.
    ///
    /// # Errors
    /// [`ChainError::SimulationFailed`] if it would revert, [`ChainError::FeeAboveLimit`],
    /// [`ChainError::Unreachable`].
    pub async fn cost(&self, job: &CallJob) -> Result<Amount, ChainError> {
        let gas = self.gas(job).await?;
        let fees = self.transactions.fees().await?;
        let limit = self.transactions.fee_limit().wei();
        let max = limit.unwrap_or(fees.max);
        let below = layer_one_fee(&self.node, job.input.len() + ENVELOPE_BYTES).await?;
        Ok(Fees { max, ..fees }.cost(gas).saturating_add(below))
    }

    /// Lets the chain try the call: the gas it takes, and a tenth more.
    async fn gas(&self, job: &CallJob) -> Result<u64, ChainError> {
        let request = TransactionRequest::default()
            .with_from(self.signer.address())
            .with_to(job.to)
            .with_value(job.value)
            .with_input(job.input.clone());
        let gas = self
            .node
            .estimate(&request, &StateOverride::default())
            .await?;
        let gas = gas.map_err(|no| ChainError::SimulationFailed {
            title: job.id.clone(),
            reason: no.message.into_owned(),
        })?;
        Ok(gas.saturating_add(gas / 10))
    }
}

#[async_trait]
impl TxChain for CallChain {
    type Job = CallJob;
    type Error = ChainError;

    async fn effects(&mut self, jobs: &[&CallJob]) -> Result<Vec<Option<bool>>, ChainError> {
        Ok(vec![None; jobs.len()])
    }

    async fn sign(&mut self, job: &CallJob, _expired: usize) -> Result<SignedTx, ChainError> {
        let call = TxCall {
            to: job.to,
            value: job.value,
            gas: self.gas(job).await?,
            input: job.input.clone(),
        };
        let limit = self.transactions.fee_limit();
        let fees = self.transactions.fees().await?.unlike_others(limit);
        self.transactions.sign(&*self.signer, call, fees).await
    }

    async fn replace(
        &mut self,
        _job: &CallJob,
        transaction: &SignedTx,
    ) -> Result<Option<SignedTx>, ChainError> {
        self.transactions.replace(&*self.signer, transaction).await
    }

    async fn resend(
        &mut self,
        _job: &CallJob,
        transaction: &SignedTx,
    ) -> Result<Resend, ChainError> {
        self.transactions.resend(&*self.signer, transaction).await
    }

    async fn send(&mut self, transaction: &SignedTx) -> Result<SendOutcome, ChainError> {
        self.transactions.send(transaction).await
    }

    async fn statuses(&mut self, transactions: &[SignedTx]) -> Result<Vec<TxStatus>, ChainError> {
        let mut statuses = Vec::with_capacity(transactions.len());
        for transaction in transactions {
            statuses.push(self.transactions.status(transaction).await?);
        }
        Ok(statuses)
    }

    async fn finality(&mut self, landings: &[Landing]) -> Result<Vec<Finality>, ChainError> {
        let mut finality = Vec::with_capacity(landings.len());
        for landing in landings {
            finality.push(self.transactions.finality(landing).await?);
        }
        Ok(finality)
    }
}
