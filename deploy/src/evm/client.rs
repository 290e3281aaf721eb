//! A chain for whoever asks and sends on it with keys of its own: the harness's live runs.
use super::{
    fees::{FeeLimit, Fees, layer_one_fee},
    node::Node,
    planning,
    sending::{Call, Sender},
};
use crate::{Amount, ChainId, Fault};
use alloy::{
    network::TransactionBuilder,
    primitives::{Address, B256, Bytes, U256},
    rpc::types::{TransactionReceipt, TransactionRequest},
    signers::local::PrivateKeySigner,
};
use std::{cmp::max, collections::HashMap, time::Duration};

/// Gas of a transfer of the chain's coin to an account without code.
pub const TRANSFER_GAS: u64 = planning::TRANSFER_GAS;

/// How a [`Client`] asks and sends.
#[derive(Clone, Debug)]
pub struct ClientOptions {
    pub chain: ChainId,
    pub rpc_url: String,
    /// For one answer.
    pub timeout: Duration,
    /// For one transaction.
    pub patience: Duration,
    /// Gwei a unit of gas, such as `1.5`.
    pub max_fee: Option<String>,
}

/// A chain behind a JSON-RPC endpoint. Whatever it answers is of the block that its latest
/// transaction landed in, or of a later one, also where nodes behind the endpoint lag.
pub struct Client {
    node: Node,
    chain: ChainId,
    chain_id: u64,
    patience: Duration,
    fee_limit: FeeLimit,
    /// No nonce below is free, whatever a node that lags behind says.
    nonces: HashMap<Address, u64>,
    /// The latest block known.
    block: u64,
}

impl Client {
    /// # Errors
    /// [`Fault::WrongChain`], [`Fault::Unreachable`], and options that are no options.
    pub fn connect(options: ClientOptions) -> Result<Self, Fault> {
        let chain = options.chain;
        let chain_id = (chain.reference().parse())
            .map_err(|_| Fault::ChainId(format!("{} is beyond 64 bits", chain.reference())))?;
        let mut client = Self {
            node: Node::new(&options.rpc_url, options.timeout)?,
            chain,
            chain_id,
            patience: options.patience,
            fee_limit: FeeLimit::parse(options.max_fee.as_deref())?,
            nonces: HashMap::new(),
            block: 0,
        };
        let found = client.node.chain_id()?;
        if found != chain_id {
            return Err(Fault::WrongChain {
                expected: client.chain.to_string(),
                found: format!("eip155:{found}"),
            });
        }
        client.look_up_block()?;
        Ok(client)
    }

    pub fn chain_id(&self) -> u64 {
        self.chain_id
    }

    fn look_up_block(&mut self) -> Result<(), Fault> {
        self.block = max(self.block, self.node.block_number()?);
        Ok(())
    }

    /// Unix seconds of the latest block.
    ///
    /// # Errors
    /// [`Fault::Unreachable`].
    pub fn latest_time(&mut self) -> Result<u64, Fault> {
        self.look_up_block()?;
        self.time_of_block(self.block)
    }

    /// Unix seconds.
    ///
    /// # Errors
    /// [`Fault::Unreachable`].
    pub fn time_of_block(&self, number: u64) -> Result<u64, Fault> {
        self.node.time_of_block(number)
    }

    /// Wei.
    ///
    /// # Errors
    /// [`Fault::Unreachable`].
    pub fn balance(&self, address: Address) -> Result<U256, Fault> {
        self.node.balance(address)
    }

    /// Whether there is code.
    ///
    /// # Errors
    /// [`Fault::Unreachable`].
    pub fn has_code(&self, address: Address) -> Result<bool, Fault> {
        Ok(!self.node.code(address)?.is_empty())
    }

    /// What each view returns, or reverts with.
    ///
    /// # Errors
    /// [`Fault::Unreachable`].
    pub fn views(&self, views: &[(Address, Bytes)]) -> Result<Vec<Result<Bytes, Bytes>>, Fault> {
        let calls: Vec<_> = views
            .iter()
            .map(|(to, input)| {
                TransactionRequest::default()
                    .with_to(*to)
                    .with_input(input.clone())
            })
            .collect();
        self.node.calls(&calls, self.block)
    }

