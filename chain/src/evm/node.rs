use super::{Confirmations, TxReceipt};
use crate::{ChainError, Endpoint, EndpointOptions, Refusable, endpoint::lag_pauses};
use alloy::{
    consensus::{BlockHeader, EMPTY_ROOT_HASH},
    eips::{BlockId, BlockNumberOrTag},
    network::TransactionBuilder,
    primitives::{Address, B256, Bytes, U256},
    providers::{Provider, RootProvider},
    pubsub::Subscription,
    rpc::{
        json_rpc::ErrorPayload,
        types::{FeeHistory, Filter, Header, Log, TransactionRequest, state::StateOverride},
    },
    sol_types::SolCall,
    transports::TransportResult,
};
use concord_registry::evm::text::decode_returns;
use futures_util::future::try_join_all;
use std::{future::IntoFuture, time::Duration};
use tokio::time::sleep;

/// A chain behind a JSON-RPC endpoint. Clones share their connections.
#[derive(Clone, Debug)]
pub struct Node {
    endpoint: Endpoint,
    provider: RootProvider,
}

impl Node {
    /// A node over HTTP. No request is made yet.
    ///
    /// # Errors
    /// [`ChainError::RpcUrlMalformed`].
    pub fn new(options: &EndpointOptions) -> Result<Self, ChainError> {
        Ok(Self::at(Endpoint::new(options)?))
    }

    /// A node over WebSocket: it can subscribe. `timeout`: for one answer.
    ///
    /// # Errors
    /// [`ChainError::WebSocketUrlMalformed`], [`ChainError::Unreachable`].
    pub async fn connect_ws(url: &str, timeout: Duration) -> Result<Self, ChainError> {
        Ok(Self::at(Endpoint::connect_ws(url, timeout).await?))
    }

    /// A node at an endpoint.
    #[must_use]
    pub fn at(endpoint: Endpoint) -> Self {
        Self {
            provider: RootProvider::new(endpoint.client().clone()),
            endpoint,
        }
    }

    /// The endpoint, for requests that this type does not have.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Alloy's provider at the endpoint.
    #[must_use]
    pub fn provider(&self) -> &RootProvider {
        &self.provider
    }

    /// Waits for a provider's request, whose refusal is an error.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`].
    pub async fn expect<T>(
        &self,
        method: &str,
        request: impl IntoFuture<Output = TransportResult<T>>,
    ) -> Result<T, ChainError> {
        let answer = self.endpoint.ask(method, request).await?;
        answer.map_err(|no| self.endpoint.unreachable(method, no.message.into_owned()))
    }

    /// Returns the chain id.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`].
    pub async fn chain_id(&self) -> Result<u64, ChainError> {
        self.expect("eth_chainId", self.provider.get_chain_id())
            .await
    }

    /// Requires the chain id.
    ///
    /// # Errors
    /// [`ChainError::WrongChain`].
    pub async fn require_chain(&self, chain_id: u64) -> Result<(), ChainError> {
        let found = self.chain_id().await?;
        if found == chain_id {
            Ok(())
        } else {
            Err(ChainError::WrongChain {
                expected: format!("eip155:{chain_id}"),
                found: format!("eip155:{found}"),
            })
        }
    }

    /// Returns wei.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`].
    pub async fn balance(&self, address: Address) -> Result<U256, ChainError> {
        self.expect("eth_getBalance", self.provider.get_balance(address))
            .await
    }

    /// Returns what an address had after a block, in wei. A node that does not have the block yet is asked again.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`], also if the node keeps no state of that block.
    pub async fn balance_after(&self, address: Address, block: u64) -> Result<U256, ChainError> {
        let balance = || self.provider.get_balance(address).number(block);
        self.expect_after("eth_getBalance", balance).await
    }

    /// Returns the code at an address; empty if there is none.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`].
    pub async fn code(&self, address: Address) -> Result<Bytes, ChainError> {
        self.expect("eth_getCode", self.provider.get_code_at(address))
            .await
    }

