use super::{
    Confirmations, FeeLimit, Fees, Node, TRANSFER_GAS, Transactions, TxCall, TxReceipt,
    layer_one_fee,
};
use crate::{
    Amount, ChainError, ChainId, EndpointOptions, Evm, Signer,
    submission::{SendOutcome, SignedTx},
};
use alloy::{
    network::TransactionBuilder,
    primitives::{Address, B256, Bytes, U256},
    rpc::types::TransactionRequest,
};
use std::{
    cmp::max,
    time::{Duration, Instant},
};
use tokio::time::sleep;

/// How often a transaction is asked for.
const POLL: Duration = Duration::from_millis(400);
/// More than a transfer has.
const TRANSFER_BYTES: usize = 200;
/// What errors call a transaction.
const JOB: &str = "transaction";

/// How a [`Client`] asks and sends.
#[derive(Clone, Debug)]
pub struct ClientOptions {
    /// The chain that the endpoint must be.
    pub chain: ChainId,
    /// Where it is asked, and how.
    pub endpoint: EndpointOptions,
    /// How long to wait for one transaction.
    pub give_up_after: Duration,
    /// The most to pay for a unit of gas.
    pub fee_limit: FeeLimit,
}

/// A chain for programs that send one transaction and wait for it, and record nothing. Every answer
/// is read from the block of its latest transaction or a later one, even if nodes behind the
/// endpoint lag.
#[derive(Debug)]
pub struct Client {
    node: Node,
    chain_id: u64,
    transactions: Transactions,
    give_up_after: Duration,
    /// The latest block known.
    block: u64,
}

impl Client {
    /// Connects, and requires that the endpoint is the chain's.
    ///
    /// # Errors
    /// [`ChainError::WrongChain`], [`ChainError::Unreachable`], [`ChainError::RpcUrlMalformed`].
    pub async fn connect(options: ClientOptions) -> Result<Self, ChainError> {
        let chain_id = options.chain.evm_number()?;
        let node = Node::new(&options.endpoint)?;
        node.require_chain(chain_id).await?;
        Self::at(node, chain_id, options.fee_limit, options.give_up_after).await
    }

    /// A client of a node, whose chain id is `chain_id`.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`].
    pub async fn at(
        node: Node,
        chain_id: u64,
        fee_limit: FeeLimit,
        give_up_after: Duration,
    ) -> Result<Self, ChainError> {
        Ok(Self {
            block: node.block_number().await?,
            transactions: Transactions::new(
                node.clone(),
                chain_id,
                fee_limit,
                Confirmations::Blocks(1),
            ),
            node,
            chain_id,
            give_up_after,
        })
    }

    /// The chain id.
    #[must_use]
    pub fn chain_id(&self) -> u64 {
        self.chain_id
    }

    /// The node underneath.
    #[must_use]
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// Returns the latest block's time in Unix seconds.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`].
    pub async fn latest_time(&mut self) -> Result<u64, ChainError> {
        let block = self.latest_block().await?;
        self.node.time_of_block(block).await
    }

    async fn latest_block(&mut self) -> Result<u64, ChainError> {
        self.block = max(self.block, self.node.block_number().await?);
        Ok(self.block)
    }

    /// Returns what each view returns, or reverts with.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`].
    pub async fn views(
        &self,
        views: &[(Address, Bytes)],
    ) -> Result<Vec<Result<Bytes, Bytes>>, ChainError> {
        let request = |(to, input): &(Address, Bytes)| {
            TransactionRequest::default()
                .with_to(*to)
                .with_input(input.clone())
        };
        let calls: Vec<_> = views.iter().map(request).collect();
        self.node.calls(&calls, self.block).await
    }

