//! Anvil with Circle's FiatTokenV2_2 and our registries.
use crate::Failed;
use alloy::{
    network::{EthereumWallet, TransactionBuilder},
    node_bindings::{Anvil, AnvilInstance},
    primitives::{Address, Bytes, U256},
    providers::{DynProvider, Provider, ProviderBuilder, ext::AnvilApi},
    rpc::types::{TransactionReceipt, TransactionRequest},
    signers::local::PrivateKeySigner,
    sol,
    sol_types::{SolCall, SolEvent},
};
use concord_registry::evm::{abi::IdentityRegistry, calls};
use serde_json::{Value, json};
use std::{env, fs, path::Path, path::PathBuf, process::Command, sync::Arc};
use x402_chain_eip155::{
    V2Eip155Exact,
    chain::{
        AssetTransferMethod, Eip155ChainProvider, Eip155ChainReference, Eip155TokenDeployment,
        config::Eip155ChainConfig,
    },
};
use x402_types::{
    chain::{DeployedTokenAmount, FromConfig},
    proto::{self, v2::PriceTag},
    scheme::{X402SchemeFacilitator, X402SchemeFacilitatorBuilder, X402SchemeFacilitatorError},
};

/// Base Sepolia's number, which x402's clients know.
pub const CHAIN_ID: u64 = 84532;
/// 0.01 USDC.
pub const PRICE: u64 = 10_000;
/// What the buyer has.
const FUNDS: u64 = 1_000_000;
/// Anvil's accounts.
const OWNER: usize = 0;
const FACILITATOR: usize = 1;
const BUYER: usize = 2;

sol! {
    function initialize(string name, string symbol, string currency, uint8 decimals, address masterMinter, address pauser, address blacklister, address owner);
    function initializeV2(string newName);
    function initializeV2_1(address lostAndFound);
    function initializeV2_2(address[] accounts, string newSymbol);
    function configureMinter(address minter, uint256 allowed);
    function mint(address to, uint256 amount);
}

pub struct Evm {
    _anvil: AnvilInstance,
    provider: DynProvider,
    pub url: String,
    owner: Address,
    facilitator: PrivateKeySigner,
    pub buyer: PrivateKeySigner,
    pub token: Address,
    pub identity: Address,
    pub reputation: Address,
    pub agent_id: U256,
}

/// x402-rs's facilitator for one scheme on one chain.
#[derive(Clone)]
pub struct Facilitator(Arc<Box<dyn X402SchemeFacilitator>>);

impl x402_types::facilitator::Facilitator for Facilitator {
    type Error = X402SchemeFacilitatorError;

    async fn verify(
        &self,
        request: &proto::VerifyRequest,
    ) -> Result<proto::VerifyResponse, Self::Error> {
        self.0.verify(request).await
    }

    async fn settle(
        &self,
        request: &proto::SettleRequest,
    ) -> Result<proto::SettleResponse, Self::Error> {
        self.0.settle(request).await
    }

    async fn supported(&self) -> Result<proto::SupportedResponse, Self::Error> {
        self.0.supported().await
    }
}

/// The one that `CONCORD_ANVIL` names, else the one that `scripts/build` installed, else the one on PATH.
fn anvil_path(root: &Path) -> PathBuf {
    if let Some(named) = env::var_os("CONCORD_ANVIL") {
        return named.into();
    }
    let cache = env::var_os("CONCORD_CACHE").map_or_else(|| root.join(".cache"), PathBuf::from);
    let installed = cache.join("bin/anvil");
    if installed.is_file() {
        installed
    } else {
        "anvil".into()
    }
}

impl Evm {
    /// Starts anvil, deploys everything, and registers the agent with this URI.
    pub async fn start(root: &Path, uri: &str) -> Result<Self, Failed> {
        let number = CHAIN_ID.to_string();
        let anvil = Anvil::at(anvil_path(root))
            .args(["--chain-id", &number])
            .args(["--prune-history", "1000"]) // states in memory: a killed anvil leaves no file
            .timeout(30_000)
            .try_spawn()?;
        let key = |index: usize| PrivateKeySigner::from(anvil.keys()[index].clone());
        let url = anvil.endpoint();
        let provider = ProviderBuilder::new()
            .wallet(EthereumWallet::from(key(OWNER)))
            .connect_http(url.parse()?)
            .erased();
        let mut evm = Self {
            owner: key(OWNER).address(),
            facilitator: key(FACILITATOR),
            buyer: key(BUYER),
            _anvil: anvil,
            provider,
            url,
            token: Address::ZERO,
            identity: Address::ZERO,
            reputation: Address::ZERO,
            agent_id: U256::ZERO,
        };
        evm.deploy_token(root).await?;
        evm.register(root, uri).await?;
        evm.place_what_the_facilitator_asks_for().await?;
        Ok(evm)
    }

    /// The agent's owner, who is its wallet.
    pub fn wallet(&self) -> Address {
        self.owner
    }

    pub fn registry(&self) -> String {
        format!("eip155:{CHAIN_ID}:{}", self.identity)
    }

    pub fn price(&self) -> PriceTag {
        let method = AssetTransferMethod::Eip3009 {
            name: "USDC".to_owned(),
            version: "2".to_owned(),
        };
        let amount = DeployedTokenAmount {
            amount: U256::from(PRICE),
            token: Eip155TokenDeployment {
                chain_reference: Eip155ChainReference::new(CHAIN_ID),
                address: self.token,
                decimals: 6,
                transfer_method: method,
            },
        };
        V2Eip155Exact::price_tag(self.owner, amount)
    }

