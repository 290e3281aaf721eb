//! Anvil with token and registries, and an aggregator in front of it.
use crate::{generous::location, payload::Draft};
use alloy::{
    network::{EthereumWallet, TransactionBuilder},
    primitives::{Address, U256},
    providers::{Provider, ProviderBuilder},
    rpc::types::{TransactionReceipt, TransactionRequest},
    signers::local::PrivateKeySigner,
    sol,
    sol_types::SolCall,
    transports::http::reqwest,
};
use concord_aggregator::{
    Aggregator, AllowedAgents, ChainInsiders, LanePlace, Limits, Service,
    admission::Admission,
    lane::{Lane, LaneRegistries},
    router,
    store::{Row, RowState, Store, StoreError},
};
use concord_canonical::sign::PreparedKey;
use concord_chain::{
    EndpointOptions,
    evm::{Confirmations, FeeLimit, Node},
    fetch::{FetchOptions, Fetcher},
    submission::Timing,
};
use concord_registry::evm::{RegistryAddresses, abi::Feedback, calls};
use concord_testkit::chain::{CHAIN_ID, Chain, bytecode, root};
use concord_x402::{
    feedback::{EvmRegistry, FeedbackRegistry, FileFolder, FileStore},
    quote::FetchedFiles,
    verify::{Chains, EvmChains},
};
use serde_json::{Value, json};
use std::{collections::BTreeSet, net::SocketAddr, path::Path, sync::Arc, thread, time::Duration};
use tokio::{net::TcpListener, sync::watch, task::JoinHandle};

sol! {
    function transfer(address to, uint256 amount) external returns (bool);
}

pub const TIMING: Timing = Timing {
    poll: Duration::from_millis(10),
    replace_after: Duration::from_secs(60),
    give_up_after: Duration::from_secs(60),
};
/// How long tests wait for what must happen.
const PATIENCE: Duration = Duration::from_secs(1_800);
pub const RECEIPT_SEED: [u8; 32] = [77; 32];

/// Before a test looks again.
pub async fn pause() {
    tokio::time::sleep(Duration::from_millis(20)).await;
}

pub fn network() -> String {
    format!("eip155:{CHAIN_ID}")
}

pub fn node(url: &str) -> Node {
    Node::new(&EndpointOptions::new(url)).unwrap()
}

/// The chain with the reputation registry.
pub struct World {
    pub chain: Chain,
    pub open: Address,
}

impl World {
    pub async fn start() -> Self {
        let chain = Chain::start().await;
        let artifact = root("contracts/out/ReputationRegistry.sol/ReputationRegistry.json");
        let arguments = calls::bound_registry_arguments(chain.registry);
        let code = bytecode(artifact) + &hex::encode(arguments);
        let open = chain.deploy(&code).await;
        Self { chain, open }
    }

    /// Pays the agent; the transaction's hash.
    pub async fn pay(&self, amount: u64) -> String {
        self.send_token(&self.chain.payer, self.chain.wallet, amount)
            .await
    }

    pub async fn send_token(&self, from: &PrivateKeySigner, to: Address, amount: u64) -> String {
        let amount = U256::from(amount);
        let request = TransactionRequest::default()
            .with_to(self.chain.token)
            .with_input(transferCall { to, amount }.abi_encode());
        let receipt = self.send(from, request).await;
        assert!(receipt.status());
        receipt.transaction_hash.to_string()
    }

    /// Sends a transaction from an account and returns its receipt.
    pub async fn send(
        &self,
        from: &PrivateKeySigner,
        request: TransactionRequest,
    ) -> TransactionReceipt {
        let sender = ProviderBuilder::new()
            .wallet(EthereumWallet::from(from.clone()))
            .connect_provider(self.chain.provider.root().clone());
        let pending = sender.send_transaction(request).await.unwrap();
        pending.get_receipt().await.unwrap()
    }

    /// A review of what was paid with a transaction.
    pub fn review(&self, transaction: &str) -> Draft {
        let key = PreparedKey::secp256k1(&self.chain.payer.to_bytes().0).unwrap();
        Draft {
            registry: self.chain.registry_account(),
            agent_id: self.chain.agent_id.to_string(),
            task_ref: format!("{}:{transaction}", network()),
            data_hash: [0x62; 32],
            agent_key: self.chain.signer.clone(),
            reviewer: format!("{}:{}", network(), self.chain.payer.address()),
            reviewer_key: key,
            value: 95,
            decimals: 0,
            tags: ["x402-resource-delivered", "proof-of-participation"].map(str::to_owned),
            comment: "Fresh as promised".to_owned(),
        }
    }

