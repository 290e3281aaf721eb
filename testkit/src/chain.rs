//! Anvil with Circle's token and our identity registry.
use crate::anvil;
use alloy::{
    network::{EthereumWallet, TransactionBuilder},
    node_bindings::AnvilInstance,
    primitives::{Address, B256, Bytes, U256, hex},
    providers::{DynProvider, Provider, ProviderBuilder, ext::AnvilApi},
    rpc::types::TransactionRequest,
    signers::local::PrivateKeySigner,
    sol,
    sol_types::SolEvent,
};
use concord_canonical::{caip::AccountId, sign::PreparedKey};
use concord_chain::{
    EndpointOptions,
    evm::Node,
    fetch::{FetchOptions, Fetcher},
};
use concord_files::{AGENT_WALLET, AgentId, RegistrationId, encode_uri};
use concord_registry::evm::{RegistryAddresses, abi::IdentityRegistry, calls};
use concord_x402::{quote::FetchedFiles, verify::EvmChains};
use serde_json::{Value, json};
use std::{fs, path::PathBuf, process::Command, sync::Mutex, time::Duration};

pub const CHAIN_ID: u64 = 84532;
/// Between two looks for a transaction: this node mines it at once.
const POLL: Duration = Duration::from_millis(10);
/// Accounts of anvil.
const OWNER: usize = 0;
const FACILITATOR: usize = 1;
const PAYER: usize = 2;
const HEIR: usize = 3;

sol! {
    function initialize(string name, string symbol, string currency, uint8 decimals, address masterMinter, address pauser, address blacklister, address owner);
    function initializeV2(string newName);
    function initializeV2_1(address lostAndFound);
    function initializeV2_2(address[] accounts, string newSymbol);
    function configureMinter(address minter, uint256 allowed);
    function mint(address to, uint256 amount);
    function cancelAuthorization(address authorizer, bytes32 nonce, bytes signature);
    #[sol(rpc)]
    contract Token {
        function balanceOf(address account) external view returns (uint256);
    }
}

pub struct Chain {
    anvil: Mutex<Option<AnvilInstance>>,
    pub provider: DynProvider,
    pub url: String,
    pub token: Address,
    pub registry: Address,
    pub agent_id: U256,
    /// The agent's owner and wallet.
    pub wallet: Address,
    pub payer: PrivateKeySigner,
    pub facilitator: PrivateKeySigner,
    pub owner: PrivateKeySigner,
    pub signer: PreparedKey,
    pub reads: EvmChains,
    pub files: FetchedFiles,
}

pub fn hex_key(key: &PrivateKeySigner) -> String {
    format!("0x{}", hex::encode(key.to_bytes()))
}

pub fn root(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .join(path)
}

pub fn bytecode(file: PathBuf) -> String {
    let text =
        fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let artifact: Value = serde_json::from_str(&text).unwrap();
    let code = artifact["bytecode"]
        .as_str()
        .or(artifact["bytecode"]["object"].as_str());
    code.unwrap().to_owned()
}

/// Circle's compiled contracts, from the pinned npm package.
fn circle() -> PathBuf {
    let output = Command::new(root("tests/clients/x402/install"))
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap().trim().into()
}

impl Chain {
    pub async fn start() -> Self {
        let number = CHAIN_ID.to_string();
        let anvil = anvil::start(&["--chain-id", &number]);
        let key = |index: usize| PrivateKeySigner::from(anvil.keys()[index].clone());
        let mut wallet = EthereumWallet::from(key(OWNER));
        wallet.register_signer(key(HEIR));
        let url = anvil.endpoint();
        let provider = ProviderBuilder::new()
            .wallet(wallet)
            .connect_http(url.parse().unwrap())
            .erased();
        provider.client().set_poll_interval(POLL);
        let mut reads = EvmChains::default();
        let node = Node::new(&EndpointOptions::new(&url)).unwrap();
        reads.add(CHAIN_ID, node).await.unwrap();
        let mut chain = Self {
            provider,
            url,
            token: Address::ZERO,
            registry: Address::ZERO,
            agent_id: U256::ZERO,
            wallet: key(OWNER).address(),
            payer: key(PAYER),
            facilitator: key(FACILITATOR),
            owner: key(OWNER),
            signer: PreparedKey::secp256k1(&[9; 32]).unwrap(),
            reads,
            files: FetchedFiles::new(Fetcher::new(FetchOptions::default()).unwrap()),
            anvil: Mutex::new(Some(anvil)),
        };
        chain.deploy_token().await;
        chain.register().await;
        chain.place_what_the_facilitator_asks_for().await;
        chain
    }

