use crate::{
    Fault,
    endpoint::{Endpoint, Refusable, pauses},
    http,
};
use alloy::{
    consensus::BlockHeader,
    eips::{BlockId, BlockNumberOrTag},
    network::TransactionBuilder,
    primitives::{Address, B256, Bytes, U256},
    providers::{Provider, RootProvider},
    rpc::{
        client::BatchRequest,
        json_rpc::ErrorPayload,
        types::{TransactionReceipt, TransactionRequest, state::StateOverride},
    },
    sol_types::SolCall,
    transports::{RpcError, TransportResult},
};
use std::{future::IntoFuture, thread, time::Duration};

/// A chain behind a JSON-RPC endpoint.
pub struct Node {
    endpoint: Endpoint,
    provider: RootProvider,
}

impl Node {
    /// No request is made yet.
    ///
    /// # Errors
    /// [`Fault::RpcUrlMalformed`].
    pub fn new(url: &str, timeout: Duration) -> Result<Self, Fault> {
        let (endpoint, url) = Endpoint::new(url, timeout)?;
        Ok(Self {
            endpoint,
            provider: RootProvider::new(http::client(url)),
        })
    }

    fn ask<T, F>(&self, method: &str, request: impl Fn() -> F) -> Result<Refusable<T>, Fault>
    where
        F: IntoFuture<Output = TransportResult<T>>,
    {
        self.endpoint.ask(method, request)
    }

    /// As [`Self::ask`], for questions that have an answer on every chain.
    fn expect<T, F>(&self, method: &str, request: impl Fn() -> F) -> Result<T, Fault>
    where
        F: IntoFuture<Output = TransportResult<T>>,
    {
        self.ask(method, request)?
            .map_err(|no| self.endpoint.unreachable(method, no.message.into_owned()))
    }

    pub fn chain_id(&self) -> Result<u64, Fault> {
        self.expect("eth_chainId", || self.provider.get_chain_id())
    }

    /// Wei.
    pub fn balance(&self, address: Address) -> Result<U256, Fault> {
        self.expect("eth_getBalance", || self.provider.get_balance(address))
    }

    pub fn code(&self, address: Address) -> Result<Bytes, Fault> {
        self.expect("eth_getCode", || self.provider.get_code_at(address))
    }

    /// The next nonce, counting what is pending.
    pub fn next_nonce(&self, address: Address) -> Result<u64, Fault> {
        self.expect("eth_getTransactionCount", || {
            self.provider.get_transaction_count(address).pending()
        })
    }

    /// The next nonce, counting what is mined only.
    pub fn mined_nonce(&self, address: Address) -> Result<u64, Fault> {
        self.expect("eth_getTransactionCount", || {
            self.provider.get_transaction_count(address).latest()
        })
    }

    pub fn block_number(&self) -> Result<u64, Fault> {
        self.expect("eth_blockNumber", || self.provider.get_block_number())
    }

    /// Unix seconds of the latest block.
    pub fn latest_time(&self) -> Result<u64, Fault> {
        let latest = || self.provider.get_block_by_number(BlockNumberOrTag::Latest);
        let block = self.expect("eth_getBlockByNumber", latest)?;
        Ok(block.map_or(0, |block| block.header.timestamp()))
    }

    /// Unix seconds of a block, which the node may not have yet where it lags behind another.
    pub fn time_of_block(&self, number: u64) -> Result<u64, Fault> {
        const METHOD: &str = "eth_getBlockByNumber";
        for pause in pauses() {
            let block = || self.provider.get_block_by_number(number.into());
            if let Some(block) = self.expect(METHOD, block)? {
                return Ok(block.header.timestamp());
            }
            thread::sleep(pause);
        }
        Err(self
            .endpoint
            .unreachable(METHOD, format!("it does not have block {number}")))
    }

    /// Wei a unit of gas; zero on a chain without a base fee.
    pub fn base_fee(&self) -> Result<u128, Fault> {
        let latest = || self.provider.get_block_by_number(BlockNumberOrTag::Latest);
        let block = self.expect("eth_getBlockByNumber", latest)?;
        let fee = block.and_then(|block| block.header.base_fee_per_gas());
        Ok(fee.unwrap_or(0).into())
    }

    /// Wei a unit of gas that it takes to be among the next transactions.
    pub fn priority_fee(&self) -> Result<u128, Fault> {
        self.expect("eth_maxPriorityFeePerGas", || {
            self.provider.get_max_priority_fee_per_gas()
        })
    }

    pub fn receipt(&self, transaction: B256) -> Result<Option<TransactionReceipt>, Fault> {
        self.expect("eth_getTransactionReceipt", || {
            self.provider.get_transaction_receipt(transaction)
        })
    }

