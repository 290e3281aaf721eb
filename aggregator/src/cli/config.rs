use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
};

use axum::http::HeaderName;
use concord_canonical::{caip::AccountId, sign::PreparedKey};
use concord_chain::{
    ChainId, EndpointOptions, config,
    evm::Node,
    fetch::{FetchOptions, Fetcher},
    keys::read_keypair,
    submission::Timing,
    svm::{Cluster, PriorityFee},
};
use concord_registry::svm::Program;
use concord_x402::{
    feedback::{FeedbackRegistry, FileFolder, FileStore, SvmRegistry},
    quote::FetchedFiles,
    verify::{Chains, Payments},
};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::Deserialize;

use super::{
    CliError, arguments::PaymentMode, evm_chain::EvmConfig, facilitator::PaymentProofConfig,
    sponsor::SponsorConfig,
};
use crate::{
    AllowedAgents, ChainInsiders, EvmSettler, Facilitator, Insiders, Limits, PinnedFiles, Sponsor,
    admission::Admission,
    lane::LaneRegistries,
    store::{Location, Store},
};

/// Agents on a cluster about which one account brings feedback on chain side by side. Each worker asks the endpoint about
/// once a second.
const AGENTS_AT_ONCE: usize = 4;

/// An aggregator's configuration. Paths are relative to the working directory.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Config {
    /// Address and port, such as 127.0.0.1:8460.
    #[schemars(with = "String")]
    pub(super) listen: SocketAddr,
    /// The SQLite file, or `postgres://USER@HOST:PORT/DATABASE` for several processes. `PGPASSWORD` has the password.
    store: String,
    /// The folder of feedback files, which is served as `/ipfs/{cid}`.
    pub(super) files: PathBuf,
    /// What the CID follows in a file's URI.
    #[serde(default = "ipfs")]
    file_base: String,
    /// A node of IPFS that pins the files, too.
    #[serde(default)]
    pinning: Option<PinningConfig>,
    /// A Solana keypair file: the Ed25519 key of the receipts.
    receipt_key: PathBuf,
    /// By CAIP-2 id: those whose payments are verified, and those with a registry.
    #[schemars(with = "BTreeMap<String, ChainConfig>")]
    chains: BTreeMap<ChainId, ChainConfig>,
    /// How registration files are fetched.
    #[serde(default)]
    fetch: FetchConfig,
    /// Cool-down, rates and budgets.
    #[serde(default)]
    pub(super) limits: Limits,
    /// The header in which the nearest proxy names the client.
    #[serde(default)]
    address_header: Option<String>,
}