    /// Returns the code that an address had after a block; empty if there was none.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`], also if the node keeps no state of that block.
    pub async fn code_after(&self, address: Address, block: u64) -> Result<Bytes, ChainError> {
        let code = self.provider.get_code_at(address).number(block);
        self.expect("eth_getCode", code).await
    }

    /// Returns the next nonce, counting what is pending.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`].
    pub async fn next_nonce(&self, address: Address) -> Result<u64, ChainError> {
        let count = self.provider.get_transaction_count(address).pending();
        self.expect("eth_getTransactionCount", count).await
    }

    /// Returns the next nonce, counting only what is mined.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`].
    pub async fn mined_nonce(&self, address: Address) -> Result<u64, ChainError> {
        let count = self.provider.get_transaction_count(address).latest();
        self.expect("eth_getTransactionCount", count).await
    }

    /// Returns the next nonce after a block. A node that does not have the block yet is asked again.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`], also if the node keeps no state of that block.
    pub async fn nonce_after(&self, address: Address, block: u64) -> Result<u64, ChainError> {
        let count = || self.provider.get_transaction_count(address).number(block);
        self.expect_after("eth_getTransactionCount", count).await
    }

    async fn expect_after<T, R>(
        &self,
        method: &str,
        request: impl Fn() -> R + Sync,
    ) -> Result<T, ChainError>
    where
        T: Send,
        R: IntoFuture<Output = TransportResult<T>, IntoFuture: Send> + Send,
    {
        let ask = || async {
            let answer = self.endpoint.ask(method, request()).await?;
            Ok(answer.map_err(|no| no.message.into_owned()))
        };
        self.endpoint.until_caught_up(method, ask).await
    }

    /// Returns the latest block's number.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`].
    pub async fn block_number(&self) -> Result<u64, ChainError> {
        self.expect("eth_blockNumber", self.provider.get_block_number())
            .await
    }

    async fn header(&self, block: BlockNumberOrTag) -> Result<Option<Header>, ChainError> {
        let block = self.provider.get_block_by_number(block);
        let block = self.expect("eth_getBlockByNumber", block).await?;
        Ok(block.map(|block| block.header))
    }

    /// Returns the latest block's time in Unix seconds.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`].
    pub async fn latest_time(&self) -> Result<u64, ChainError> {
        let header = self.header(BlockNumberOrTag::Latest).await?;
        Ok(header.map_or(0, |header| header.timestamp()))
    }

    /// Returns a block's time in Unix seconds. A node that lags behind is asked again.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`].
    pub async fn time_of_block(&self, number: u64) -> Result<u64, ChainError> {
        for pause in lag_pauses() {
            if let Some(header) = self.header(number.into()).await? {
                return Ok(header.timestamp());
            }
            sleep(pause).await;
        }
        let reason = format!("it does not have block {number}");
        Err(self.endpoint.unreachable("eth_getBlockByNumber", reason))
    }

    /// Returns wei per unit of gas; zero on a chain without a base fee.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`].
    pub async fn base_fee(&self) -> Result<u128, ChainError> {
        let header = self.header(BlockNumberOrTag::Latest).await?;
        let fee = header.and_then(|header| header.base_fee_per_gas());
        Ok(fee.unwrap_or(0).into())
    }

    /// Returns the fees of so many blocks up to the latest, and in each the tip below which this
    /// percentage of its gas was sold.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`].
    pub async fn fee_history(
        &self,
        blocks: u64,
        percentile: f64,
    ) -> Result<FeeHistory, ChainError> {
        let percentiles = [percentile];
        let latest = BlockNumberOrTag::Latest;
        let history = (self.provider).get_fee_history(blocks, latest, &percentiles);
        self.expect("eth_feeHistory", history).await
    }

    /// Returns the receipt of a mined transaction.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`].
    pub async fn receipt(&self, transaction: B256) -> Result<Option<TxReceipt>, ChainError> {
        let method = "eth_getTransactionReceipt";
        let receipt = self.provider.client().request(method, (transaction,));
        self.expect(method, receipt).await
    }