    /// From then on no node answers.
    pub fn stop(&self) {
        self.anvil.lock().unwrap().take();
    }

    async fn send(&self, request: TransactionRequest) -> alloy::rpc::types::TransactionReceipt {
        let pending = self
            .provider
            .send_transaction(request.with_from(self.wallet))
            .await
            .unwrap();
        let receipt = pending.get_receipt().await.unwrap();
        assert!(receipt.status());
        receipt
    }

    pub async fn deploy(&self, code: &str) -> Address {
        let code: Bytes = hex::decode(code).unwrap().into();
        let receipt = self
            .send(TransactionRequest::default().with_deploy_code(code))
            .await;
        receipt.contract_address.unwrap()
    }

    pub async fn call(
        &self,
        to: Address,
        input: impl Into<Bytes>,
    ) -> alloy::rpc::types::TransactionReceipt {
        self.send(
            TransactionRequest::default()
                .with_to(to)
                .with_input(input.into()),
        )
        .await
    }

    async fn deploy_token(&mut self) {
        use alloy::sol_types::SolCall;
        let circle = circle();
        let library = self
            .deploy(&bytecode(
                circle.join("util/SignatureChecker.sol/SignatureChecker.json"),
            ))
            .await;
        let code = bytecode(circle.join("v2/FiatTokenV2_2.sol/FiatTokenV2_2.json"));
        let start = code.find("__$").unwrap();
        let placeholder = code[start..start + 40].to_owned();
        self.token = self
            .deploy(&code.replace(&placeholder, &hex::encode(library)))
            .await;
        let (owner, token) = (self.wallet, self.token);
        let text = |it: &str| it.to_owned();
        let initialize = initializeCall {
            name: text("USDC"),
            symbol: text("USDC"),
            currency: text("USD"),
            decimals: 6,
            masterMinter: owner,
            pauser: owner,
            blacklister: owner,
            owner,
        };
        self.call(token, initialize.abi_encode()).await;
        self.call(
            token,
            initializeV2Call {
                newName: text("USDC"),
            }
            .abi_encode(),
        )
        .await;
        self.call(
            token,
            initializeV2_1Call {
                lostAndFound: Address::repeat_byte(7),
            }
            .abi_encode(),
        )
        .await;
        let last = initializeV2_2Call {
            accounts: vec![],
            newSymbol: text("USDC"),
        };
        self.call(token, last.abi_encode()).await;
        let allowed = U256::from(1_000_000_000_u64);
        self.call(
            token,
            configureMinterCall {
                minter: owner,
                allowed,
            }
            .abi_encode(),
        )
        .await;
        let to = self.payer.address();
        self.call(
            token,
            mintCall {
                to,
                amount: U256::from(1_000_000_u64),
            }
            .abi_encode(),
        )
        .await;
    }

    /// From here on the token is one that has transfers and no authorizations: EIP-20 without EIP-3009.
    pub async fn replace_token(&mut self) {
        let artifact = circle().join("v1/FiatTokenV1.sol/FiatTokenV1.json");
        self.token = self.deploy(&bytecode(artifact)).await;
    }

    async fn register(&mut self) {
        let artifact = root("contracts/out/IdentityRegistry.sol/IdentityRegistry.json");
        self.registry = self.deploy(&bytecode(artifact)).await;
        self.agent_id = self.register_agent("").await;
        let uri = encode_uri(self.file().to_string().as_bytes());
        self.call(self.registry, calls::set_agent_uri(self.agent_id, &uri))
            .await;
    }