/// A node of IPFS, by Kubo's RPC API.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PinningConfig {
    /// Such as `http://127.0.0.1:5001`.
    kubo: String,
    /// A file with the bearer token that the node wants.
    #[serde(default)]
    token_file: Option<PathBuf>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ChainConfig {
    /// The JSON-RPC endpoint. Errors show its host only.
    rpc: String,
    /// The tokens in which payments count: addresses or mints. Payments are verified on chains that have some.
    #[serde(default)]
    assets: Vec<String>,
    /// EVM: the registries that feedback is submitted to.
    #[serde(default)]
    evm: Option<EvmConfig>,
    /// Solana: the program that feedback is submitted to.
    #[serde(default)]
    solana: Option<SolanaConfig>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SolanaConfig {
    /// The program's address, in base58.
    program: String,
    /// A keypair file.
    keypair: PathBuf,
    /// The most that is paid for a compute unit, in microlamports.
    #[serde(default)]
    max_priority_fee: u64,
    /// How payments are proven (R13); not at all if it is absent.
    #[serde(default)]
    payment_proofs: Option<PaymentProofConfig>,
    /// How feedback is sponsored that reviewers sign themselves (R59); not at all if it is absent.
    #[serde(default)]
    sponsored: Option<SponsorConfig>,
    /// The agents that are served; all if it is absent.
    #[serde(default)]
    agents: Option<BTreeSet<String>>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct FetchConfig {
    /// Whether `http:` is fetched.
    #[serde(default)]
    allow_http: bool,
    /// Whether addresses are asked that are not public.
    #[serde(default)]
    allow_private: bool,
    /// The IPFS gateway.
    #[serde(default)]
    gateway: Option<String>,
}

fn ipfs() -> String {
    "ipfs://".to_owned()
}

/// Connections to a registry, and where it records feedback (CAIP-10).
pub(super) type Registry = (LaneRegistries, String);

impl Config {
    /// Reads the file; an error names file and path.
    pub(super) fn read(path: &Path) -> Result<Self, CliError> {
        let usage = |error: &dyn ToString| {
            CliError::Usage(format!("{}: {}", path.display(), error.to_string()))
        };
        let text = fs::read_to_string(path).map_err(|error| usage(&error))?;
        Self::parse(&text).map_err(|error| usage(&error))
    }

    /// Reads a configuration.
    ///
    /// # Errors
    /// Path and what is expected, in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let config: Self = config::parse(text)?;
        let chains = config.chains.values();
        let mut served = chains.filter(|it| it.evm.is_some() || it.solana.is_some());
        match served.next() {
            Some(_) => Ok(config),
            None => Err("chains: none has a registry under evm or solana".to_owned()),
        }
    }

    /// The JSON Schema of a configuration, as text.
    #[must_use]
    pub fn schema() -> String {
        let generator = SchemaSettings::draft2020_12().into_generator();
        let schema = generator.into_root_schema_for::<Self>().to_value();
        format!("{schema:#}\n")
    }

    /// Where the store is.
    pub(super) fn store_location(&self) -> Result<Location, CliError> {
        let location = self.store.parse();
        location.map_err(|error| CliError::Usage(format!("store: {error}")))
    }

    /// Opens the store.
    pub(super) fn open_store(&self) -> Result<Store, CliError> {
        let key = read_keypair(&self.receipt_key)?;
        let key = PreparedKey::ed25519(key.secret_bytes());
        Ok(Store::open_at(&self.store_location()?, key)?)
    }

    /// Where files are kept.
    pub(super) fn file_store(&self) -> Result<Arc<dyn FileStore>, CliError> {
        let folder = FileFolder::served_at(&self.files, &self.file_base);
        let Some(pinning) = &self.pinning else {
            return Ok(Arc::new(folder));
        };
        let token = pinning.token_file.as_ref().map(|path| {
            let text = fs::read_to_string(path);
            let text = text.map(|it| it.trim().to_owned());
            text.map_err(|error| CliError::Usage(format!("{}: {error}", path.display())))
        });
        let files = PinnedFiles::new(folder, &pinning.kubo, token.transpose()?);
        let files = files.map_err(|error| CliError::Usage(format!("pinning.kubo: {error}")))?;
        Ok(Arc::new(files))
    }

    /// Connects to every registry.
    pub(super) async fn registries(&self) -> Result<Vec<Registry>, CliError> {
        let mut registries = Vec::new();
        for (chain, config) in &self.chains {
            if let Some(registry) = &config.evm {
                registries.push(registry.connect(chain, config.node()?).await?);
            }
            if let Some(registry) = &config.solana {
                registries.push(registry.connect(chain, config.cluster()?).await?);
            }
        }
        Ok(registries)
    }

    /// What submissions are checked against.
    pub(super) async fn admission(
        &self,
        served: Vec<String>,
        payments: PaymentMode,
        insiders: Arc<dyn Insiders>,
    ) -> Result<Admission, CliError> {
        let mut chains = Chains::default();
        for (chain, config) in &self.chains {
            match chain.namespace() {
                "eip155" => chains.evm.add(chain.evm_number()?, config.node()?).await?,
                _ => chains.svm.add(chain, config.cluster()?).await?,
            }
        }
        let chains = Arc::new(chains);
        Ok(Admission {
            registries: chains.clone(),
            files: Arc::new(self.fetched_files()?),
            payments: chains,
            insiders,
            payment_chains: self.payment_chains(payments)?,
            takes_unchecked: payments == PaymentMode::Unchecked,
            assets: self.assets()?,
            served,
            agents: self.agents(),
        })
    }

    /// Says who acts for an agent, on every chain.
    pub(super) fn insiders(&self) -> Result<Arc<dyn Insiders>, CliError> {
        let mut insiders = ChainInsiders::default();
        for (chain, config) in &self.chains {
            let name = chain.to_string();
            match chain.namespace() {
                "eip155" => insiders.add_evm(&name, config.node()?),
                _ => insiders.add_svm(&name, config.cluster()?),
            }
        }
        Ok(Arc::new(insiders))
    }

    /// The chains with tokens in which payments count (R54).
    fn payment_chains(&self, payments: PaymentMode) -> Result<BTreeSet<String>, CliError> {
        let with_assets = self.chains.iter().filter(|(_, it)| !it.assets.is_empty());
        let chains: BTreeSet<String> = with_assets.map(|(chain, _)| chain.to_string()).collect();
        if chains.is_empty() && payments == PaymentMode::Checked {
            let message = "no payment could be verified: name the tokens in which payments count \
                               in chains.….assets, or pass --payments unchecked (R54)";
            Err(CliError::Usage(message.to_owned()))
        } else {
            Ok(chains)
        }
    }

    /// Who proves payments, on each cluster that has one.
    pub(super) fn facilitators(
        &self,
        payments: &Arc<dyn Payments>,
    ) -> Result<Vec<Facilitator>, CliError> {
        let mut facilitators = Vec::new();
        for (chain, config) in &self.chains {
            let Some(solana) = &config.solana else {
                continue;
            };
            if let Some(proofs) = &solana.payment_proofs {
                let (cluster, program) = (config.cluster()?, solana.program(chain)?);
                let payments = payments.clone();
                facilitators.push(proofs.facilitator(chain, cluster, program, payments)?);
            }
        }
        Ok(facilitators)
    }

    /// What this operator settles, on each EVM chain that names accounts for it.
    pub(super) fn evm_settlers(
        &self,
        payments: &Arc<dyn Payments>,
    ) -> Result<Vec<EvmSettler>, CliError> {
        let mut all = Vec::new();
        for (chain, config) in &self.chains {
            let Some(registry) = &config.evm else {
                continue;
            };
            if let Some(settlers) = &registry.settlers {
                all.push(registry.settler(chain, config.node()?, settlers, payments.clone())?);
            }
        }
        Ok(all)
    }

    /// Who pays for what reviewers sign, on each cluster that has one (R59).
    pub(super) fn sponsors(&self) -> Result<Vec<Sponsor>, CliError> {
        let mut sponsors = Vec::new();
        for (chain, config) in &self.chains {
            let Some(solana) = &config.solana else {
                continue;
            };
            if let Some(sponsored) = &solana.sponsored {
                let (cluster, program) = (config.cluster()?, solana.program(chain)?);
                sponsors.push(sponsored.sponsor(chain, cluster, program)?);
            }
        }
        Ok(sponsors)
    }

    /// The agents that are served, of each registry that does not serve all.
    fn agents(&self) -> AllowedAgents {
        let mut allowed = AllowedAgents::new();
        for (chain, config) in &self.chains {
            if let Some(EvmConfig {
                identity,
                agents: Some(agents),
                ..
            }) = &config.evm
            {
                allowed.insert(format!("{chain}:{identity}"), agents.clone());
            }
            if let Some(SolanaConfig {
                program,
                agents: Some(agents),
                ..
            }) = &config.solana
            {
                allowed.insert(format!("{chain}:{program}"), agents.clone());
            }
        }
        allowed
    }

    /// The header in which the nearest proxy names the client.
    pub(super) fn address_header(&self) -> Result<Option<HeaderName>, CliError> {
        let Some(name) = &self.address_header else {
            return Ok(None);
        };
        let parsed = name.parse();
        parsed.map(Some).map_err(|_| {
            CliError::Usage("addressHeader: expected a header's name".to_owned()) // DEP-66
        })
    }

    /// The tokens of every chain, CAIP-10.
    pub(super) fn assets(&self) -> Result<Vec<String>, CliError> {
        let mut assets = Vec::new();
        for (chain, config) in &self.chains {
            for (index, asset) in config.assets.iter().enumerate() {
                let id = format!("{chain}:{asset}");
                AccountId::parse(&id).map_err(|_| {
                    let field = format!("chains.{chain}.assets[{index}]");
                    CliError::Usage(format!("{field}: expected a token's address")) // DEP-66
                })?;
                assets.push(id);
            }
        }
        Ok(assets)
    }

    fn fetched_files(&self) -> Result<FetchedFiles, CliError> {
        let fetcher = Fetcher::new(FetchOptions {
            allow_http: self.fetch.allow_http,
            allow_private: self.fetch.allow_private,
            gateway: self.fetch.gateway.clone(),
            ..FetchOptions::default()
        });
        let fetcher = fetcher.map_err(|error| CliError::Usage(format!("fetch: {error}")))?;
        Ok(FetchedFiles::new(fetcher))
    }
}

impl ChainConfig {
    fn node(&self) -> Result<Node, CliError> {
        Ok(Node::new(&EndpointOptions::new(&self.rpc))?)
    }

    fn cluster(&self) -> Result<Cluster, CliError> {
        Ok(Cluster::new(&EndpointOptions::new(&self.rpc))?)
    }
}

impl SolanaConfig {
    fn program(&self, chain: &ChainId) -> Result<Program, CliError> {
        let id = self.program.parse();
        let id = id.map_err(|_| {
            let field = format!("chains.{chain}.solana.program");
            CliError::Usage(format!("{field}: expected an address in base58")) // DEP-66
        })?;
        Ok(Program::new(id))
    }

    async fn connect(&self, chain: &ChainId, cluster: Cluster) -> Result<Registry, CliError> {
        let program = self.program(chain)?;
        let key = read_keypair(&self.keypair)?;
        let fee = PriorityFee {
            first: 0,
            most: self.max_priority_fee,
        };
        let connect = async || {
            let (cluster, signer) = (cluster.clone(), Box::new(key.insecure_clone()));
            SvmRegistry::connect(cluster, chain, program, signer, fee, Timing::UNHURRIED).await
        };
        let finality = connect().await?;
        let settlement = finality.registry();
        let mut landing: Vec<Box<dyn FeedbackRegistry>> = Vec::new();
        for _ in 0..AGENTS_AT_ONCE {
            landing.push(Box::new(connect().await?));
        }
        let finality = Box::new(finality);
        Ok((LaneRegistries { landing, finality }, settlement))
    }
}