    /// Returns the hash of the block with this number; `None` if the node does not have it.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`].
    pub async fn block_hash(&self, number: u64) -> Result<Option<B256>, ChainError> {
        let header = self.header(number.into()).await?;
        Ok(header.map(|header| header.hash))
    }

    /// Returns the hashes of the block's transactions; `None` if the node does not have the block, or has dropped them.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`].
    pub async fn transactions_of(&self, number: u64) -> Result<Option<Vec<B256>>, ChainError> {
        let block = self.provider.get_block_by_number(number.into());
        let block = self.expect("eth_getBlockByNumber", block).await?;
        Ok(block.and_then(|block| {
            let hashes: Vec<B256> = block.transactions.hashes().collect();
            let root = block.header.transactions_root; // zeros on chains without such a root
            let is_dropped = hashes.is_empty() && root != EMPTY_ROOT_HASH && !root.is_zero();
            (!is_dropped).then_some(hashes)
        }))
    }

    /// Returns the number of the newest block that the chain calls safe or final; `None` if the node
    /// knows no such block.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`].
    pub async fn tagged_block(&self, tag: BlockNumberOrTag) -> Result<Option<u64>, ChainError> {
        let block = self.provider.get_block_by_number(tag);
        let answer = self.endpoint.ask("eth_getBlockByNumber", block).await?;
        let found = answer.ok().flatten(); // an unknown tag is an error to some nodes
        Ok(found.map(|block| block.header.number()))
    }

    /// Returns whether a block stays, by the measure of `confirmations`.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`].
    pub async fn is_final(
        &self,
        block: u64,
        confirmations: Confirmations,
    ) -> Result<bool, ChainError> {
        let tag = match confirmations {
            Confirmations::Blocks(blocks) => {
                let last = block.saturating_add(blocks.max(1) - 1);
                return Ok(self.block_number().await? >= last);
            }
            Confirmations::Safe => BlockNumberOrTag::Safe,
            Confirmations::Finalized => BlockNumberOrTag::Finalized,
        };
        let newest = self.tagged_block(tag).await?;
        Ok(newest.is_some_and(|newest| newest >= block))
    }

    /// Returns whether the node has the transaction, mined or not.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`].
    pub async fn knows(&self, transaction: B256) -> Result<bool, ChainError> {
        let found = self.provider.get_transaction_by_hash(transaction);
        let found = self.expect("eth_getTransactionByHash", found).await?;
        Ok(found.is_some())
    }

    /// Returns the logs that match.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`].
    pub async fn logs(&self, filter: &Filter) -> Result<Vec<Log>, ChainError> {
        self.expect("eth_getLogs", self.provider.get_logs(filter))
            .await
    }

    /// Calls on the latest block: what is pending may be the very transaction that is asked about.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`]; a revert is an answer.
    pub async fn call(
        &self,
        request: &TransactionRequest,
        overrides: &StateOverride,
    ) -> Result<Refusable<Bytes>, ChainError> {
        let call = self.provider.call(request.clone()).block(BlockId::latest());
        let call = call.overrides_opt((!overrides.is_empty()).then(|| overrides.clone()));
        self.endpoint.ask("eth_call", call).await
    }

    /// Returns what each call returns or reverts with on the state after `block`, in the same order.
    /// A node that does not have the block yet is asked again.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`].
    pub async fn calls(
        &self,
        calls: &[TransactionRequest],
        block: u64,
    ) -> Result<Vec<Result<Bytes, Bytes>>, ChainError> {
        try_join_all(calls.iter().map(|call| self.call_after(call, block))).await
    }

