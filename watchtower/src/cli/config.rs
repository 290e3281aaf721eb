use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use concord_canonical::limits::URI_MAX;
use concord_chain::{
    Amount, ChainId, EndpointOptions,
    evm::{Confirmations, FeeLimit, Node},
    fetch::{FetchOptions, Fetcher},
    keys::{EvmKeySource, read_keypair},
    submission::Timing,
    svm::{Cluster, PriorityFee},
};
use concord_registry::{evm, svm::Program};
use concord_x402::{
    feedback::{EvmRegistry, FeedbackRegistry, FileFolder, FileStore, SvmRegistry},
    quote::FetchedFiles,
    verify::{ChainInsiders, Chains},
};
use serde::Deserialize;

use super::CliError;
use crate::{
    Agent, Budget, OwnAccounts, Prober, Publisher, RevenueSource, Settings, Store, Tag, Watch,
    WindowKind,
};

/// Signals are not urgent: polling is slow enough for public endpoints.
const TIMING: Timing = Timing {
    poll: Duration::from_secs(1),
    replace_after: Duration::from_secs(45),
    give_up_after: Duration::from_secs(600),
};
/// Bytes of a CID in base32.
const CID_LENGTH: usize = 59;

/// A watchtower's configuration. Paths are relative to the working directory.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Config {
    /// The SQLite file.
    pub store: PathBuf,
    /// The folder of evidence files.
    files: PathBuf,
    /// What the CID follows in a file's URI.
    #[serde(default = "ipfs")]
    file_base: String,
    /// Seconds between two rounds of probes.
    #[serde(default = "five_minutes")]
    interval: u64,
    /// Seconds that a probe may take.
    #[serde(default = "ten")]
    timeout: u64,
    /// `day`, `week` or both.
    #[serde(default = "both_windows")]
    windows: Vec<WindowKind>,
    /// The signals of an endpoint.
    #[serde(default = "every_signal")]
    signals: Vec<String>,
    /// Samples without which a window says nothing; half of those that the interval makes if it is absent.
    #[serde(default)]
    min_samples: Option<u64>,
    /// Endpoints of an agent that are probed.
    #[serde(default = "four")]
    endpoints_max: usize,
    /// URLs of which one must answer before a round counts.
    #[serde(default)]
    controls: Vec<String>,
    /// Who is watched.
    agents: Vec<AgentConfig>,
    /// By CAIP-2 id.
    chains: BTreeMap<ChainId, ChainConfig>,
    /// How files are fetched and services are asked.
    #[serde(default)]
    fetch: FetchConfig,
    /// The payments that this operator settled.
    #[serde(default)]
    revenues: Option<RevenueConfig>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct AgentConfig {
    agent_registry: String,
    agent_id: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ChainConfig {
    /// The JSON-RPC endpoint. Errors show its host only.
    rpc: String,
    #[serde(default)]
    evm: Option<EvmConfig>,
    #[serde(default)]
    solana: Option<SolanaConfig>,
    /// What may be spent, in wei or lamports.
    budget: BudgetConfig,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct BudgetConfig {
    per_day: Amount,
    per_run: Amount,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct EvmConfig {
    identity: evm::Address,
    reputation: evm::Address,
    /// An encrypted keystore; without one `CONCORD_EVM_PRIVATE_KEY` has the key.
    #[serde(default)]
    keystore: Option<PathBuf>,
    #[serde(default)]
    password_file: Option<PathBuf>,
    /// The most that is offered for a unit of gas, in gwei. Without it no budget could be kept.
    max_fee: String,
    /// A number of blocks, `safe` or `finalized`.
    confirmations: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SolanaConfig {
    /// The program's address, in base58.
    program: String,
    /// A keypair file.
    keypair: PathBuf,
    /// The most that is paid for a compute unit, in microlamports.
    #[serde(default)]
    max_priority_fee: u64,
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

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RevenueConfig {
    /// A file, or the URL of `GET /revenues` of the operator's aggregator.
    source: String,
    /// The tokens that count as a dollar, CAIP-10.
    dollars: Vec<String>,
}

fn ipfs() -> String {
    "ipfs://".to_owned()
}

const fn five_minutes() -> u64 {
    300
}

const fn ten() -> u64 {
    10
}

const fn four() -> usize {
    4
}

fn both_windows() -> Vec<WindowKind> {
    WindowKind::ALL.to_vec()
}

fn every_signal() -> Vec<String> {
    Tag::OF_ENDPOINT.map(|it| it.name().to_owned()).to_vec()
}

/// A watchtower that is ready to work.
pub(super) struct Ready {
    pub watch: Watch,
    pub publishers: Vec<Publisher>,
    pub files: Arc<dyn FileStore>,
    /// The list, and the tokens that count as a dollar.
    pub revenues: Option<(RevenueSource, Vec<String>)>,
}

impl Config {
    /// Reads the file; an error names file, path and value.
    pub fn read(path: &Path) -> Result<Self, CliError> {
        let usage = |error: String| CliError::Usage(format!("{}: {error}", path.display()));
        let text = fs::read_to_string(path).map_err(|error| usage(error.to_string()))?;
        let mut reader = serde_json::Deserializer::from_str(&text);
        let config: Self = serde_path_to_error::deserialize(&mut reader)
            .map_err(|error| usage(error.to_string()))?;
        config.check().map_err(usage)?;
        Ok(config)
    }

    /// The bounds that types do not have.
    fn check(&self) -> Result<(), String> {
        if !(10..=86_400).contains(&self.interval) {
            return Err(format!(
                "interval is {}, expected 10 to 86400 seconds",
                self.interval
            ));
        }
        if !(1..=60).contains(&self.timeout) {
            return Err(format!(
                "timeout is {}, expected 1 to 60 seconds",
                self.timeout
            ));
        }
        if !(1..=16).contains(&self.endpoints_max) {
            return Err(format!(
                "endpointsMax is {}, expected 1 to 16",
                self.endpoints_max
            ));
        }
        let base_max = URI_MAX - CID_LENGTH;
        if self.file_base.len() > base_max {
            let length = self.file_base.len();
            return Err(format!(
                "fileBase has {length} bytes, expected at most {base_max} (R17)"
            ));
        }
        for (chain, config) in &self.chains {
            let namespace = chain.namespace();
            let fits = match namespace {
                "eip155" => config.evm.is_some() && config.solana.is_none(),
                "solana" => config.solana.is_some() && config.evm.is_none(),
                _ => false,
            };
            if !fits {
                return Err(format!(
                    "chains.{chain}: expected evm for eip155, or solana for solana"
                ));
            }
        }
        self.tags()?;
        self.agents()?;
        Ok(())
    }

    fn tags(&self) -> Result<Vec<Tag>, String> {
        let tag = |name: &String| {
            let tag = Tag::parse(name).filter(|it| Tag::OF_ENDPOINT.contains(it));
            tag.ok_or_else(|| {
                let known = Tag::OF_ENDPOINT.map(Tag::name).join(", ");
                format!("signals: {name:?} is not known, expected some of {known}")
            })
        };
        self.signals.iter().map(tag).collect()
    }

    fn agents(&self) -> Result<Vec<Agent>, String> {
        let mut agents: Vec<Agent> = Vec::new();
        for (index, it) in self.agents.iter().enumerate() {
            let agent = Agent::parse(&it.agent_registry, &it.agent_id);
            let agent = agent.map_err(|error| format!("agents[{index}]: {error}"))?;
            if agents.iter().any(|other| other.key() == agent.key()) {
                return Err(format!("agents[{index}]: {} is listed twice", agent.key()));
            }
            if !self.registries().contains(&agent.registry_key()) {
                let registry = &it.agent_registry;
                return Err(format!(
                    "agents[{index}]: {registry} is not configured under chains"
                ));
            }
            agents.push(agent);
        }
        Ok(agents)
    }

    /// The registries that are configured, in one spelling.
    pub fn registries(&self) -> Vec<String> {
        let chains = self.chains.iter();
        let registries = chains.filter_map(|(chain, config)| {
            let address = match (&config.evm, &config.solana) {
                (Some(evm), _) => evm.identity.to_string(),
                (_, Some(solana)) => solana.program.clone(),
                _ => return None,
            };
            Some(crate::target::registry_key(&format!("{chain}:{address}")))
        });
        registries.collect()
    }

    fn fetcher(&self) -> Result<Fetcher, CliError> {
        let options = FetchOptions {
            allow_http: self.fetch.allow_http,
            allow_private: self.fetch.allow_private,
            gateway: self.fetch.gateway.clone(),
            timeout: Duration::from_secs(self.timeout),
            ..FetchOptions::default()
        };
        Fetcher::new(options).map_err(|error| CliError::Usage(format!("fetch: {error}")))
    }

    /// Opens the keys, and connects to every chain.
    pub async fn ready(&self, store: Store) -> Result<Ready, CliError> {
        let (mut chains, mut insiders) = (Chains::default(), ChainInsiders::default());
        let mut registries = Vec::new();
        for (chain, config) in &self.chains {
            let name = chain.to_string();
            let budget = Budget {
                per_day: config.budget.per_day,
                per_run: config.budget.per_run,
            };
            if let Some(evm) = &config.evm {
                let node = Node::new(&EndpointOptions::new(&config.rpc))?;
                chains.evm.add(chain.evm_number()?, node.clone()).await?;
                insiders.add_evm(&name, node.clone());
                registries.push((evm.connect(chain, node).await?, budget));
            }
            if let Some(solana) = &config.solana {
                let cluster = Cluster::new(&EndpointOptions::new(&config.rpc))?;
                chains.svm.add(chain, cluster.clone()).await?;
                insiders.add_svm(&name, cluster.clone());
                registries.push((solana.connect(chain, cluster).await?, budget));
            }
        }
        let accounts = registries.iter().map(|(it, _)| it.client()).collect();
        let own = OwnAccounts::new(accounts, Arc::new(insiders));
        let (chains, fetched) = (
            Arc::new(chains),
            Arc::new(FetchedFiles::new(self.fetcher()?)),
        );
        let files: Arc<dyn FileStore> =
            Arc::new(FileFolder::served_at(&self.files, &self.file_base));
        let publishers = registries.into_iter().map(|(registry, budget)| {
            let (own, files) = (own.clone(), files.clone());
            Publisher::new(registry, budget, own, chains.clone(), files, store.clone())
        });
        let publishers = publishers.collect();
        let watch = Watch {
            settings: self.settings()?,
            agents: self.agents().map_err(CliError::Usage)?,
            store,
            prober: Prober::new(self.fetcher()?),
            registries: chains,
            files: fetched.clone(),
            proofs: fetched,
            own,
        };
        Ok(Ready {
            watch,
            publishers,
            files,
            revenues: self.revenues()?,
        })
    }

    pub fn settings(&self) -> Result<Settings, CliError> {
        Ok(Settings {
            interval: Duration::from_secs(self.interval),
            timeout: Duration::from_secs(self.timeout),
            windows: self.windows.clone(),
            tags: self.tags().map_err(CliError::Usage)?,
            samples_min: self.min_samples,
            endpoints_max: self.endpoints_max,
            controls: self.controls.clone(),
        })
    }

    /// The operator's own service may be in the operator's own network.
    fn revenues(&self) -> Result<Option<(RevenueSource, Vec<String>)>, CliError> {
        let Some(config) = &self.revenues else {
            return Ok(None);
        };
        let is_url = ["https://", "http://"]
            .iter()
            .any(|it| config.source.starts_with(it));
        let source = match is_url {
            false => RevenueSource::File(PathBuf::from(&config.source)),
            true => {
                let options = FetchOptions {
                    allow_http: true,
                    allow_private: true,
                    redirects: 0,
                    ..FetchOptions::default()
                };
                let fetcher = Fetcher::new(options);
                let fetcher = fetcher.map_err(|error| CliError::Usage(error.to_string()))?;
                RevenueSource::Url(config.source.clone(), fetcher)
            }
        };
        Ok(Some((source, config.dollars.clone())))
    }
}

impl EvmConfig {
    async fn connect(
        &self,
        chain: &ChainId,
        node: Node,
    ) -> Result<Box<dyn FeedbackRegistry>, CliError> {
        let usage = |field: &str, error: &dyn ToString| {
            CliError::Usage(format!("chains.{chain}.evm.{field}: {}", error.to_string()))
        };
        let source = EvmKeySource {
            keystore: self.keystore.clone(),
            password_file: self.password_file.clone(),
        };
        let missing = "no key: give keystore, or set CONCORD_EVM_PRIVATE_KEY";
        let signer = source.open()?.ok_or_else(|| usage("keystore", &missing))?;
        let limit =
            FeeLimit::parse(Some(&self.max_fee)).map_err(|error| usage("maxFee", &error))?;
        let confirmations: Result<Confirmations, String> = self.confirmations.parse();
        let confirmations = confirmations.map_err(|error| usage("confirmations", &error))?;
        let addresses = evm::RegistryAddresses {
            identity: self.identity,
            open_reputation: Some(self.reputation),
            authorized_reputation: None,
            validation: None,
        };
        let fees = (limit, confirmations);
        let signer = Box::new(signer);
        let connected = EvmRegistry::connect(node, chain, addresses, signer, fees, TIMING);
        Ok(Box::new(connected.await?))
    }
}

impl SolanaConfig {
    async fn connect(
        &self,
        chain: &ChainId,
        cluster: Cluster,
    ) -> Result<Box<dyn FeedbackRegistry>, CliError> {
        let id = self.program.parse();
        let id = id.map_err(|_| {
            let found = &self.program;
            let field = format!("chains.{chain}.solana.program");
            CliError::Usage(format!(
                "{field} is {found:?}, expected an address in base58"
            ))
        })?;
        let program = Program::new(id);
        let signer = Box::new(read_keypair(&self.keypair)?);
        let fee = PriorityFee {
            first: 0,
            most: self.max_priority_fee,
        };
        let connected = SvmRegistry::connect(cluster, chain, program, signer, fee, TIMING);
        Ok(Box::new(connected.await?))
    }
}