    /// Simulates a transaction: the gas it takes, a tenth more than the estimate, or what it reverts
    /// with. Costs nothing.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`], [`ChainError::SimulationFailed`].
    pub async fn simulate(
        &self,
        from: Address,
        to: Address,
        input: &Bytes,
    ) -> Result<Result<u64, Bytes>, ChainError> {
        let request = TransactionRequest::default()
            .with_from(from)
            .with_to(to)
            .with_input(input.clone());
        let called = self.node.calls(std::slice::from_ref(&request), self.block);
        if let Some(Err(data)) = called.await?.into_iter().next() {
            return Ok(Err(data));
        }
        let gas = self.node.estimate_after(&request, self.block).await?;
        let gas = gas.map_err(|no| ChainError::SimulationFailed {
            title: to.to_string(),
            reason: no.message.into_owned(),
        })?;
        Ok(Ok(gas.saturating_add(gas / 10)))
    }

    /// Returns what so many transactions with so much gas together, and so many bytes each, can cost
    /// now.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`], [`ChainError::FeeAboveLimit`].
    pub async fn price(
        &self,
        gas: u64,
        transactions: u64,
        bytes: usize,
    ) -> Result<Amount, ChainError> {
        let fees = self.transactions.fees().await?;
        self.price_at(fees, gas, transactions, bytes).await
    }

    async fn price_at(
        &self,
        fees: Fees,
        gas: u64,
        transactions: u64,
        bytes: usize,
    ) -> Result<Amount, ChainError> {
        let below = layer_one_fee(&self.node, bytes).await?;
        let below = Amount(below.0.saturating_mul(transactions.into()));
        Ok(fees.cost(gas).saturating_add(below))
    }

    /// Signs a transaction with the sender's next nonce, at today's fees.
    ///
    /// # Errors
    /// [`ChainError::FeeAboveLimit`], [`ChainError::Unreachable`], [`ChainError::NotSigned`].
    pub async fn sign(
        &self,
        signer: &dyn Signer<Evm>,
        call: TxCall,
    ) -> Result<SignedTx, ChainError> {
        let fees = self.transactions.fees().await?;
        self.transactions.sign(signer, call, fees).await
    }

    /// Signs and sends a transaction: its hash.
    ///
    /// # Errors
    /// Those of [`Self::sign`] and [`Self::send_signed`].
    pub async fn send(
        &mut self,
        signer: &dyn Signer<Evm>,
        call: TxCall,
    ) -> Result<B256, ChainError> {
        let signed = self.sign(signer, call).await?;
        self.send_signed(&signed).await
    }

    /// Sends a transaction that was signed: its hash.
    ///
    /// # Errors
    /// [`ChainError::TransactionFailed`] if the chain does not take it, [`ChainError::Unreachable`],
    /// [`ChainError::RecordMalformed`].
    pub async fn send_signed(&mut self, signed: &SignedTx) -> Result<B256, ChainError> {
        let name = &signed.transaction;
        let hash = (name.parse()).map_err(|_| failed(name, "has no hash"))?;
        let no = match self.transactions.send(signed).await? {
            SendOutcome::Accepted => {
                self.transactions.note_nonce(signed)?;
                return Ok(hash);
            }
            SendOutcome::Underpriced => "its fee is too low".to_owned(),
            SendOutcome::Refused(no) => no,
        };
        if self.node.receipt(hash).await?.is_some() || self.node.knows(hash).await? {
            Ok(hash)
        } else {
            Err(failed(name, &format!("was refused: {no}")))
        }
    }

    /// Waits until a transaction is in a block, reverted or not.
    ///
    /// # Errors
    /// [`ChainError::TransactionFailed`] if it is in none in time, [`ChainError::Unreachable`].
    pub async fn wait(&mut self, hash: B256) -> Result<TxReceipt, ChainError> {
        let begun = Instant::now();
        loop {
            if let Some(receipt) = self.node.receipt(hash).await? {
                self.block = max(self.block, receipt.block_number.unwrap_or(0));
                return Ok(receipt);
            }
            if begun.elapsed() > self.give_up_after {
                let seconds = self.give_up_after.as_secs();
                let reason = format!("is pending after {seconds} seconds");
                return Err(failed(&hash.to_string(), &reason));
            }
            sleep(POLL).await;
        }
    }