    async fn call_after(
        &self,
        request: &TransactionRequest,
        block: u64,
    ) -> Result<Result<Bytes, Bytes>, ChainError> {
        const METHOD: &str = "eth_call";
        let mut reason = String::new();
        for pause in lag_pauses() {
            let call = self.provider.call(request.clone());
            let call = call.block(BlockId::number(block));
            match returned_or_reverted(self.endpoint.ask(METHOD, call).await?) {
                Ok(answer) => return Ok(answer),
                Err(no) => reason = no.message.into_owned(),
            }
            sleep(pause).await;
        }
        Err(self.endpoint.unreachable(METHOD, reason))
    }

    /// Estimates gas on the state after `block`.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`]; a revert is an answer.
    pub async fn estimate_after(
        &self,
        request: &TransactionRequest,
        block: u64,
    ) -> Result<Refusable<u64>, ChainError> {
        let estimate = self.provider.estimate_gas(request.clone());
        let estimate = estimate.block(BlockId::number(block));
        self.endpoint.ask("eth_estimateGas", estimate).await
    }

    /// Estimates gas on the latest block.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`]; a revert is an answer.
    pub async fn estimate(
        &self,
        request: &TransactionRequest,
        overrides: &StateOverride,
    ) -> Result<Refusable<u64>, ChainError> {
        let estimate = self.provider.estimate_gas(request.clone());
        let estimate = estimate.block(BlockId::latest());
        let estimate = estimate.overrides_opt((!overrides.is_empty()).then(|| overrides.clone()));
        self.endpoint.ask("eth_estimateGas", estimate).await
    }

    /// Sends a raw transaction: its hash. Repeated after a broken connection: the chain knows the
    /// same bytes again.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`].
    pub async fn send(&self, raw: &[u8]) -> Result<Refusable<B256>, ChainError> {
        let sent = async {
            let pending = self.provider.send_raw_transaction(raw).await?;
            Ok(*pending.tx_hash())
        };
        self.endpoint.ask("eth_sendRawTransaction", sent).await
    }

    /// Returns what a view function returns, or in words why it reverts or how its answer is
    /// malformed.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`].
    pub async fn read<C: SolCall>(
        &self,
        contract: Address,
        call: &C,
    ) -> Result<Result<C::Return, String>, ChainError> {
        let request = view_request(contract, call);
        let answer = match self.call(&request, &StateOverride::default()).await? {
            Ok(answer) => answer,
            Err(no) => return Ok(Err(no.message.into_owned())),
        };
        Ok(decode_returns::<C>(&answer).map_err(|_| format!("the answer {answer}")))
    }

    /// Subscribes to the headers of new blocks. Needs a WebSocket ([`Self::connect_ws`]).
    ///
    /// # Errors
    /// [`ChainError::Unreachable`].
    pub async fn subscribe_heads(&self) -> Result<Subscription<Header>, ChainError> {
        let heads = self.provider.subscribe_blocks();
        self.endpoint.subscription("eth_subscribe", heads).await
    }

    /// Subscribes to logs. Needs a WebSocket ([`Self::connect_ws`]). A log of a block that was
    /// reorganised away arrives again, as removed.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`].
    pub async fn subscribe_logs(&self, filter: &Filter) -> Result<Subscription<Log>, ChainError> {
        let logs = self.provider.subscribe_logs(filter);
        self.endpoint.subscription("eth_subscribe", logs).await
    }
}

/// The request that asks a contract a view.
pub fn view_request<C: SolCall>(contract: Address, call: &C) -> TransactionRequest {
    TransactionRequest::default()
        .with_to(contract)
        .with_input(call.abi_encode())
}

/// Returns what a call returned or reverted with.
///
/// # Errors
/// An error that is not a revert: it is the node's.
pub fn returned_or_reverted(
    answer: Refusable<Bytes>,
) -> Result<Result<Bytes, Bytes>, ErrorPayload> {
    match answer {
        Ok(returned) => Ok(Ok(returned)),
        Err(no) => match no.as_revert_data() {
            Some(data) => Ok(Err(data)),
            None if no.message.contains("revert") => Ok(Err(Bytes::new())), // without data
            None => Err(no),
        },
    }
}
