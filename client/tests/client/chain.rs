//! Anvil with our registries.
use crate::anvil;
use alloy::{
    network::{EthereumWallet, TransactionBuilder},
    node_bindings::AnvilInstance,
    primitives::{Address, hex},
    providers::{DynProvider, Provider, ProviderBuilder},
    rpc::types::TransactionRequest,
};
use concord_chain::keys::PrivateKeySigner;
use concord_registry::evm::{RegistryAddresses, calls};
use serde_json::Value;
use std::{fs, path::PathBuf, time::Duration};

pub const NETWORK: &str = "eip155:84532";
/// Between two looks for a transaction: this node mines it at once.
const POLL: Duration = Duration::from_millis(10);

pub struct Chain {
    _anvil: AnvilInstance,
    pub url: String,
    pub addresses: RegistryAddresses,
    pub keys: Vec<PrivateKeySigner>,
}

pub fn root(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .join(path)
}

async fn deploy(provider: &DynProvider, name: &str, arguments: Vec<u8>) -> Address {
    let file = root(&format!("contracts/out/{name}.sol/{name}.json"));
    let text = fs::read_to_string(file).expect("scripts/test builds the contracts");
    let artifact: Value = serde_json::from_str(&text).unwrap();
    let code = hex::decode(artifact["bytecode"]["object"].as_str().unwrap()).unwrap();
    let create = TransactionRequest::default().with_deploy_code([code, arguments].concat());
    let pending = provider.send_transaction(create).await.unwrap();
    let receipt = pending.get_receipt().await.unwrap();
    receipt.contract_address.unwrap()
}

impl Chain {
    pub async fn start() -> Self {
        let (_, number) = NETWORK.split_once(':').unwrap();
        let anvil = anvil::start(&["--chain-id", number]);
        let keys = anvil.keys().iter().cloned().map(PrivateKeySigner::from);
        let keys: Vec<PrivateKeySigner> = keys.collect();
        let url = anvil.endpoint();
        // the last one, which has no role
        let wallet = EthereumWallet::from(keys.last().unwrap().clone());
        let provider = ProviderBuilder::new().wallet(wallet);
        let provider = provider.connect_http(url.parse().unwrap()).erased();
        provider.client().set_poll_interval(POLL);
        let identity = deploy(&provider, "IdentityRegistry", Vec::new()).await;
        let bound = || calls::bound_registry_arguments(identity);
        let authorized = calls::authorized_reputation_arguments(identity, true);
        let authorized = deploy(&provider, "AuthorizedReputationRegistry", authorized).await;
        let addresses = RegistryAddresses {
            identity,
            open_reputation: Some(deploy(&provider, "ReputationRegistry", bound()).await),
            authorized_reputation: Some(authorized),
            validation: Some(deploy(&provider, "ValidationRegistry", bound()).await),
        };
        Self {
            _anvil: anvil,
            url,
            addresses,
            keys,
        }
    }
}
