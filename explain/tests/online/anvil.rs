//! Anvil with Concord's registries.
use alloy::{
    eips::BlockId,
    network::{EthereumWallet, TransactionBuilder},
    node_bindings::AnvilInstance,
    primitives::{Address, B256, Bytes, hex, keccak256},
    providers::{DynProvider, Provider, ProviderBuilder, ext::AnvilApi},
    rpc::types::{TransactionReceipt, TransactionRequest},
    signers::local::PrivateKeySigner,
};
use concord_canonical::sign::PreparedKey;
use concord_chain::{ChainId, EndpointOptions, evm::Node};
use concord_explain::{
    Family, KnownRegistry, Trust,
    online::{At, EvmReader},
};
use concord_registry::evm::{
    U256,
    calls::{self, GiveOpenFeedback},
};
use concord_testkit::anvil;
use serde_json::{Value, json};
use std::{env, fs, path::Path, time::Duration};

pub const CHAIN: &str = "eip155:31337";
/// Between two looks for a transaction: this node mines it at once.
const POLL: Duration = Duration::from_millis(10);
pub const OWNER: usize = 0;
pub const CLIENT: usize = 1;

pub struct World {
    anvil: AnvilInstance,
    pub provider: DynProvider,
    pub accounts: Vec<Address>,
    pub identity: Address,
    pub open: Address,
    family: Family,
}

pub fn creation(file: &str, name: &str, arguments: &[u8]) -> Bytes {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join(format!("../contracts/out/{file}.sol/{name}.json"));
    let text = fs::read_to_string(&file).unwrap_or_else(|it| panic!("{}: {it}", file.display()));
    let artifact: Value = serde_json::from_str(&text).expect("an artifact");
    let code = artifact["bytecode"]["object"].as_str().expect("bytecode");
    [hex::decode(code).expect("hex"), arguments.to_vec()]
        .concat()
        .into()
}

impl World {
    /// With Concord's registries, and agent 1.
    pub async fn start() -> Self {
        let mut world = Self::empty(Family::Concord).await;
        let [identity, open] = ["IdentityRegistry", "ReputationRegistry"];
        world.identity = world.deploy(creation(identity, identity, &[])).await;
        let bound = calls::bound_registry_arguments(world.identity);
        world.open = world.deploy(creation(open, open, &bound)).await;
        world.register(&world.registration()).await;
        world
    }

    /// With registries that keep what the canonical ones keep, where they keep it, and agents 0 and 1.
    pub async fn canonical() -> Self {
        const FILE: &str = "CanonicalStorage";
        let mut world = Self::empty(Family::Canonical).await;
        let identity = creation(FILE, "CanonicalIdentityStorage", &[]);
        world.identity = world.deploy(identity).await;
        let bound = calls::bound_registry_arguments(world.identity);
        let open = creation(FILE, "CanonicalReputationStorage", &bound);
        world.open = world.deploy(open).await;
        world.register("").await;
        world.register(&world.registration()).await;
        world
    }

    async fn empty(family: Family) -> Self {
        let anvil = anvil::start(&["--hardfork", "prague"]);
        let keys = anvil.keys().iter().cloned().map(PrivateKeySigner::from);
        let mut wallet = EthereumWallet::default();
        keys.for_each(|key| wallet.register_signer(key));
        let provider = ProviderBuilder::new()
            .wallet(wallet)
            .connect_http(anvil.endpoint_url())
            .erased();
        provider.client().set_poll_interval(POLL);
        Self {
            accounts: anvil.addresses().to_vec(),
            anvil,
            provider,
            identity: Address::ZERO,
            open: Address::ZERO,
            family,
        }
    }

    async fn register(&self, uri: &str) {
        let input = calls::register(uri, &[]);
        self.send(OWNER, self.identity, input).await;
    }

    pub fn url(&self) -> String {
        self.anvil.endpoint()
    }

    /// The key of one of anvil's accounts.
    pub fn key(&self, account: usize) -> PreparedKey {
        PreparedKey::secp256k1(&self.anvil.keys()[account].to_bytes().into()).expect("a key")
    }

    pub fn registry(&self) -> String {
        format!("{CHAIN}:{}", self.identity)
    }

    /// Longer than a slot, so that it is in several.
    fn registration(&self) -> String {
        let file = json!({ "registrations": [{ "agentId": 1, "agentRegistry": self.registry() }] });
        format!("data:,{file}")
    }

    pub async fn deploy(&self, code: Bytes) -> Address {
        let request = TransactionRequest::default().with_deploy_code(code);
        self.land(OWNER, request)
            .await
            .contract_address
            .expect("a contract")
    }