    /// The account that submits.
    pub fn client(&self) -> Address {
        self.chain.facilitator.address()
    }

    /// Feedbacks of the aggregator about the agent.
    pub async fn feedbacks(&self) -> u64 {
        let call = Feedback::getLastIndexCall {
            agentId: self.chain.agent_id,
            clientAddress: self.client(),
        };
        let node = node(&self.chain.url);
        node.read(self.open, &call).await.unwrap().unwrap()
    }

    /// What only a test asks of a node.
    pub async fn ask(&self, method: &'static str, parameters: Value) -> Value {
        let asked = self.chain.provider.raw_request(method.into(), parameters);
        asked.await.unwrap()
    }

    /// Mines so many blocks.
    pub async fn mine(&self, blocks: u64) {
        self.ask("anvil_mine", json!([format!("{blocks:#x}")]))
            .await;
    }

    /// Puts code that reverts, whatever it is asked, in place of the registry of feedback, and returns the registry's.
    pub async fn break_registry(&self) -> String {
        let code = self.chain.provider.get_code_at(self.open).await.unwrap();
        self.set_code("0x5f5ffd").await;
        code.to_string()
    }

    /// Sets the code of the registry of feedback.
    pub async fn set_code(&self, code: &str) {
        self.ask("anvil_setCode", json!([self.open, code])).await;
    }

    /// No block comes until blocks are mined again.
    pub async fn stop_mining(&self) {
        self.ask("evm_setAutomine", json!([false])).await;
    }

    /// Each transaction has a block of its own, and what waits is mined now.
    pub async fn mine_again(&self) {
        self.ask("evm_setAutomine", json!([true])).await;
        self.ask("evm_mine", json!([])).await;
    }

    pub fn place(&self) -> Place {
        Place {
            url: self.chain.url.clone(),
            identity: self.chain.registry,
            open: self.open,
            token: self.chain.token,
            key: self.chain.facilitator.clone(),
        }
    }
}

/// What an aggregator is configured with.
pub struct Place {
    pub url: String,
    pub identity: Address,
    pub open: Address,
    /// In which payments count.
    pub token: Address,
    pub key: PrivateKeySigner,
}

impl Place {
    pub async fn registry(&self) -> EvmRegistry {
        self.registry_final_after(1).await
    }

    pub async fn registry_final_after(&self, blocks: u64) -> EvmRegistry {
        self.registry_with(FeeLimit::default(), blocks).await
    }

    /// Those of a lane.
    pub async fn registries(&self) -> LaneRegistries {
        self.registries_final_after(1).await
    }

    pub async fn registries_final_after(&self, blocks: u64) -> LaneRegistries {
        self.registries_landing(self.registry_final_after(blocks).await, blocks)
            .await
    }

    /// Those of a lane, of which one is given that brings submissions on chain.
    pub async fn registries_landing(
        &self,
        landing: impl FeedbackRegistry + 'static,
        blocks: u64,
    ) -> LaneRegistries {
        LaneRegistries {
            landing: vec![Box::new(landing)],
            finality: Box::new(self.registry_final_after(blocks).await),
        }
    }

    pub async fn registry_with(&self, limit: FeeLimit, blocks: u64) -> EvmRegistry {
        self.registry_timed(limit, blocks, TIMING).await
    }

    pub async fn registry_timed(
        &self,
        limit: FeeLimit,
        blocks: u64,
        timing: Timing,
    ) -> EvmRegistry {
        let addresses = RegistryAddresses::open(self.identity, self.open);
        let fees = (limit, Confirmations::Blocks(blocks));
        let (signer, network) = (Box::new(self.key.clone()), network().parse().unwrap());
        let node = node(&self.url);
        let connected = EvmRegistry::connect(node, &network, addresses, signer, fees, timing);
        connected.await.unwrap()
    }

