//! One transaction that is sent once and waited for.
use super::{fees::Fees, node::Node, transactions::sign};
use crate::Fault;
use alloy::{
    consensus::TxEip1559,
    primitives::{Address, B256, Bytes, TxKind, U256},
    rpc::types::TransactionReceipt,
    signers::local::PrivateKeySigner,
};
use std::{
    thread,
    time::{Duration, Instant},
};

const POLL: Duration = Duration::from_millis(400);

/// A transaction to be sent.
#[derive(Clone, Debug)]
pub struct Call {
    pub to: Address,
    /// Wei.
    pub value: U256,
    /// Its gas limit.
    pub gas: u64,
    pub input: Bytes,
}

/// How transactions get on a chain.
pub(super) struct Sender<'a> {
    pub node: &'a Node,
    pub chain_id: u64,
    /// What an error calls the transactions.
    pub step: &'static str,
}

impl Sender<'_> {
    /// Hands it to the chain.
    ///
    /// # Errors
    /// [`Fault::TransactionFailed`] where the chain does not take it.
    pub fn send(
        &self,
        key: &PrivateKeySigner,
        nonce: u64,
        fees: Fees,
        call: Call,
    ) -> Result<B256, Fault> {
        let attempt = sign(
            key,
            TxEip1559 {
                chain_id: self.chain_id,
                nonce,
                gas_limit: call.gas,
                max_fee_per_gas: fees.max,
                max_priority_fee_per_gas: fees.priority,
                to: TxKind::Call(call.to),
                value: call.value,
                access_list: Default::default(),
                input: call.input,
            },
        )?;
        let hash = (attempt.transaction.parse())
            .map_err(|_| self.failed(&attempt.transaction, "has no hash"))?;
        let raw: Bytes = attempt.raw.parse().unwrap_or_default();
        if let Err(no) = self.node.send(&raw)?
            && self.node.receipt(hash)?.is_none()
            && !self.node.knows(hash)?
        {
            return Err(self.failed(&hash, &format!("was refused: {}", no.message)));
        }
        Ok(hash)
    }

    /// Its receipt, whatever became of it.
    ///
    /// # Errors
    /// [`Fault::TransactionFailed`] where there is none after `patience`.
    pub fn wait(&self, hash: B256, patience: Duration) -> Result<TransactionReceipt, Fault> {
        let begun = Instant::now();
        loop {
            match self.node.receipt(hash)? {
                Some(receipt) => return Ok(receipt),
                None if begun.elapsed() > patience => {
                    let seconds = patience.as_secs();
                    let reason = format!("is pending after {seconds} seconds");
                    return Err(self.failed(&hash, &reason));
                }
                None => thread::sleep(POLL),
            }
        }
    }

    /// As [`Self::wait`], where it must not have reverted.
    pub fn landed(&self, hash: B256, patience: Duration) -> Result<TransactionReceipt, Fault> {
        let receipt = self.wait(hash, patience)?;
        match receipt.status() {
            true => Ok(receipt),
            false => Err(self.failed(&hash, "reverted")),
        }
    }

    fn failed(&self, transaction: &impl ToString, reason: &str) -> Fault {
        Fault::TransactionFailed {
            step: self.step.to_owned(),
            reason: format!("{} {reason}", transaction.to_string()),
        }
    }
}
