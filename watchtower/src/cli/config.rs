use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use concord_canonical::limits::URI_MAX;
use concord_chain::{Amount, ChainId, config};
use concord_registry::evm;
use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings, json_schema};
use serde::Deserialize;

use super::CliError;
use crate::{Agent, Settings, Tag, WindowKind};

/// Bytes of a CID in base32.
const CID_LENGTH: usize = 59;

/// A watchtower's configuration. Paths are relative to the working directory.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Config {
    /// The SQLite file. It is what prevents a second publication: keep it.
    pub(super) store: PathBuf,
    /// The folder of evidence files.
    pub(super) files: PathBuf,
    /// What the CID follows in a file's URI.
    #[serde(default = "ipfs")]
    pub(super) file_base: String,
    /// Seconds between two rounds of probes.
    #[serde(default = "five_minutes")]
    #[schemars(range(min = 10, max = 86_400))]
    interval: u64,
    /// Seconds that a probe may take.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 60))]
    pub(super) timeout: u64,
    /// `day`, `week` or both.
    #[serde(default = "both_windows")]
    #[schemars(schema_with = "windows")]
    windows: Vec<WindowKind>,
    /// The signals of an endpoint.
    #[serde(default = "every_signal")]
    #[schemars(schema_with = "signals")]
    signals: Vec<String>,
    /// Samples without which a window says nothing; half of those that the interval makes if it is absent.
    #[serde(default)]
    min_samples: Option<u64>,
    /// Endpoints of an agent that are probed.
    #[serde(default = "four")]
    #[schemars(range(min = 1, max = 16))]
    endpoints_max: usize,
    /// URLs of which one must answer before a round counts.
    #[serde(default)]
    controls: Vec<String>,
    /// Who is watched.
    agents: Vec<AgentConfig>,
    /// By CAIP-2 id.
    #[schemars(with = "BTreeMap<String, ChainConfig>")]
    pub(super) chains: BTreeMap<ChainId, ChainConfig>,
    /// How files are fetched and services are asked.
    #[serde(default)]
    pub(super) fetch: FetchConfig,
    /// The payments that this operator settled.
    #[serde(default)]
    pub(super) revenues: Option<RevenueConfig>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct AgentConfig {
    /// The identity registry's CAIP-10 id; on Solana the program's.
    agent_registry: String,
    /// The agent's id; on Solana its mint.
    agent_id: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ChainConfig {
    /// The JSON-RPC endpoint. Errors show its host only.
    pub(super) rpc: String,
    /// EVM: the registries.
    #[serde(default)]
    pub(super) evm: Option<EvmConfig>,
    /// Solana: the program.
    #[serde(default)]
    pub(super) solana: Option<SolanaConfig>,
    /// What may be spent, in wei or lamports.
    pub(super) budget: BudgetConfig,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct BudgetConfig {
    /// In a day, UTC.
    #[schemars(schema_with = "amount")]
    pub(super) per_day: Amount,
    /// In one pass over what is due.
    #[schemars(schema_with = "amount")]
    pub(super) per_run: Amount,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct EvmConfig {
    /// The identity registry.
    #[schemars(schema_with = "evm_address")]
    pub(super) identity: evm::Address,
    /// The open reputation registry.
    #[schemars(schema_with = "evm_address")]
    pub(super) reputation: evm::Address,
    /// An encrypted keystore; without one `CONCORD_EVM_PRIVATE_KEY` has the key.
    #[serde(default)]
    pub(super) keystore: Option<PathBuf>,
    /// The keystore's password.
    #[serde(default)]
    pub(super) password_file: Option<PathBuf>,
    /// The most that is offered for a unit of gas, in gwei. Without it no budget could be kept.
    pub(super) max_fee: String,
    /// A number of blocks, `safe` or `finalized`.
    pub(super) confirmations: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SolanaConfig {
    /// The program's address, in base58.
    pub(super) program: String,
    /// A keypair file.
    pub(super) keypair: PathBuf,
    /// The most that is paid for a compute unit, in microlamports.
    #[serde(default)]
    pub(super) max_priority_fee: u64,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct FetchConfig {
    /// Whether `http:` is fetched.
    #[serde(default)]
    pub(super) allow_http: bool,
    /// Whether addresses are asked that are not public.
    #[serde(default)]
    pub(super) allow_private: bool,
    /// The IPFS gateway.
    #[serde(default)]
    pub(super) gateway: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RevenueConfig {
    /// A file, or the URL of `GET /revenues` of the operator's aggregator.
    pub(super) source: String,
    /// The tokens that count as a dollar, CAIP-10.
    pub(super) dollars: Vec<String>,
}

fn evm_address(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "pattern": "^0x[0-9a-fA-F]{40}$" })
}

/// Decimal digits, since JSON's numbers end before wei do.
fn amount(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "pattern": "^[0-9]{1,39}$" })
}

fn windows(_: &mut SchemaGenerator) -> Schema {
    let names = WindowKind::ALL.map(WindowKind::name);
    json_schema!({ "type": "array", "items": { "enum": names } })
}

fn signals(_: &mut SchemaGenerator) -> Schema {
    let names = Tag::OF_ENDPOINT.map(Tag::name);
    json_schema!({ "type": "array", "items": { "enum": names } })
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

impl Config {
    /// Reads the file; an error names file and path.
    pub(super) fn read(path: &Path) -> Result<Self, CliError> {
        let usage = |error: String| CliError::Usage(format!("{}: {error}", path.display()));
        let text = fs::read_to_string(path).map_err(|error| usage(error.to_string()))?;
        Self::parse(&text).map_err(usage)
    }

    /// Reads a configuration.
    ///
    /// # Errors
    /// Path and what is wrong, in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let config: Self = config::parse(text)?;
        config.check()?;
        Ok(config)
    }

    /// The JSON Schema of a configuration, as text.
    #[must_use]
    pub fn schema() -> String {
        let generator = SchemaSettings::draft2020_12().into_generator();
        let schema = generator.into_root_schema_for::<Self>().to_value();
        format!("{schema:#}\n")
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
        let tag = |(index, name): (usize, &String)| {
            let tag = Tag::parse(name).filter(|it| Tag::OF_ENDPOINT.contains(it));
            tag.ok_or_else(|| {
                let known = Tag::OF_ENDPOINT.map(Tag::name).join(", ");
                format!("signals[{index}]: expected one of {known}") // DEP-66
            })
        };
        self.signals.iter().enumerate().map(tag).collect()
    }

    pub(super) fn agents(&self) -> Result<Vec<Agent>, String> {
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
    pub(super) fn registries(&self) -> Vec<String> {
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

    pub(super) fn settings(&self) -> Result<Settings, CliError> {
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
}
