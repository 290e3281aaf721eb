//! Registries on an anvil, and what is done there.
use alloy::{
    primitives::{Address, Bytes, U256},
    rpc::types::Filter,
};
use concord_chain::{Blocking, ChainId, Endpoint, EndpointOptions, evm::Node};
use concord_harness::backend::evm::EvmAnvil;
use concord_index::{
    Contracts, Deployment, Indexer, Options,
    query::Reviewers,
    source::evm::{EvmSource, Range},
    store::{Sqlite, Store},
};
use concord_registry::{
    event::{AccountId, AgentId},
    evm::{
        RegistryAddresses,
        abi::ReputationRegistry as Open,
        calls::{self, AppendResponse, GiveOpenFeedback},
    },
};
use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
    thread,
};

pub const AGENTS: u64 = 3;

pub struct Chain {
    backend: EvmAnvil,
    pub blocking: Blocking,
    pub node: Node,
    accounts: Vec<Address>,
    turns: u64,
}

pub type AnvilIndexer = Indexer<EvmSource, Sqlite>;

fn artifacts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../contracts/out")
}

impl Chain {
    pub fn start() -> Self {
        let backend = EvmAnvil::start(None, &artifacts()).unwrap();
        let node = Node::new(&EndpointOptions::new(backend.ledger().url())).unwrap();
        let blocking = Blocking::new().unwrap();
        let accounts = node.endpoint().request("eth_accounts", json!([]));
        let chain = Self {
            accounts: blocking.wait(accounts).unwrap().unwrap(),
            backend,
            blocking,
            node,
            turns: 0,
        };
        for number in 1..=AGENTS {
            let call = calls::register(&format!("ipfs://agent-{number}"), &[("key", b"value")]);
            chain.send(0, chain.registries().identity, call);
        }
        chain
    }

    pub fn registries(&self) -> RegistryAddresses {
        *self.backend.addresses()
    }

    pub fn url(&self) -> &str {
        self.backend.ledger().url()
    }

    pub fn ask(&self, method: &'static str, params: Value) -> Value {
        let answer = self.node.endpoint().request(method, params);
        self.blocking.wait(answer).unwrap().unwrap()
    }

    /// Deploys a contract that `scripts/build` compiled. Its address is in the receipt.
    pub fn create(&self, file: &str, name: &str, arguments: &Bytes) -> Address {
        let path = artifacts().join(format!("{file}.sol/{name}.json"));
        let text = fs::read_to_string(&path).unwrap();
        let artifact: Value = serde_json::from_str(&text).unwrap();
        let code = artifact["bytecode"]["object"].as_str().unwrap();
        let input = format!("{code}{}", hex::encode(arguments));
        let from = self.accounts[0];
        let call = json!([{ "from": from, "input": input, "gas": "0x7a1200" }]);
        let receipt = self.mined(&self.ask("eth_sendTransaction", call));
        assert_eq!(receipt["status"], "0x1", "{name}");
        receipt["contractAddress"]
            .as_str()
            .unwrap()
            .parse()
            .unwrap()
    }

    /// It is mined a moment after it was sent.
    fn mined(&self, hash: &Value) -> Value {
        loop {
            let receipt = self.ask("eth_getTransactionReceipt", json!([hash]));
            if !receipt.is_null() {
                return receipt;
            }
            thread::yield_now();
        }
    }

    /// In a block of its own, successful or not.
    pub fn send(&self, account: usize, to: Address, input: Bytes) {
        let from = self.accounts[account];
        let call = json!([{ "from": from, "to": to, "input": input, "gas": "0x7a1200" }]);
        let hash = self.ask("eth_sendTransaction", call);
        self.mined(&hash);
    }

