//! A chain behind a JSON-RPC endpoint, asked one thing at a time.
use super::ledger::{Answer, BALANCE, GAS_LIMIT, Ledger, Receipt, View, out_of_gas};
use crate::backend::StepFault;
use alloy::{
    consensus::TxEnvelope,
    eips::{BlockNumberOrTag, Encodable2718},
    network::{EthereumWallet, NetworkTransactionBuilder, TransactionBuilder},
    primitives::{Address, B256, Bytes, U256},
    providers::{Provider, ext::AnvilApi},
    rpc::{
        client::BatchRequest,
        types::{TransactionReceipt, TransactionRequest},
    },
    signers::local::PrivateKeySigner,
    transports::{RpcError, TransportResult, http::reqwest::Url},
};
use concord_chain::{Blocking, ChainError, EndpointOptions, Redaction, Retries, evm};
use serde_json::{Value, json};
use std::{collections::HashMap, future::IntoFuture, thread, time::Duration};

const MAX_FEE_PER_GAS: u128 = 1_000_000_000_000;
/// How much of a node's words an error repeats.
const REPEATED_WORDS: usize = 200;
/// EIP-1474's code for a block that a node does not have.
const RESOURCE_NOT_FOUND: i64 = -32_001;
const VIEW_RETRIES: usize = 10;
const VIEW_PAUSE: Duration = Duration::from_millis(50);

/// Where a node listens, and for how long its answers are waited for.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// An `http://` URL.
    pub url: String,
    pub answer_limit: Duration,
}

/// A development node: it funds accounts, sets the clock and goes back to a snapshot when asked.
pub struct Node {
    blocking: Blocking,
    node: evm::Node,
    chain_id: u64,
    /// Of the senders since the last restore.
    nonces: HashMap<Address, u64>,
    snapshot: Option<U256>,
}

impl Endpoint {
    /// Waits half a minute for an answer.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            answer_limit: Duration::from_secs(30),
        }
    }

    /// Host and port, for messages: a path may hold a key. `None` if the URL is none.
    pub fn host(&self) -> Option<String> {
        let url = self.parsed()?;
        Some(Redaction::of(&self.url, &url).host().to_owned())
    }

    pub(super) fn is_url(&self) -> bool {
        self.parsed().is_some()
    }

    fn parsed(&self) -> Option<Url> {
        let url: Url = self.url.parse().ok()?;
        (url.scheme() == "http" && url.has_host()).then_some(url)
    }
}

impl Node {
    pub(super) fn connect(endpoint: &Endpoint) -> Answer<Self> {
        if !endpoint.is_url() {
            let reason = "the endpoint is not an http:// URL".to_owned();
            return Err(StepFault::Unreachable(reason));
        }
        let options = EndpointOptions::new(&endpoint.url)
            .with_timeout(endpoint.answer_limit)
            .with_retries(Retries::NONE); // what fails here is to be seen
        let mut node = Self {
            blocking: Blocking::new().map_err(unreachable)?,
            node: evm::Node::new(&options).map_err(unreachable)?,
            chain_id: 0,
            nonces: HashMap::new(),
            snapshot: None,
        };
        node.chain_id = node.ask("eth_chainId", node.node.provider().get_chain_id())?;
        Ok(node)
    }

    /// Empty if there is none.
    pub(super) fn code(&self, address: Address) -> Answer<Bytes> {
        let code = self.node.provider().get_code_at(address);
        self.ask("eth_getCode", code)
    }

    /// A word of a contract's storage.
    pub(super) fn word(&self, address: Address, slot: B256) -> Answer<B256> {
        let word = (self.node.provider()).get_storage_at(address, slot.into());
        Ok(self.ask("eth_getStorageAt", word)?.into())
    }

    fn ask<T>(
        &self,
        method: &str,
        request: impl IntoFuture<Output = TransportResult<T>>,
    ) -> Answer<T> {
        let answer = self.node.endpoint().ask(method, request);
        let answer = self.blocking.wait(answer).map_err(unreachable)?;
        answer.map_err(|no| shortened(&format!("error code {}: {}", no.code, no.message)))
    }

    fn nonce(&self, sender: Address) -> Answer<u64> {
        match self.nonces.get(&sender) {
            Some(nonce) => Ok(*nonce),
            None => self.ask(
                "eth_getTransactionCount",
                self.node.provider().get_transaction_count(sender),
            ),
        }
    }

    fn signed(
        &self,
        from: &PrivateKeySigner,
        to: Option<Address>,
        input: Bytes,
        nonce: u64,
    ) -> Answer<Vec<u8>> {
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
        let signed: TxEnvelope = (self.blocking)
            .wait(request.build(&wallet))
            .map_err(|fault| StepFault::Inexpressible(fault.to_string()))?;
        Ok(signed.encoded_2718())
    }

    /// What a mined transaction reverted with.
    fn revert_data(&self, transaction: B256) -> Answer<Bytes> {
        const METHOD: &str = "debug_traceTransaction";
        let params = (transaction, json!({"tracer": "callTracer"}));
        let trace = self.node.provider().raw_request(METHOD.into(), params);
        let trace: Value = self.ask(METHOD, trace)?;
        match &trace["output"] {
            Value::Null => Ok(Bytes::new()),
            Value::String(output) => output
                .parse()
                .map_err(|_| StepFault::Unreachable("a trace's output is not hex".to_owned())),
            _ => Err(StepFault::Unreachable(
                "a trace's output is not text".to_owned(),
            )),
        }
    }