    pub async fn admission(&self, served: Vec<String>) -> Admission {
        let mut evm = EvmChains::default();
        evm.add(CHAIN_ID, node(&self.url)).await.unwrap();
        let chains = Arc::new(Chains {
            evm,
            ..Chains::default()
        });
        let mut insiders = ChainInsiders::default();
        insiders.add_evm(&network(), node(&self.url));
        Admission {
            registries: chains.clone(),
            files: Arc::new(FetchedFiles::new(
                Fetcher::new(FetchOptions::default()).unwrap(),
            )),
            payments: chains,
            insiders: Arc::new(insiders),
            payment_chains: BTreeSet::from([network()]),
            takes_unchecked: false,
            assets: vec![format!("{}:{}", network(), self.token)],
            served,
            agents: AllowedAgents::new(),
        }
    }

    /// The identity registry.
    pub fn served(&self) -> String {
        format!("{}:{}", network(), self.identity)
    }

    pub fn settlement(&self) -> String {
        format!("{}:{}", network(), self.open)
    }
}

/// Opens the store. A process that another test is starting has a copy of this one's descriptors for a moment,
/// and the lock with them.
pub fn store(folder: &Path) -> Store {
    let location = location(folder);
    loop {
        match Store::open_at(&location, PreparedKey::ed25519(&RECEIPT_SEED)) {
            Err(StoreError::Locked(_)) => thread::sleep(Duration::from_millis(10)),
            opened => return opened.unwrap(),
        }
    }
}

/// How an aggregator differs from the defaults.
pub struct Settings {
    pub limits: Limits,
    /// How long answers are waited for.
    pub wait: Option<Duration>,
}

/// Tests are not timed: answers take as long as they take.
impl Default for Settings {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            wait: Some(PATIENCE),
        }
    }
}

/// An aggregator that listens.
pub struct Running {
    pub origin: String,
    pub store: Store,
    stop: watch::Sender<bool>,
    tasks: Vec<JoinHandle<()>>,
    client: reqwest::Client,
}

pub struct Answer {
    pub status: u16,
    pub location: Option<String>,
    pub retry_after: Option<u64>,
    pub body: Value,
}

impl Running {
    pub async fn start(world: &World, folder: &Path) -> Self {
        Self::start_final_after(1, world, folder).await
    }

    pub async fn start_final_after(blocks: u64, world: &World, folder: &Path) -> Self {
        Self::start_with(Settings::default(), blocks, world, folder).await
    }

    pub async fn start_with(settings: Settings, blocks: u64, world: &World, folder: &Path) -> Self {
        let place = world.place();
        let registries = place.registries_final_after(blocks).await;
        Self::at(&place, settings, registries, folder).await
    }

    /// With what a place has, but for its registries.
    pub async fn at(
        place: &Place,
        settings: Settings,
        registries: LaneRegistries,
        folder: &Path,
    ) -> Self {
        let admission = place.admission(vec![place.served()]).await;
        let files: Arc<dyn FileStore> = Arc::new(FileFolder::ipfs(&folder.join("files")));
        let settlement = place.settlement();
        Self::configured(settings, folder, registries, &settlement, admission, files).await
    }

    /// On the world's registry, with another admission.
    pub async fn admitting(
        world: &World,
        folder: &Path,
        change: impl FnOnce(&mut Admission),
    ) -> Self {
        let place = world.place();
        let registries = place.registries().await;
        let mut admission = place.admission(vec![place.served()]).await;
        change(&mut admission);
        let files: Arc<dyn FileStore> = Arc::new(FileFolder::ipfs(&folder.join("files")));
        Self::with(folder, registries, &place.settlement(), admission, files).await
    }

    pub async fn with(
        folder: &Path,
        registries: LaneRegistries,
        settlement: &str,
        admission: Admission,
        files: Arc<dyn FileStore>,
    ) -> Self {
        let settings = Settings::default();
        Self::configured(settings, folder, registries, settlement, admission, files).await
    }

    pub async fn configured(
        settings: Settings,
        folder: &Path,
        registries: LaneRegistries,
        settlement: &str,
        admission: Admission,
        files: Arc<dyn FileStore>,
    ) -> Self {
        let store = store(folder);
        Self::on(
            store, settings, folder, registries, settlement, admission, files,
        )
        .await
    }