    pub async fn send(&self, from: usize, to: Address, input: impl Into<Bytes>) -> B256 {
        let request = TransactionRequest::default()
            .with_to(to)
            .with_input(input.into());
        self.land(from, request).await.transaction_hash
    }

    async fn land(&self, from: usize, request: TransactionRequest) -> TransactionReceipt {
        let request = request.with_from(self.accounts[from]);
        let sent = self
            .provider
            .send_transaction(request)
            .await
            .expect("it is sent");
        let receipt = sent.get_receipt().await.expect("a receipt");
        assert!(receipt.status());
        receipt
    }

    /// Transactions of one block, in this order.
    pub async fn in_one_block(&self, all: Vec<(usize, Address, Bytes)>) -> Vec<B256> {
        self.provider
            .anvil_set_auto_mine(false)
            .await
            .expect("anvil");
        let mut sent = Vec::new();
        for (from, to, input) in all {
            let request = TransactionRequest::default().with_to(to).with_input(input);
            let request = request
                .with_from(self.accounts[from])
                .with_gas_limit(1_000_000);
            let pending = self
                .provider
                .send_transaction(request)
                .await
                .expect("it is sent");
            sent.push(*pending.tx_hash());
        }
        self.mine(1).await;
        self.provider
            .anvil_set_auto_mine(true)
            .await
            .expect("anvil");
        sent
    }

    pub async fn mine(&self, blocks: u64) {
        self.provider
            .anvil_mine(Some(blocks), None)
            .await
            .expect("anvil");
    }

    /// A file about the client's feedback, and the URI that holds it.
    pub fn file(&self, value: i128) -> (String, B256) {
        let text = json!({
            "agentId": 1,
            "agentRegistry": self.registry(),
            "clientAddress": format!("{CHAIN}:{}", self.accounts[CLIENT]),
            "createdAt": "2026-01-02T03:04:05Z",
            "endpoint": "https://agent.example/quote",
            "tag1": "starred",
            "tag2": "quote",
            "value": value,
            "valueDecimals": 0,
        });
        let text = text.to_string();
        (format!("data:,{text}"), keccak256(text))
    }

    pub fn give(&self, value: i128, uri: &str, hash: B256) -> Bytes {
        calls::give_open_feedback(&GiveOpenFeedback {
            agent_id: U256::from(1),
            value,
            decimals: 0,
            tag1: "starred",
            tag2: "quote",
            endpoint: "https://agent.example/quote",
            uri,
            hash: hash.0,
        })
    }

    pub async fn revoke(&self, index: u64) {
        let input = calls::revoke_feedback(U256::from(1), index);
        self.send(CLIENT, self.open, input).await;
    }

    /// Of the newest block, in unix seconds.
    pub async fn time(&self) -> u64 {
        let newest = self.provider.get_block(BlockId::latest()).await;
        newest.expect("anvil").expect("a block").header.timestamp
    }

    pub async fn code(&self, of: Address) -> Bytes {
        self.provider.get_code_at(of).await.expect("code")
    }

    /// R28: Concord's by an address book, the canonical ones by their addresses.
    pub async fn trust(&self) -> Trust {
        let mut trust = Trust::default();
        if self.family == Family::Concord {
            let added = trust.add_address_book(&self.book().await);
            added.expect("an address book");
            return trust;
        }
        for (contract, address) in [
            ("IdentityRegistry", self.identity),
            ("ReputationRegistry", self.open),
        ] {
            trust.add(KnownRegistry {
                chain: CHAIN.to_owned(),
                contract,
                address: address.to_string(),
                family: self.family,
                code_hash: None,
            });
        }
        trust
    }

    /// An address book with the hashes of the code that the node has.
    pub async fn book(&self) -> String {
        let mut contracts = json!({});
        for (name, address) in [
            ("IdentityRegistry", self.identity),
            ("ReputationRegistry", self.open),
        ] {
            let code = self.provider.get_code_at(address).await.expect("code");
            contracts[name] =
                json!({ "address": address.to_string(), "codeHash": keccak256(code).to_string() });
        }
        json!({ "chains": { CHAIN: { "contracts": contracts } } }).to_string()
    }

    pub async fn reader(&self, at: Option<At>) -> EvmReader {
        let node = Node::new(&EndpointOptions::new(self.anvil.endpoint())).expect("a node");
        let chain = ChainId::parse(CHAIN).expect("a chain");
        EvmReader::new(node, &chain, at).await.expect("it answers")
    }
}
