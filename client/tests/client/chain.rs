//! Anvil with our registries, or with registries that behave as the canonical ones do.
use alloy::{
    network::{EthereumWallet, TransactionBuilder},
    node_bindings::AnvilInstance,
    primitives::{Address, hex},
    providers::{DynProvider, Provider, ProviderBuilder},
    rpc::types::TransactionRequest,
};
use concord_chain::keys::PrivateKeySigner;
use concord_registry::evm::{RegistryAddresses, calls};
use concord_testkit::anvil;
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
    deploy_of(provider, name, name, arguments).await
}

/// Deploys a contract of a file. `arguments`: its constructor's.
async fn deploy_of(provider: &DynProvider, file: &str, name: &str, arguments: Vec<u8>) -> Address {
    let file = root(&format!("contracts/out/{file}.sol/{name}.json"));
    let text = fs::read_to_string(file).expect("scripts/test builds the contracts");
    let artifact: Value = serde_json::from_str(&text).unwrap();
    let code = hex::decode(artifact["bytecode"]["object"].as_str().unwrap()).unwrap();
    let create = TransactionRequest::default().with_deploy_code([code, arguments].concat());
    let pending = provider.send_transaction(create).await.unwrap();
    let receipt = pending.get_receipt().await.unwrap();
    receipt.contract_address.unwrap()
}

/// Concord's registries.
async fn ours(provider: &DynProvider) -> RegistryAddresses {
    let identity = deploy(provider, "IdentityRegistry", Vec::new()).await;
    let bound = || calls::bound_registry_arguments(identity);
    let authorized = calls::authorized_reputation_arguments(identity, false);
    let authorized = deploy(provider, "AuthorizedReputationRegistry", authorized).await;
    RegistryAddresses {
        identity,
        open_reputation: Some(deploy(provider, "ReputationRegistry", bound()).await),
        authorized_reputation: Some(authorized),
        validation: Some(deploy(provider, "ValidationRegistry", bound()).await),
    }
}

/// An identity registry that does what the canonical one does, behind a proxy, and registries with the canonical ABI that
/// refuse with the canonical texts. None is for authorized feedback.
async fn canonical(provider: &DynProvider) -> RegistryAddresses {
    const FIXTURE: &str = "CanonicalIdentity";
    let code = deploy_of(provider, FIXTURE, FIXTURE, Vec::new()).await;
    let proxy = calls::bound_registry_arguments(code);
    let identity = deploy_of(provider, FIXTURE, "CanonicalProxy", proxy).await;
    let behind = async |name: &str| {
        let code = deploy(provider, name, calls::bound_registry_arguments(identity)).await;
        deploy(
            provider,
            "CanonicalAbi",
            calls::bound_registry_arguments(code),
        )
        .await
    };
    RegistryAddresses {
        identity,
        open_reputation: Some(behind("ReputationRegistry").await),
        authorized_reputation: None,
        validation: Some(behind("ValidationRegistry").await),
    }
}

impl Chain {
    pub async fn start() -> Self {
        Self::with(ours).await
    }

    /// Anvil with registries that behave as the canonical ones do.
    pub async fn start_canonical() -> Self {
        Self::with(canonical).await
    }

    async fn with(registries: impl AsyncFnOnce(&DynProvider) -> RegistryAddresses) -> Self {
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
        let addresses = registries(&provider).await;
        Self {
            _anvil: anvil,
            url,
            addresses,
            keys,
        }
    }
}
