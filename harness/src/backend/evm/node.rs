use crate::backend::StepFault;
use alloy::{
    consensus::TxEnvelope,
    eips::{BlockNumberOrTag, Encodable2718},
    network::{EthereumWallet, NetworkTransactionBuilder, TransactionBuilder},
    primitives::{Address, B256, Bytes, U256},
    providers::{Provider, RootProvider, ext::AnvilApi},
    rpc::types::{TransactionReceipt, TransactionRequest},
    signers::local::PrivateKeySigner,
    sol_types::SolCall,
    transports::{RpcError, TransportResult},
};
use serde_json::{Value, json};
use std::{
    future::{Future, IntoFuture},
    time::Duration,
};
use tokio::runtime::{Builder, Runtime};

/// Enough for a deployment, below every block gas limit. Fixed, so that no transaction is
/// estimated away before it can be refused on chain.
const GAS_LIMIT: u64 = 12_000_000;
const MAX_FEE_PER_GAS: u128 = 1_000_000_000_000;
const ANSWER_LIMIT: Duration = Duration::from_secs(30);

/// A chain behind a JSON-RPC endpoint, asked one thing at a time.
pub(super) struct Node {
    runtime: Runtime,
    provider: RootProvider,
    chain_id: u64,
}

type Answer<T> = Result<T, StepFault>;

impl Node {
    pub fn connect(endpoint: &str) -> Answer<Self> {
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|fault| StepFault::Unreachable(fault.to_string()))?;
        let url = endpoint
            .parse()
            .map_err(|_| StepFault::Unreachable(format!("{endpoint} is not a URL")))?;
        let mut node = Self {
            provider: RootProvider::new_http(url),
            runtime,
            chain_id: 0,
        };
        node.chain_id = node.ask(node.provider.get_chain_id())?;
        Ok(node)
    }

    pub fn chain_id(&self) -> u64 {
        self.chain_id
    }

    fn ask<T>(&self, request: impl IntoFuture<Output = TransportResult<T>>) -> Answer<T> {
        self.ask_for(request)?
            .map_err(|fault| StepFault::Unreachable(fault.to_string()))
    }

    fn ask_for<T>(&self, request: impl IntoFuture<Output = T>) -> Answer<T> {
        let request = request.into_future();
        self.block_on(async { tokio::time::timeout(ANSWER_LIMIT, request).await })
            .map_err(|_| StepFault::Unreachable(format!("no answer within {ANSWER_LIMIT:?}")))
    }

    fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    pub fn snapshot(&self) -> Answer<U256> {
        self.ask(self.provider.anvil_snapshot())
    }

    pub fn revert(&self, snapshot: U256) -> Answer<()> {
        if self.ask(self.provider.anvil_revert(snapshot))? {
            return Ok(());
        }
        Err(StepFault::Unreachable(format!(
            "snapshot {snapshot} is gone"
        )))
    }

    pub fn fund(&self, address: Address) -> Answer<()> {
        let balance = U256::from(10).pow(U256::from(21));
        self.ask(self.provider.anvil_set_balance(address, balance))
    }

    /// Unix seconds of the next block, exactly.
    pub fn set_next_block_time(&self, time: u64) -> Answer<()> {
        self.ask(self.provider.anvil_set_next_block_timestamp(time))
    }

    pub fn latest_block_time(&self) -> Answer<u64> {
        let block = self.ask(self.provider.get_block_by_number(BlockNumberOrTag::Latest))?;
        block
            .map(|block| block.header.timestamp)
            .ok_or_else(|| StepFault::Unreachable("there is no latest block".to_owned()))
    }

    /// Sends a transaction of `from` and waits until it is mined, refused or not.
    pub fn send(
        &self,
        from: &PrivateKeySigner,
        to: Option<Address>,
        input: Bytes,
    ) -> Answer<TransactionReceipt> {
        let nonce = self.ask(self.provider.get_transaction_count(from.address()))?;
        let mut request = TransactionRequest::default()
            .with_from(from.address())
            .with_chain_id(self.chain_id)
            .with_nonce(nonce)
            .with_gas_limit(GAS_LIMIT)
            .with_max_fee_per_gas(MAX_FEE_PER_GAS)
            .with_max_priority_fee_per_gas(0)
            .with_input(input);
        match to {
            Some(to) => request.set_to(to),
            None => request.set_create(),
        }
        let wallet = EthereumWallet::new(from.clone());
        let signed: TxEnvelope = self
            .block_on(request.build(&wallet))
            .map_err(|fault| StepFault::Inexpressible(fault.to_string()))?;
        self.ask(
            self.provider
                .send_raw_transaction_sync(&signed.encoded_2718()),
        )
    }

    /// What a mined transaction returned, or reverted with.
    pub fn returned(&self, transaction: B256) -> Answer<Bytes> {
        let trace: Value = self.ask(self.provider.raw_request(
            "debug_traceTransaction".into(),
            (transaction, json!({"tracer": "callTracer"})),
        ))?;
        match &trace["output"] {
            Value::Null => Ok(Bytes::new()),
            Value::String(output) => output
                .parse()
                .map_err(|_| StepFault::Unreachable(format!("trace output `{output}`"))),
            other => Err(StepFault::Unreachable(format!("trace output {other}"))),
        }
    }

    /// Reads a view function at the latest block.
    pub fn read<C: SolCall>(&self, contract: Address, call: &C) -> Answer<C::Return> {
        self.try_read(contract, call)?.map_err(|data| {
            StepFault::UnexplainedState(format!("{} reverted with {data}", C::SIGNATURE))
        })
    }

    /// As [`Self::read`]; a revert is answered with its data.
    pub fn try_read<C: SolCall>(
        &self,
        contract: Address,
        call: &C,
    ) -> Answer<Result<C::Return, Bytes>> {
        let request = TransactionRequest::default()
            .with_to(contract)
            .with_input(call.abi_encode());
        match self.ask_for(self.provider.call(request))? {
            Ok(answer) => C::abi_decode_returns_validate(&answer)
                .map(Ok)
                .map_err(|fault| StepFault::UnexplainedState(format!("{}: {fault}", C::SIGNATURE))),
            Err(RpcError::ErrorResp(payload)) => match payload.as_revert_data() {
                Some(data) => Ok(Err(data)),
                None => Err(StepFault::Unreachable(payload.to_string())),
            },
            Err(fault) => Err(StepFault::Unreachable(fault.to_string())),
        }
    }
}
