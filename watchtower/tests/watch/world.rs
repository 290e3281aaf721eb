//! Anvil with the registries, and a watchtower with an account of its own.
use alloy::{
    network::{EthereumWallet, TransactionBuilder},
    node_bindings::AnvilInstance,
    primitives::{Address, Bytes, U256, hex},
    providers::{DynProvider, Provider, ProviderBuilder},
    rpc::types::{TransactionReceipt, TransactionRequest},
    signers::local::PrivateKeySigner,
    sol_types::SolEvent,
};
use concord_chain::{
    Amount, EndpointOptions,
    evm::{Confirmations, FeeLimit, Node},
    fetch::{FetchOptions, Fetcher},
    submission::Timing,
};
use concord_files::encode_uri;
use concord_registry::evm::{
    RegistryAddresses,
    abi::{Feedback, IdentityRegistry, ReputationRegistry},
    calls,
};
use concord_testkit::anvil;
use concord_watchtower::{
    Agent, Budget, OwnAccounts, Prober, Publisher, Settings, Store, StoreError, Tag, Watch,
    WindowKind,
};
use concord_x402::{
    feedback::{EvmRegistry, FeedbackRegistry, FileFolder},
    quote::FetchedFiles,
    verify::{ChainInsiders, Chains, EvmChains},
};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::Duration,
};

pub const CHAIN_ID: u64 = 84532;
/// Accounts of anvil.
const OWNER: usize = 0;
const WATCHTOWER: usize = 1;

pub const TIMING: Timing = Timing {
    poll: Duration::from_millis(10),
    replace_after: Duration::from_secs(60),
    give_up_after: Duration::from_secs(60),
};
/// By GNU date: `date -u -d 2026-11-23 +%s`, a Monday.
pub const MONDAY: u64 = 1_795_392_000;
pub const DAY: u64 = 86_400;
/// More than any test spends.
pub const GENEROUS: Budget = Budget {
    per_day: Amount(u128::MAX),
    per_run: Amount(u128::MAX),
};

pub fn network() -> String {
    format!("eip155:{CHAIN_ID}")
}

pub fn node(url: &str) -> Node {
    Node::new(&EndpointOptions::new(url)).unwrap()
}

pub fn root(path: &str) -> PathBuf {
    let manifest = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    manifest.join("..").join(path)
}

pub struct World {
    _anvil: AnvilInstance,
    provider: DynProvider,
    pub url: String,
    pub identity: Address,
    pub open: Address,
    pub owner: Address,
    pub watchtower: PrivateKeySigner,
}

impl World {
    pub async fn start() -> Self {
        let number = CHAIN_ID.to_string();
        let anvil = anvil::start(&["--chain-id", &number]);
        let key = |index: usize| PrivateKeySigner::from(anvil.keys()[index].clone());
        let mut wallet = EthereumWallet::from(key(OWNER));
        wallet.register_signer(key(WATCHTOWER));
        let url = anvil.endpoint();
        let provider = ProviderBuilder::new().wallet(wallet);
        let provider = provider.connect_http(url.parse().unwrap()).erased();
        provider.client().set_poll_interval(TIMING.poll);
        let mut world = Self {
            provider,
            url,
            identity: Address::ZERO,
            open: Address::ZERO,
            owner: key(OWNER).address(),
            watchtower: key(WATCHTOWER),
            _anvil: anvil,
        };
        world.identity = world.deploy("IdentityRegistry", &[]).await;
        let arguments = calls::bound_registry_arguments(world.identity);
        world.open = world.deploy("ReputationRegistry", &arguments).await;
        world
    }

    async fn deploy(&self, name: &str, arguments: &[u8]) -> Address {
        let artifact = fs::read(root(&format!("contracts/out/{name}.sol/{name}.json"))).unwrap();
        let artifact: Value = serde_json::from_slice(&artifact).unwrap();
        let code = hex::decode(artifact["bytecode"]["object"].as_str().unwrap()).unwrap();
        let code = [&code, arguments].concat();
        let request = TransactionRequest::default().with_deploy_code(code);
        let receipt = self.send(self.owner, request).await;
        receipt.contract_address.unwrap()
    }