    /// Registers another agent, whose wallet is its owner.
    pub async fn register_agent(&self, uri: &str) -> U256 {
        let receipt = self.call(self.registry, calls::register(uri, &[])).await;
        let registered = |log: &alloy::rpc::types::Log| {
            IdentityRegistry::Registered::decode_log(&log.inner).ok()
        };
        receipt.logs().iter().find_map(registered).unwrap().agentId
    }

    /// Deploys both reputation registries.
    pub async fn deploy_reputation(&self) -> RegistryAddresses {
        let artifact =
            |name: &str| bytecode(root(&format!("contracts/out/{name}.sol/{name}.json")));
        let creation = |name, arguments: Vec<u8>| artifact(name) + &hex::encode(arguments);
        let open = calls::bound_registry_arguments(self.registry);
        let authorized = calls::authorized_reputation_arguments(self.registry, false);
        let open = self.deploy(&creation("ReputationRegistry", open)).await;
        let authorized = creation("AuthorizedReputationRegistry", authorized);
        RegistryAddresses {
            identity: self.registry,
            open_reputation: Some(open),
            authorized_reputation: Some(self.deploy(&authorized).await),
            validation: None,
        }
    }

    fn file(&self) -> Value {
        let concord_canonical::sign::PublicKey::Secp256k1(key) = self.signer.public_key() else {
            panic!("another key");
        };
        json!({
            "registrations": [{ "agentRegistry": self.registry_account(), "agentId": self.agent_id.to_string() }],
            "services": [{ "name": AGENT_WALLET, "endpoint": format!("eip155:{CHAIN_ID}:{}", self.wallet) }],
            "signers": [{
                "publicKey": hex::encode(key), "algorithm": "secp256k1", "validFrom": 1, "validUntil": null,
            }],
        })
    }

    pub fn registration(&self) -> RegistrationId {
        let agent_registry = self.registry_account();
        let account = AccountId::parse(&agent_registry).unwrap();
        RegistrationId {
            agent_id: AgentId::parse(&account, &self.agent_id.to_string()).unwrap(),
            agent_registry,
        }
    }

    pub fn registry_account(&self) -> String {
        format!("eip155:{CHAIN_ID}:{}", self.registry)
    }

    /// x402-rs asks at its start whether three contracts exist, none of which a payment from an account
    /// without code calls.
    async fn place_what_the_facilitator_asks_for(&self) {
        for address in [
            "0xdAcD51A54883eb67D95FAEb2BBfdC4a9a6BD2a3B",
            "0x000000000022D473030F116dDEE9F6B43aC78BA3",
            "0x402085c248EeA27D92E8b30b2C58ed07f9E20001",
        ] {
            let address = address.parse().unwrap();
            self.provider
                .anvil_set_code(address, Bytes::from_static(&[0xfe]))
                .await
                .unwrap();
        }
    }

    pub async fn balance_of_wallet(&self) -> u64 {
        let token = Token::new(self.token, &self.provider);
        token.balanceOf(self.wallet).call().await.unwrap().to()
    }

    /// Time passes, and a block is mined.
    pub async fn pass(&self, seconds: u64) {
        self.provider.anvil_increase_time(seconds).await.unwrap();
        self.provider.anvil_mine(Some(1), None).await.unwrap();
    }

    /// The payer cancels an authorization.
    pub async fn cancel(&self, nonce: B256, signature: Bytes) {
        use alloy::sol_types::SolCall;
        let authorizer = self.payer.address();
        let cancel = cancelAuthorizationCall {
            authorizer,
            nonce,
            signature,
        };
        self.call(self.token, cancel.abi_encode()).await;
    }

    /// The agent gets another owner, and has no wallet any more.
    pub async fn transfer_agent(&self) {
        let heir = Address::repeat_byte(0x33);
        self.call(
            self.registry,
            calls::transfer(self.agent_id, self.wallet, heir),
        )
        .await;
    }
}