    /// Waits until a transaction is in a block, where it must not have reverted.
    ///
    /// # Errors
    /// As [`Self::wait`], and [`ChainError::TransactionFailed`] if it reverted.
    pub async fn landed(&mut self, hash: B256) -> Result<TxReceipt, ChainError> {
        let receipt = self.wait(hash).await?;
        if receipt.status() {
            Ok(receipt)
        } else {
            Err(failed(&hash.to_string(), "reverted"))
        }
    }

    /// Waits until the nonces of an account up to `last` are used: whatever was signed with them has landed or never
    /// will. For those that the chain does not know, transfers of nothing to the account itself are sent.
    ///
    /// # Errors
    /// [`ChainError::TransactionFailed`] if one is not used in time, and as [`Self::send`].
    pub async fn use_nonces(
        &mut self,
        signer: &dyn Signer<Evm>,
        last: u64,
    ) -> Result<(), ChainError> {
        let (begun, account) = (Instant::now(), signer.address());
        let mut refusal = None;
        loop {
            let block = self.latest_block().await?;
            let used = self.node.nonce_after(account, block).await?;
            if used > last {
                return Ok(());
            }
            if begun.elapsed() > self.give_up_after {
                let seconds = self.give_up_after.as_secs();
                let refused =
                    refusal.map_or(String::new(), |no| format!("; the last transfer: {no}"));
                let reason =
                    format!("of {account} is in no block after {seconds} seconds{refused}");
                return Err(failed(&format!("with nonce {used}"), &reason));
            }
            if self.node.next_nonce(account).await? <= last {
                refusal = match self.use_next_nonce(signer).await {
                    // The nonce may be taken meanwhile, by what this node had not heard of.
                    Err(ChainError::TransactionFailed { reason, .. }) => Some(reason),
                    Err(fault) => return Err(fault),
                    Ok(_) => None,
                };
            }
            sleep(POLL).await;
        }
    }

    async fn use_next_nonce(&mut self, signer: &dyn Signer<Evm>) -> Result<B256, ChainError> {
        // It has noted no nonce as used: one that was accepted may have been lost.
        let transactions = Transactions::new(
            self.node.clone(),
            self.chain_id,
            self.transactions.fee_limit(),
            Confirmations::Blocks(1),
        );
        let nothing = transfer(signer.address(), U256::ZERO);
        let fees = transactions.fees().await?;
        let signed = transactions.sign(signer, nothing, fees).await?;
        self.send_signed(&signed).await
    }

    /// Sends what an account has beyond the fee of doing so; `None` if that is nothing.
    ///
    /// # Errors
    /// As [`Self::send`].
    pub async fn send_all(
        &mut self,
        signer: &dyn Signer<Evm>,
        to: Address,
    ) -> Result<Option<(B256, U256)>, ChainError> {
        let block = self.latest_block().await?;
        let balance = self.node.balance_after(signer.address(), block).await?;
        let fees = self.transactions.fees().await?; // for both, or the rest would not pay for a risen fee
        let fee = self.price_at(fees, TRANSFER_GAS, 1, TRANSFER_BYTES).await?;
        let fee = U256::from(fee.0);
        let Some(value) = balance.checked_sub(fee).filter(|value| !value.is_zero()) else {
            return Ok(None);
        };
        let give = transfer(to, value);
        let signed = self.transactions.sign(signer, give, fees).await?;
        let hash = self.send_signed(&signed).await?;
        Ok(Some((hash, value)))
    }
}

/// A transfer of wei to an account without code.
#[must_use]
pub fn transfer(to: Address, value: U256) -> TxCall {
    TxCall {
        to,
        value,
        gas: TRANSFER_GAS,
        input: Bytes::new(),
    }
}

fn failed(transaction: &str, reason: &str) -> ChainError {
    ChainError::TransactionFailed {
        job: JOB.to_owned(),
        reason: format!("{transaction} {reason}"),
    }
}