    async fn send(&self, from: Address, request: TransactionRequest) -> TransactionReceipt {
        let pending = self
            .provider
            .send_transaction(request.with_from(from))
            .await;
        let receipt = pending.unwrap().get_receipt().await.unwrap();
        assert!(receipt.status());
        receipt
    }

    pub async fn call(&self, from: Address, input: Bytes) -> TransactionReceipt {
        let request = TransactionRequest::default().with_to(self.identity);
        self.send(from, request.with_input(input)).await
    }

    /// Registers an agent with a file.
    pub async fn register(&self, from: Address, file: &Value) -> Agent {
        let uri = encode_uri(file.to_string().as_bytes());
        let receipt = self.call(from, calls::register(&uri, &[])).await;
        let logs = receipt.logs().iter();
        let mut ids =
            logs.filter_map(|log| IdentityRegistry::Registered::decode_log(&log.inner).ok());
        self.agent(ids.next().unwrap().agentId)
    }

    pub fn agent(&self, id: U256) -> Agent {
        Agent::parse(&self.registry_account(), &id.to_string()).unwrap()
    }

    pub async fn set_file(&self, agent: &Agent, file: &Value) {
        let uri = encode_uri(file.to_string().as_bytes());
        self.set_uri(agent, &uri).await;
    }

    pub async fn set_uri(&self, agent: &Agent, uri: &str) {
        self.call(self.owner, calls::set_agent_uri(id_of(agent), uri))
            .await;
    }

    pub fn registry_account(&self) -> String {
        format!("{}:{}", network(), self.identity)
    }

    pub fn client(&self) -> String {
        format!("{}:{}", network(), self.watchtower.address())
    }

    /// Feedbacks of the watchtower about an agent.
    pub async fn feedbacks(&self, agent: &Agent) -> u64 {
        let call = Feedback::getLastIndexCall {
            agentId: id_of(agent),
            clientAddress: self.watchtower.address(),
        };
        node(&self.url)
            .read(self.open, &call)
            .await
            .unwrap()
            .unwrap()
    }

    /// Value, decimals and tags of a feedback, as the registry has them.
    pub async fn feedback(&self, agent: &Agent, index: u64) -> (i128, u8, String, String) {
        let call = ReputationRegistry::readFeedbackCall {
            agentId: id_of(agent),
            clientAddress: self.watchtower.address(),
            feedbackIndex: index,
        };
        let found = node(&self.url)
            .read(self.open, &call)
            .await
            .unwrap()
            .unwrap();
        (found.value, found.valueDecimals, found.tag1, found.tag2)
    }

    pub async fn balance(&self) -> u128 {
        let balance = node(&self.url).balance(self.watchtower.address()).await;
        balance.unwrap().to()
    }

    pub async fn chains(&self) -> Chains {
        let mut evm = EvmChains::default();
        evm.add(CHAIN_ID, node(&self.url)).await.unwrap();
        Chains {
            evm,
            ..Chains::default()
        }
    }

    pub fn own(&self) -> OwnAccounts {
        let mut insiders = ChainInsiders::default();
        insiders.add_evm(&network(), node(&self.url));
        OwnAccounts::new(vec![self.client()], Arc::new(insiders))
    }

    /// A watchtower over this chain.
    pub async fn watch(&self, folder: &Path, settings: Settings, agents: Vec<Agent>) -> Watch {
        let chains = Arc::new(self.chains().await);
        watch(store(folder), settings, agents, chains, self.own())
    }

    pub async fn publisher(&self, folder: &Path, store: &Store, budget: Budget) -> Publisher {
        self.publisher_below("20", folder, store, budget).await
    }