    /// What a transaction would come to: the gas it takes, a tenth more than the estimate, or what
    /// it reverts with. Costs nothing.
    ///
    /// # Errors
    /// [`Fault::Unreachable`], [`Fault::SimulationFailed`].
    pub fn simulate(
        &self,
        from: Address,
        to: Address,
        input: &Bytes,
    ) -> Result<Result<u64, Bytes>, Fault> {
        let request = TransactionRequest::default()
            .with_from(from)
            .with_to(to)
            .with_input(input.clone());
        let called = self
            .node
            .calls(std::slice::from_ref(&request), self.block)?;
        if let Some(Err(data)) = called.into_iter().next() {
            return Ok(Err(data));
        }
        let gas = self.node.estimate_after(&request, self.block)?;
        let gas = gas.map_err(|no| Fault::SimulationFailed {
            title: to.to_string(),
            reason: no.message.into_owned(),
        })?;
        Ok(Ok(gas.saturating_add(gas / 10)))
    }

    /// What so many transactions of so much gas together, and of so many bytes each, can cost now.
    ///
    /// # Errors
    /// [`Fault::Unreachable`], [`Fault::FeeAboveLimit`].
    pub fn price(&self, gas: u64, transactions: u64, bytes: usize) -> Result<Amount, Fault> {
        self.price_at(self.fees()?, gas, transactions, bytes)
    }

    fn price_at(
        &self,
        fees: Fees,
        gas: u64,
        transactions: u64,
        bytes: usize,
    ) -> Result<Amount, Fault> {
        let below = layer_one_fee(&self.node, bytes)?;
        let below = Amount(below.0.saturating_mul(transactions.into()));
        Ok(fees.cost(gas).saturating_add(below))
    }

    fn fees(&self) -> Result<Fees, Fault> {
        Fees::current(&self.node, self.fee_limit)
    }

    fn sender(&self) -> Sender<'_> {
        Sender {
            node: &self.node,
            chain_id: self.chain_id,
            step: "conform --live",
        }
    }

    /// Hands a transaction to the chain: its hash.
    ///
    /// # Errors
    /// [`Fault::TransactionFailed`], [`Fault::Unreachable`], [`Fault::FeeAboveLimit`].
    pub fn send(&mut self, key: &PrivateKeySigner, call: Call) -> Result<B256, Fault> {
        self.send_at(self.fees()?, key, call)
    }

    fn send_at(&mut self, fees: Fees, key: &PrivateKeySigner, call: Call) -> Result<B256, Fault> {
        let from = key.address();
        let floor = self.nonces.get(&from).copied().unwrap_or(0);
        let nonce = max(floor, self.node.next_nonce(from)?);
        let hash = self.sender().send(key, nonce, fees, call)?;
        self.nonces.insert(from, nonce + 1);
        Ok(hash)
    }

    /// Waits until a transaction is in a block, reverted or not.
    ///
    /// # Errors
    /// [`Fault::TransactionFailed`] where it is in none in time, [`Fault::Unreachable`].
    pub fn wait(&mut self, hash: B256) -> Result<TransactionReceipt, Fault> {
        let receipt = self.sender().wait(hash, self.patience)?;
        self.block = max(self.block, receipt.block_number.unwrap_or(0));
        Ok(receipt)
    }

    /// Hands over what an account has beyond the fee of doing so; `None` where that is nothing.
    ///
    /// # Errors
    /// As [`Self::send`].
    pub fn send_all(
        &mut self,
        key: &PrivateKeySigner,
        to: Address,
    ) -> Result<Option<(B256, U256)>, Fault> {
        let balance = self.balance(key.address())?;
        let fees = self.fees()?; // for both, or the rest would not pay for a fee that has risen
        let fee = self.price_at(fees, TRANSFER_GAS, 1, TRANSFER_BYTES)?;
        let fee = U256::from(fee.0);
        let Some(value) = balance.checked_sub(fee).filter(|value| !value.is_zero()) else {
            return Ok(None);
        };
        let call = Call {
            to,
            value,
            gas: TRANSFER_GAS,
            input: Bytes::new(),
        };
        self.send_at(fees, key, call)
            .map(|hash| Some((hash, value)))
    }
}

/// More than a transfer has.
const TRANSFER_BYTES: usize = 200;