    fn receipt(&self, mined: &TransactionReceipt) -> Answer<Receipt> {
        let refusal = if mined.status() {
            None
        } else if mined.gas_used >= GAS_LIMIT {
            return Err(out_of_gas());
        } else {
            Some(self.revert_data(mined.transaction_hash)?)
        };
        Ok(Receipt {
            refusal,
            logs: mined.logs().iter().map(|log| log.inner.clone()).collect(),
            gas: mined.gas_used,
            transaction: None,
            created: mined.contract_address,
        })
    }

    fn views_once(&self, views: &[View]) -> Answer<Vec<TransportResult<Bytes>>> {
        let mut batch = BatchRequest::new(self.node.endpoint().client());
        let mut waiters = Vec::with_capacity(views.len());
        for view in views {
            let call = json!({ "from": view.from, "to": view.contract, "input": view.input });
            let waiter = batch
                .add_call::<_, Bytes>("eth_call", &(call, "latest"))
                .map_err(|fault| StepFault::Inexpressible(fault.to_string()))?;
            waiters.push(waiter);
        }
        self.ask("eth_call", batch.send())?;
        let waiters = waiters.into_iter();
        Ok(waiters.map(|waiter| self.blocking.wait(waiter)).collect())
    }

    fn view_answer(&self, answer: TransportResult<Bytes>) -> Answer<Result<Bytes, Bytes>> {
        match answer {
            Ok(returned) => Ok(Ok(returned)),
            Err(RpcError::ErrorResp(payload)) if payload.as_revert_data().is_some() => {
                Ok(Err(payload.as_revert_data().unwrap_or_default()))
            }
            Err(fault) => self.ask("eth_call", async { Err(fault) }),
        }
    }
}

/// In the client's words, which have no more of the URL than its host.
fn unreachable(error: ChainError) -> StepFault {
    match error {
        ChainError::Unreachable { reason, .. } => shortened(&reason),
        other => shortened(&other.to_string()),
    }
}

fn shortened(words: &str) -> StepFault {
    let mut shown: String = words.chars().take(REPEATED_WORDS).collect();
    if shown.len() < words.len() {
        shown.push('…');
    }
    StepFault::Unreachable(shown.replace(['\n', '\r'], " "))
}

/// No node takes a transaction whose data alone cost more (EIP-7623), and anvil does not say so.
fn check_gas_floor(input: &[u8]) -> Answer<()> {
    let tokens = input.iter().map(|byte| if *byte == 0 { 1 } else { 4 });
    let floor = 21_000 + 10 * tokens.sum::<u64>();
    if floor <= GAS_LIMIT {
        return Ok(());
    }
    Err(StepFault::Inexpressible(format!(
        "gas floor ({floor}) exceeds the gas limit ({GAS_LIMIT})"
    )))
}

impl Ledger for Node {
    fn chain_id(&self) -> u64 {
        self.chain_id
    }

    fn fund(&mut self, accounts: &[Address]) -> Answer<()> {
        let balance = U256::from(BALANCE);
        for account in accounts {
            let funded = self.node.provider().anvil_set_balance(*account, balance);
            self.ask("anvil_setBalance", funded)?;
        }
        Ok(())
    }

    fn set_code(&mut self, account: Address, code: Bytes) -> Answer<()> {
        let set = self.node.provider().anvil_set_code(account, code);
        self.ask("anvil_setCode", set)
    }

    fn set_next_block_time(&mut self, time: u64) -> Answer<()> {
        let set = self.node.provider().anvil_set_next_block_timestamp(time);
        self.ask("evm_setNextBlockTimestamp", set)
    }

    fn latest_block_time(&mut self) -> Answer<u64> {
        let latest = BlockNumberOrTag::Latest;
        let block = self.node.provider().get_block_by_number(latest);
        let block = self.ask("eth_getBlockByNumber", block)?;
        block
            .map(|block| block.header.timestamp)
            .ok_or_else(|| StepFault::Unreachable("there is no latest block".to_owned()))
    }

    fn send(
        &mut self,
        from: &PrivateKeySigner,
        to: Option<Address>,
        input: Bytes,
    ) -> Answer<Receipt> {
        check_gas_floor(&input)?;
        let nonce = self.nonce(from.address())?;
        let signed = self.signed(from, to, input, nonce)?;
        let mined = self.node.provider().send_raw_transaction_sync(&signed);
        let mined = self.ask("eth_sendRawTransactionSync", mined)?;
        self.nonces.insert(from.address(), nonce + 1);
        self.receipt(&mined)
    }

    /// In one request. Right after a transaction anvil may know the latest block's number and not
    /// yet the block: it is asked again.
    fn views(&mut self, views: &[View]) -> Answer<Vec<Result<Bytes, Bytes>>> {
        let mut answers = self.views_once(views)?;
        for _ in 0..VIEW_RETRIES {
            if !answers.iter().any(is_not_there_yet) {
                break;
            }
            thread::sleep(VIEW_PAUSE);
            answers = self.views_once(views)?;
        }
        let answers = answers.into_iter();
        answers.map(|answer| self.view_answer(answer)).collect()
    }

    fn mark(&mut self) -> Answer<()> {
        let snapshot = self.node.provider().anvil_snapshot();
        self.snapshot = Some(self.ask("evm_snapshot", snapshot)?);
        Ok(())
    }

    fn restore(&mut self) -> Answer<()> {
        let gone = || StepFault::Unreachable("the node's snapshot is gone".to_owned());
        let snapshot = self.snapshot.take().ok_or_else(gone)?;
        let reverted = self.node.provider().anvil_revert(snapshot);
        if !self.ask("evm_revert", reverted)? {
            return Err(gone());
        }
        self.nonces.clear();
        self.mark() // a snapshot can be reverted to once
    }
}

fn is_not_there_yet(answer: &TransportResult<Bytes>) -> bool {
    matches!(answer, Err(RpcError::ErrorResp(no)) if no.code == RESOURCE_NOT_FOUND)
}