    /// Whether the node has it, mined or not.
    pub fn knows(&self, transaction: B256) -> Result<bool, Fault> {
        let found = self.expect("eth_getTransactionByHash", || {
            self.provider.get_transaction_by_hash(transaction)
        })?;
        Ok(found.is_some())
    }

    /// What it returns on the latest block: what is pending may be the very transaction that is asked
    /// about.
    pub fn call(
        &self,
        request: &TransactionRequest,
        overrides: &StateOverride,
    ) -> Result<Refusable<Bytes>, Fault> {
        self.ask("eth_call", || {
            let call = self.provider.call(request.clone());
            let call = call.block(BlockId::latest());
            call.overrides_opt((!overrides.is_empty()).then(|| overrides.clone()))
        })
    }

    /// What each call comes to on the state after `block`: what it returned, or reverted with. One
    /// request for all. A node that does not have the block yet is asked again.
    pub fn calls(
        &self,
        calls: &[TransactionRequest],
        block: u64,
    ) -> Result<Vec<Result<Bytes, Bytes>>, Fault> {
        const METHOD: &str = "eth_call";
        let mut reason = String::new();
        for pause in pauses() {
            let answers = self.expect(METHOD, || self.batch(calls, block))?;
            let answers: Result<Vec<_>, _> =
                answers.into_iter().map(returned_or_reverted).collect();
            match answers {
                Ok(answers) => return Ok(answers),
                Err(no) => reason = no.message.into_owned(),
            }
            thread::sleep(pause);
        }
        Err(self.endpoint.unreachable(METHOD, reason))
    }

    async fn batch(
        &self,
        calls: &[TransactionRequest],
        block: u64,
    ) -> TransportResult<Vec<Refusable<Bytes>>> {
        let block = BlockNumberOrTag::Number(block);
        let mut batch = BatchRequest::new(self.provider.client());
        let mut waiters = Vec::with_capacity(calls.len());
        for call in calls {
            waiters.push(batch.add_call::<_, Bytes>("eth_call", &(call, block))?);
        }
        batch.send().await?;
        let mut answers = Vec::with_capacity(calls.len());
        for waiter in waiters {
            answers.push(match waiter.await {
                Ok(returned) => Ok(returned),
                Err(RpcError::ErrorResp(no)) if !no.is_retry_err() => Err(no),
                Err(fault) => return Err(fault),
            });
        }
        Ok(answers)
    }

    /// Gas, on the state after `block`.
    pub fn estimate_after(
        &self,
        request: &TransactionRequest,
        block: u64,
    ) -> Result<Refusable<u64>, Fault> {
        self.ask("eth_estimateGas", || {
            let call = self.provider.estimate_gas(request.clone());
            call.block(BlockId::number(block))
        })
    }

    /// Gas, on the latest block too.
    pub fn estimate(
        &self,
        request: &TransactionRequest,
        overrides: &StateOverride,
    ) -> Result<Refusable<u64>, Fault> {
        self.ask("eth_estimateGas", || {
            let call = self.provider.estimate_gas(request.clone());
            let call = call.block(BlockId::latest());
            call.overrides_opt((!overrides.is_empty()).then(|| overrides.clone()))
        })
    }

    /// The chain's answer to a raw transaction. Asked again after a fault in between: the chain
    /// knows the same bytes again.
    pub fn send(&self, raw: &[u8]) -> Result<Refusable<B256>, Fault> {
        self.ask("eth_sendRawTransaction", || async {
            let pending = self.provider.send_raw_transaction(raw).await?;
            Ok(*pending.tx_hash())
        })
    }

    /// What a view function returns; a revert, or an answer of another form, is told in words.
    pub fn read<C: SolCall>(
        &self,
        contract: Address,
        call: &C,
    ) -> Result<Result<C::Return, String>, Fault> {
        let request = TransactionRequest::default()
            .with_to(contract)
            .with_input(call.abi_encode());
        let answer = match self.call(&request, &StateOverride::default())? {
            Ok(answer) => answer,
            Err(no) => return Ok(Err(no.message.into_owned())),
        };
        Ok(C::abi_decode_returns_validate(&answer).map_err(|_| format!("the answer {answer}")))
    }
}

/// What a call came to; an error that is no revert is the node's.
fn returned_or_reverted(answer: Refusable<Bytes>) -> Result<Result<Bytes, Bytes>, ErrorPayload> {
    match answer {
        Ok(returned) => Ok(Ok(returned)),
        Err(no) => match no.as_revert_data() {
            Some(data) => Ok(Err(data)),
            None if no.message.contains("revert") => Ok(Err(Bytes::new())), // without data
            None => Err(no),
        },
    }
}