    /// So many blocks with one transaction each: feedback, revocations, responses. Some are
    /// refused, after a reorganisation took away what they are about.
    pub fn act(&mut self, blocks: u64) {
        let open = self.registries().open_reputation.unwrap();
        for _ in 0..blocks {
            self.turns += 1;
            let turn = self.turns;
            let account = 1 + usize::try_from(turn % 5).unwrap();
            let agent_id = U256::from(turn % AGENTS + 1);
            let index = turn / 15 + 1;
            match turn % 4 {
                0 => self.send(account, open, calls::revoke_feedback(agent_id, index)),
                1 if turn.is_multiple_of(3) => {
                    let response = AppendResponse {
                        agent_id,
                        client: self.accounts[account],
                        index,
                        uri: "ipfs://response",
                        hash: [1; 32],
                    };
                    self.send(0, open, calls::append_response(&response));
                }
                _ => {
                    let feedback = GiveOpenFeedback {
                        agent_id,
                        value: i128::from(turn) * 7 - 100,
                        decimals: u8::try_from(turn % 19).unwrap(),
                        tag1: ["starred", "uptime"][usize::from(turn.is_multiple_of(2))],
                        tag2: "",
                        endpoint: "https://agent.example",
                        uri: "",
                        hash: [2; 32],
                    };
                    self.send(account, open, calls::give_open_feedback(&feedback));
                }
            }
        }
    }

    /// The last `depth` blocks are replaced with as many empty ones.
    pub fn reorganise(&self, depth: u64) {
        self.ask("anvil_reorg", json!([depth, []]));
    }

    pub fn deployment(&self) -> Deployment {
        Deployment {
            chain: ChainId::parse("eip155:31337").unwrap(),
            contracts: Contracts::Evm(self.registries()),
            start: 0,
        }
    }

    /// A new index that reads through this endpoint.
    pub fn indexer(&self, endpoint: Endpoint, range: Range, options: Options) -> AnvilIndexer {
        let deployment = self.deployment();
        let source = EvmSource::new(
            Node::at(endpoint),
            deployment.chain.clone(),
            self.registries(),
        );
        let store = Store::open(Sqlite::in_memory().unwrap()).unwrap();
        Indexer::new(source.with_range(range), store, &deployment, options).unwrap()
    }

    pub fn sound(&self, options: Options) -> AnvilIndexer {
        let endpoint = self.node.endpoint().clone();
        self.indexer(endpoint, Range::new(7, 100), options)
    }

    pub fn catch_up(&self, indexer: &mut AnvilIndexer) {
        self.blocking.wait(indexer.catch_up(|_| ())).unwrap();
    }

    /// The digest of an index that sees nothing but the chain as it is.
    pub fn expected(&self) -> [u8; 32] {
        let mut fresh = self.sound(Options::default());
        self.catch_up(&mut fresh);
        digest(&mut fresh)
    }

    /// R47: the index's summaries are what the contract answers.
    pub fn compare_summaries(&self, indexer: &mut AnvilIndexer) {
        let deployment = indexer.deployment();
        let open = self.registries().open_reputation.unwrap();
        for agent in 1..=AGENTS {
            for tag in ["", "starred", "uptime"] {
                let call = Open::getSummaryCall {
                    agentId: U256::from(agent),
                    clientAddresses: self.accounts.clone(),
                    tag1: tag.to_owned(),
                    tag2: String::new(),
                };
                let answer = self.blocking.wait(self.node.read(open, &call)).unwrap();
                let answer = answer.unwrap();
                let listed = self.accounts.iter().map(|it| AccountId::from(*it));
                let reviewers = Reviewers::Listed(listed.collect()).accounts().unwrap();
                let id = AgentId::from(U256::from(agent));
                let mut store = indexer.store();
                let ours = store.open_summary(deployment, id, reviewers.as_deref(), (tag, ""));
                let ours = ours.unwrap().summary;
                let chain = (
                    answer.count,
                    answer.summaryValue,
                    answer.summaryValueDecimals,
                );
                assert_eq!(
                    (ours.count, ours.value, ours.decimals),
                    chain,
                    "{agent} {tag}"
                );
            }
        }
    }

    /// Logs that the registries have on the chain.
    pub fn log_count(&self) -> usize {
        let registries = self.registries();
        let addresses = vec![registries.identity, registries.open_reputation.unwrap()];
        let filter = Filter::new().address(addresses).from_block(0);
        self.blocking.wait(self.node.logs(&filter)).unwrap().len()
    }
}

pub fn digest(indexer: &mut AnvilIndexer) -> [u8; 32] {
    let deployment = indexer.deployment();
    let digest = indexer.store().digest(deployment).unwrap();
    assert_eq!(indexer.store().rebuild_digest(deployment).unwrap(), digest); // R45
    digest
}