    /// A publisher that offers no more than so many gwei for a unit of gas.
    pub async fn publisher_below(
        &self,
        gwei: &str,
        folder: &Path,
        store: &Store,
        budget: Budget,
    ) -> Publisher {
        let (identity, open) = (self.identity, self.open);
        let registry = place(&self.url, identity, open, &self.watchtower, gwei).await;
        let registry: Box<dyn FeedbackRegistry> = Box::new(registry);
        let chains = Arc::new(self.chains().await);
        let files = Arc::new(files(folder));
        Publisher::new(registry, budget, self.own(), chains, files, store.clone())
    }

    pub fn accounts(&self) -> BTreeMap<String, String> {
        let registry = self.agent(U256::from(1)).registry_key();
        BTreeMap::from([(registry, self.client())])
    }
}

pub async fn place(
    url: &str,
    identity: Address,
    open: Address,
    key: &PrivateKeySigner,
    max_fee: &str,
) -> EvmRegistry {
    place_final_after(1, url, (identity, open), key, max_fee).await
}

/// As [`place`]; what landed is final in so many blocks, its own included.
pub async fn place_final_after(
    blocks: u64,
    url: &str,
    (identity, open): (Address, Address),
    key: &PrivateKeySigner,
    max_fee: &str,
) -> EvmRegistry {
    let addresses = RegistryAddresses::open(identity, open);
    let fees = (
        FeeLimit::parse(Some(max_fee)).unwrap(),
        Confirmations::Blocks(blocks),
    );
    let (signer, network) = (Box::new(key.clone()), network().parse().unwrap());
    let connected = EvmRegistry::connect(node(url), &network, addresses, signer, fees, TIMING);
    connected.await.unwrap()
}

pub fn watch(
    store: Store,
    settings: Settings,
    agents: Vec<Agent>,
    chains: Arc<Chains>,
    own: OwnAccounts,
) -> Watch {
    let fetched = Arc::new(FetchedFiles::new(fetcher(Duration::from_secs(20))));
    Watch {
        prober: Prober::new(fetcher(settings.timeout)),
        settings,
        agents,
        store,
        registries: chains,
        files: fetched.clone(),
        proofs: fetched,
        own,
    }
}

pub fn fetcher(timeout: Duration) -> Fetcher {
    let options = FetchOptions {
        allow_http: true,
        allow_private: true,
        timeout,
        ..FetchOptions::default()
    };
    Fetcher::new(options).unwrap()
}

pub fn files(folder: &Path) -> FileFolder {
    FileFolder::ipfs(&folder.join("files"))
}

/// The bytes of a file of the folder.
pub fn file_at(folder: &Path, uri: &str) -> Vec<u8> {
    let cid = uri.strip_prefix("ipfs://").unwrap();
    fs::read(folder.join("files").join(cid)).unwrap()
}

/// Opens the store. A process that another test is starting has a copy of this one's descriptors for a moment,
/// and the lock with them.
pub fn store(folder: &Path) -> Store {
    loop {
        match Store::open(&folder.join("watchtower.sqlite")) {
            Err(StoreError::Locked(_)) => thread::sleep(Duration::from_millis(10)),
            opened => return opened.unwrap(),
        }
    }
}

pub fn settings() -> Settings {
    Settings {
        interval: Duration::from_secs(6 * 3_600),
        timeout: Duration::from_secs(10),
        windows: WindowKind::ALL.to_vec(),
        tags: Tag::OF_ENDPOINT.to_vec(),
        samples_min: Some(1),
        endpoints_max: 4,
        controls: Vec::new(),
    }
}

/// A registration file with services.
pub fn file(services: &[(&str, &str)]) -> Value {
    let services = services
        .iter()
        .map(|(name, url)| json!({ "name": name, "endpoint": url }));
    json!({ "name": "agent", "services": services.collect::<Vec<_>>() })
}

pub fn id_of(agent: &Agent) -> U256 {
    agent.registration().agent_id.as_str().parse().unwrap()
}