    pub async fn facilitator(&self) -> Result<Facilitator, Failed> {
        let key = format!("0x{}", hex::encode(self.facilitator.to_bytes()));
        let inner = json!({ "signers": [key], "rpc": [{ "http": self.url }] });
        let config = Eip155ChainConfig {
            chain_reference: Eip155ChainReference::new(CHAIN_ID),
            inner: serde_json::from_value(inner)?,
        };
        let failed = |error: Box<dyn std::error::Error>| error.to_string();
        let provider = Eip155ChainProvider::from_config(&config)
            .await
            .map_err(failed)?;
        let exact = V2Eip155Exact
            .build(Arc::new(provider), None)
            .map_err(failed)?;
        Ok(Facilitator(Arc::new(exact)))
    }

    async fn send(&self, request: TransactionRequest) -> Result<TransactionReceipt, Failed> {
        let pending = self
            .provider
            .send_transaction(request.with_from(self.owner))
            .await?;
        let receipt = pending.get_receipt().await?;
        if receipt.status() {
            Ok(receipt)
        } else {
            Err(format!("transaction {} reverted", receipt.transaction_hash).into())
        }
    }

    async fn call(
        &self,
        to: Address,
        input: impl Into<Bytes>,
    ) -> Result<TransactionReceipt, Failed> {
        let request = TransactionRequest::default().with_to(to);
        self.send(request.with_input(input.into())).await
    }

    async fn deploy(&self, code: &str) -> Result<Address, Failed> {
        let code = Bytes::from(hex::decode(code.trim_start_matches("0x"))?);
        let request = TransactionRequest::default().with_deploy_code(code);
        let receipt = self.send(request).await?;
        Ok(receipt
            .contract_address
            .ok_or("the node names no contract")?)
    }

    /// Circle's compiled contracts come from a pinned npm package.
    async fn deploy_token(&mut self, root: &Path) -> Result<(), Failed> {
        let circle = circle(root)?;
        let library = bytecode(&circle.join("util/SignatureChecker.sol/SignatureChecker.json"))?;
        let library = self.deploy(&library).await?;
        let code = bytecode(&circle.join("v2/FiatTokenV2_2.sol/FiatTokenV2_2.json"))?;
        let start = code
            .find("__$")
            .ok_or("FiatTokenV2_2 has no library to link")?;
        let placeholder = code[start..start + 40].to_owned();
        let code = code.replace(&placeholder, &hex::encode(library));
        self.token = self.deploy(&code).await?;
        let (owner, usdc) = (self.owner, || "USDC".to_owned());
        let initialize = initializeCall {
            name: usdc(),
            symbol: usdc(),
            currency: "USD".to_owned(),
            decimals: 6,
            masterMinter: owner,
            pauser: owner,
            blacklister: owner,
            owner,
        };
        let lost = Address::repeat_byte(7);
        let amount = U256::from(FUNDS);
        for input in [
            initialize.abi_encode(),
            initializeV2Call { newName: usdc() }.abi_encode(),
            initializeV2_1Call { lostAndFound: lost }.abi_encode(),
            initializeV2_2Call {
                accounts: vec![],
                newSymbol: usdc(),
            }
            .abi_encode(),
            configureMinterCall {
                minter: owner,
                allowed: amount,
            }
            .abi_encode(),
            mintCall {
                to: self.buyer.address(),
                amount,
            }
            .abi_encode(),
        ] {
            self.call(self.token, input).await?;
        }
        Ok(())
    }

    async fn register(&mut self, root: &Path, uri: &str) -> Result<(), Failed> {
        let built =
            |name: &str| bytecode(&root.join(format!("contracts/out/{name}.sol/{name}.json")));
        self.identity = self.deploy(&built("IdentityRegistry")?).await?;
        let arguments = hex::encode(calls::bound_registry_arguments(self.identity));
        self.reputation = self
            .deploy(&(built("ReputationRegistry")? + &arguments))
            .await?;
        let receipt = self.call(self.identity, calls::register(uri, &[])).await?;
        let registered = |log: &alloy::rpc::types::Log| {
            IdentityRegistry::Registered::decode_log(&log.inner).ok()
        };
        let registered = receipt.logs().iter().find_map(registered);
        self.agent_id = registered.ok_or("no agent was registered")?.agentId;
        Ok(())
    }

    /// x402-rs asks at its start whether three contracts exist, none of which this payment calls.
    async fn place_what_the_facilitator_asks_for(&self) -> Result<(), Failed> {
        for address in [
            "0xdAcD51A54883eb67D95FAEb2BBfdC4a9a6BD2a3B",
            "0x000000000022D473030F116dDEE9F6B43aC78BA3",
            "0x402085c248EeA27D92E8b30b2C58ed07f9E20001",
        ] {
            let code = Bytes::from_static(&[0xfe]);
            self.provider.anvil_set_code(address.parse()?, code).await?;
        }
        Ok(())
    }
}

fn bytecode(file: &Path) -> Result<String, Failed> {
    let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let artifact: Value = serde_json::from_str(&text)?;
    let code = artifact["bytecode"]
        .as_str()
        .or(artifact["bytecode"]["object"].as_str());
    let code = code.ok_or_else(|| format!("{} has no bytecode", file.display()))?;
    Ok(code.trim_start_matches("0x").to_owned())
}

fn circle(root: &Path) -> Result<PathBuf, Failed> {
    let output = Command::new(root.join("tests/clients/x402/install")).output()?;
    if output.status.success() {
        Ok(String::from_utf8(output.stdout)?.trim().into())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned().into())
    }
}
