use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use alloy::primitives::{Address, U256};
use concord_chain::{
    ChainId, EndpointOptions, config,
    evm::Node,
    fetch::{FetchOptions, Fetcher},
    svm::Cluster,
};
use concord_registry::{evm::RegistryAddresses, svm::Program};
use serde::{Deserialize, de::DeserializeOwned};

use super::CliError;
use crate::{
    pay::{BuyerReads, Terms},
    quote::{Allowance, FetchedFiles, KnownRegistries, SpendPolicy},
    verify::Chains,
};

/// A buyer's chains, registries and limits.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct BuyerConfig {
    /// By CAIP-2 id.
    chains: BTreeMap<ChainId, ChainConfig>,
    /// Identity registries that count beside the canonical ones (R28), CAIP-10.
    #[serde(default)]
    trust: Vec<String>,
    /// An address book of `concord deploy`, whose registries count too.
    #[serde(default)]
    address_book: Option<PathBuf>,
    /// Tokens that may be spent, and how much for one purchase.
    #[serde(default)]
    allow: Vec<AllowanceConfig>,
    /// Seconds that a payment may stay valid.
    #[serde(default = "timeout_max")]
    timeout_max: u64,
    /// Whether the origin must be bound to the agent (P10).
    #[serde(default)]
    require_bound_origin: bool,
    /// How files of strangers are fetched.
    #[serde(default)]
    fetch: FetchConfig,
}

fn timeout_max() -> u64 {
    300
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ChainConfig {
    /// The JSON-RPC endpoint. Errors show its host only.
    pub rpc: String,
    /// EVM: the identity registry.
    #[serde(default)]
    pub identity: Option<Address>,
    /// EVM: the open reputation registry.
    #[serde(default)]
    pub reputation: Option<Address>,
    /// EVM: the authorized reputation registry.
    #[serde(default)]
    pub authorized_reputation: Option<Address>,
    /// Solana: the program.
    #[serde(default)]
    pub program: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct AllowanceConfig {
    network: ChainId,
    asset: String,
    /// In the token's smallest unit, in decimal.
    amount_max: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct FetchConfig {
    #[serde(default)]
    allow_http: bool,
    #[serde(default)]
    allow_private: bool,
    #[serde(default)]
    gateway: Option<String>,
}

/// What a buyer's commands work with.
pub(super) struct Market {
    pub configured: BTreeMap<ChainId, ChainConfig>,
    pub chains: Chains,
    pub files: FetchedFiles,
    pub terms: Terms,
}

/// Reads a JSON file; an error names file and path.
pub(super) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, CliError> {
    let text = fs::read_to_string(path);
    let text = text.map_err(|error| CliError::usage(format!("{}: {error}", path.display())))?;
    config::parse(&text).map_err(|error| CliError::usage(format!("{}: {error}", path.display())))
}

impl Market {
    /// Connects to every chain of a configuration.
    pub async fn connect(path: &Path) -> Result<Self, CliError> {
        let config: BuyerConfig = read_json(path)?;
        let malformed = |field: &str, error: &dyn ToString| {
            let words = format!("{}: {field}: {}", path.display(), error.to_string());
            CliError::usage(words)
        };
        let mut registries = KnownRegistries::canonical();
        for (index, registry) in config.trust.iter().enumerate() {
            let field = format!("trust[{index}]");
            let trusted = registries.trust(registry);
            trusted.map_err(|error| malformed(&field, &error))?;
        }
        if let Some(book) = &config.address_book {
            let text = fs::read_to_string(book);
            let text = text.map_err(|error| malformed("addressBook", &error))?;
            let trusted = registries.trust_address_book(&text);
            trusted.map_err(|error| malformed("addressBook", &error))?;
        }
        let mut allowances = Vec::new();
        for (index, entry) in config.allow.iter().enumerate() {
            let amount = U256::from_str_radix(&entry.amount_max, 10);
            let field = format!("allow[{index}].amountMax");
            let amount = amount.map_err(|_| malformed(&field, &"expected a decimal uint256"))?; // DEP-66
            allowances.push(Allowance {
                network: entry.network.to_string(),
                asset: entry.asset.clone(),
                amount_max: amount.to_be_bytes(),
            });
        }
        let fetcher = Fetcher::new(FetchOptions {
            allow_http: config.fetch.allow_http,
            allow_private: config.fetch.allow_private,
            gateway: config.fetch.gateway.clone(),
            ..FetchOptions::default()
        });
        let fetcher = fetcher.map_err(|error| malformed("fetch", &error))?;
        Ok(Self {
            chains: connect(&config.chains).await?,
            configured: config.chains,
            files: FetchedFiles::new(fetcher),
            terms: Terms {
                policy: SpendPolicy {
                    allowances,
                    timeout_max: config.timeout_max,
                },
                budgets: Vec::new(),
                registries,
                require_bound_origin: config.require_bound_origin,
            },
        })
    }

    pub fn reads(&self) -> BuyerReads<'_> {
        BuyerReads {
            registries: &self.chains,
            files: &self.files,
            origins: &self.files,
            payments: &self.chains,
            authorizations: &self.chains,
        }
    }

    /// A chain's configuration.
    pub fn chain(&self, chain: &ChainId) -> Result<&ChainConfig, CliError> {
        let found = self.configured.get(chain);
        found.ok_or_else(|| {
            CliError::usage(format!("chains.{chain} is missing in the configuration"))
        })
    }
}

async fn connect(configured: &BTreeMap<ChainId, ChainConfig>) -> Result<Chains, CliError> {
    let mut chains = Chains::default();
    for (id, chain) in configured {
        match id.namespace() {
            "eip155" => chains.evm.add(id.evm_number()?, chain.node()?).await?,
            "solana" => chains.svm.add(id, chain.cluster()?).await?,
            other => {
                let words = format!("chains.{id}: {other} is neither eip155 nor solana");
                return Err(CliError::usage(words));
            }
        }
    }
    Ok(chains)
}

impl ChainConfig {
    fn endpoint(&self) -> EndpointOptions {
        EndpointOptions::new(&self.rpc)
    }

    pub fn node(&self) -> Result<Node, CliError> {
        Ok(Node::new(&self.endpoint())?)
    }

    pub fn cluster(&self) -> Result<Cluster, CliError> {
        Ok(Cluster::new(&self.endpoint())?)
    }

    /// Solana: the program to rate on.
    pub fn program(&self, chain: &ChainId) -> Result<Program, CliError> {
        let field = format!("chains.{chain}.program");
        let text = self.program.as_ref();
        let text = text.ok_or_else(|| CliError::usage(format!("{field} is missing")))?;
        let id = text.parse();
        let malformed = |_| CliError::usage(format!("{field}: expected an address in base58")); // DEP-66
        Ok(Program::new(id.map_err(malformed)?))
    }

    /// The registries to rate on.
    pub fn addresses(&self, chain: &ChainId) -> Result<RegistryAddresses, CliError> {
        let identity = self.identity;
        let missing = || CliError::usage(format!("chains.{chain}.identity is missing"));
        Ok(RegistryAddresses {
            identity: identity.ok_or_else(missing)?,
            open_reputation: self.reputation,
            authorized_reputation: self.authorized_reputation,
            validation: None,
        })
    }
}