    pub async fn on(
        store: Store,
        settings: Settings,
        folder: &Path,
        registries: LaneRegistries,
        settlement: &str,
        admission: Admission,
        files: Arc<dyn FileStore>,
    ) -> Self {
        let (insiders, submitted) = (admission.insiders.clone(), store.clone());
        let lane = Lane::new(registries, settlement, insiders, files.clone(), submitted);
        let places: Vec<LanePlace> = vec![lane.place().clone()];
        let mut aggregator = Aggregator::new(store.clone(), admission, files, places);
        if let Some(wait) = settings.wait {
            aggregator = aggregator.with_wait(wait);
        }
        let service = Service {
            aggregator: Arc::new(aggregator.with_limits(settings.limits)),
            files: folder.join("files"),
            address_header: None,
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let (stop, stopped) = watch::channel(false);
        let routes = router(service).into_make_service_with_connect_info::<SocketAddr>();
        let tasks = vec![
            tokio::spawn(lane.run(stopped)),
            tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() }),
        ];
        Self {
            origin,
            store,
            stop,
            tasks,
            client: reqwest::Client::new(),
        }
    }

    pub async fn post(&self, body: impl Into<reqwest::Body>) -> Answer {
        self.post_to("/feedback", body).await
    }

    pub async fn post_to(&self, path: &str, body: impl Into<reqwest::Body>) -> Answer {
        let request = self.client.post(format!("{}{path}", self.origin));
        answer(request.body(body).send().await.unwrap()).await
    }

    pub async fn submit(&self, draft: &Draft) -> Answer {
        self.post(draft.json().to_string()).await
    }

    /// Submits beside the test; the answer's status.
    pub fn submit_beside(self: &Arc<Self>, draft: &Draft) -> JoinHandle<u16> {
        let (running, draft) = (self.clone(), draft.clone());
        tokio::spawn(async move { running.submit(&draft).await.status })
    }

    /// A submission, once it has a state.
    pub async fn reach(&self, n: u64, state: RowState) -> Row {
        loop {
            match self.store.get(n).unwrap() {
                Some(row) if row.state == state => return row,
                _ => pause().await,
            }
        }
    }

    /// A submission, once its feedback is final and was read back.
    pub async fn finish(&self, n: u64) -> Row {
        loop {
            let row = self.store.get(n).unwrap().unwrap();
            if row.index.is_some() {
                return row;
            }
            pause().await;
        }
    }

    /// Mines so many blocks at a time until every submission is done.
    pub async fn mine_to_the_end(&self, world: &World, blocks: u64) {
        while self.store.open_count().unwrap() > 0 {
            world.mine(blocks).await;
            pause().await;
        }
    }

    pub async fn get(&self, path: &str) -> Answer {
        let request = self.client.get(format!("{}{path}", self.origin));
        answer(request.send().await.unwrap()).await
    }

    pub async fn bytes(&self, path: &str) -> Vec<u8> {
        let request = self.client.get(format!("{}{path}", self.origin));
        let response = request.send().await.unwrap();
        assert_eq!(response.status().as_u16(), 200, "{path}");
        response.bytes().await.unwrap().to_vec()
    }

    /// An aggregator of the world on a database that others may share.
    pub async fn sharing(store: Store, settings: Settings, world: &World, folder: &Path) -> Self {
        let place = world.place();
        let registries = place.registries().await;
        let admission = place.admission(vec![place.served()]).await;
        let files: Arc<dyn FileStore> = Arc::new(FileFolder::ipfs(&folder.join("files")));
        let settlement = place.settlement();
        Self::on(
            store,
            settings,
            folder,
            registries,
            &settlement,
            admission,
            files,
        )
        .await
    }

    /// Ends the lane and the listener, and lets the store go.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        for task in self.tasks {
            task.abort();
            let _ = task.await;
        }
    }
}

async fn answer(response: reqwest::Response) -> Answer {
    let header = |name: &str| {
        let value = response.headers().get(name)?;
        Some(value.to_str().unwrap().to_owned())
    };
    Answer {
        status: response.status().as_u16(),
        location: header("location"),
        retry_after: header("retry-after").map(|it| it.parse().unwrap()),
        body: serde_json::from_slice(&response.bytes().await.unwrap()).unwrap_or(Value::Null),
    }
}
