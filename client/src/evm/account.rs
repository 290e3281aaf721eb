use alloy::primitives::{Address, B256, U256};
use async_trait::async_trait;
use concord_chain::{
    Amount, ChainId, Evm, Signer,
    evm::{CallChain, CallJob, Confirmations, FeeLimit},
    submission::{Landing, SignedTx, Timing, TxRecord, submit},
};
use concord_registry::event::Event;

use super::EvmRegistries;
use crate::{Account, ClientError, Operation, Registries, operation::malformed};

/// One account on one deployment of the registries on an EVM chain.
pub struct EvmAccount {
    registries: EvmRegistries,
    chain: CallChain,
    address: Address,
    timing: Timing,
}

impl EvmAccount {
    /// Connects an account. The node must be of the registries' chain.
    ///
    /// # Errors
    /// [`ClientError::Chain`].
    pub async fn connect(
        registries: EvmRegistries,
        signer: Box<dyn Signer<Evm>>,
        fees: (FeeLimit, Confirmations),
        timing: Timing,
    ) -> Result<Self, ClientError> {
        let address = signer.address();
        let network: ChainId = registries.network.parse()?;
        let (limit, confirmations) = fees;
        let node = registries.node.clone();
        let chain = CallChain::connect(node, &network, signer, limit, confirmations).await?;
        Ok(Self {
            registries,
            chain,
            address,
            timing,
        })
    }

    /// What is read without a key.
    #[must_use]
    pub fn reads(&self) -> &EvmRegistries {
        &self.registries
    }

    /// Returns the most that the operation can cost now, in wei.
    ///
    /// # Errors
    /// [`ClientError`], also if the registry would refuse it.
    pub async fn cost(&self, operation: &Operation) -> Result<Amount, ClientError> {
        Ok(self.chain.cost(&self.job("cost", operation)?).await?)
    }

    fn job(&self, id: &str, operation: &Operation) -> Result<CallJob, ClientError> {
        let (to, input) = self.registries.call(operation)?;
        Ok(CallJob {
            id: id.to_owned(),
            to,
            value: U256::ZERO,
            input,
        })
    }
}

#[async_trait]
impl Account for EvmAccount {
    fn registries(&self) -> &dyn Registries {
        &self.registries
    }

    fn account(&self) -> String {
        format!("{}:{}", self.registries.network, self.address)
    }

    /// The registry numbers its agents.
    fn complete(&self, _: &mut Operation, _: Option<&Operation>) {}

    async fn try_out(&self, operation: &Operation) -> Result<(), ClientError> {
        let (to, input) = self.registries.call(operation)?;
        let from = Some(self.address);
        let answer = self.registries.try_call(from, to, input).await?;
        // an address without code takes every call
        if answer.is_empty() && self.registries.node.code(to).await?.is_empty() {
            let missing = format!("there is no contract at {to}");
            return Err(self.registries.refused(missing));
        }
        Ok(())
    }

    async fn land(
        &mut self,
        id: &str,
        operation: &Operation,
        record: &mut (dyn TxRecord + Sync),
    ) -> Result<(), ClientError> {
        let call = self.job(id, operation)?;
        let mut report = |job: &CallJob, words: &str| tracing::info!(job = job.id, words);
        let timing = self.timing;
        Ok(submit(&mut self.chain, &[&[call]], record, timing, &mut report).await?)
    }

    async fn events(
        &self,
        landing: &Landing,
        _signed: &SignedTx,
    ) -> Result<Vec<Event>, ClientError> {
        let registries = &self.registries;
        let hash: B256 = (landing.transaction.parse())
            .map_err(|_| malformed("transaction", &landing.transaction, "a hash"))?;
        let node = &registries.node;
        let receipt = node.receipt(hash).await?.ok_or_else(|| {
            let reason = format!("it does not have {hash}, which landed");
            node.endpoint()
                .unreachable("eth_getTransactionReceipt", reason)
        })?;
        let logs = receipt.placed_logs();
        let decoded = registries.addresses.events(&registries.network, &logs);
        Ok(decoded.events.into_iter().map(|it| it.event).collect())
    }
}
