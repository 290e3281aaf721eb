use std::{collections::BTreeMap, fs, path::Path, time::Duration};

use alloy::transports::http::reqwest::{Client, Url, redirect};
use concord_chain::{
    ChainId, EndpointOptions, config,
    evm::Node,
    fetch::{FetchOptions, Fetcher},
    stdout::show,
    svm::Cluster,
};
use concord_registry::{evm, svm::Program};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::json;

use super::{CliError, FAILED, FINE, REFUSED, arguments::AuditOptions};
use crate::{
    audit::{Audit, PublishedReceipt, SentPayload, Settlement},
    lane::now,
};

/// A submission is answered after ten seconds at most.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The registries that count. An aggregator's own configuration has the same members, and others.
#[derive(Debug, Deserialize)]
struct Registries {
    chains: BTreeMap<ChainId, ChainRegistries>,
}

#[derive(Debug, Deserialize)]
struct ChainRegistries {
    rpc: String,
    #[serde(default)]
    evm: Option<Contracts>,
    #[serde(default)]
    solana: Option<ProgramId>,
}

#[derive(Debug, Deserialize)]
struct Contracts {
    identity: evm::Address,
    reputation: evm::Address,
}

#[derive(Debug, Deserialize)]
struct ProgramId {
    program: String,
}

impl ChainRegistries {
    /// `None` if it is a payment chain only. A node of another chain is an error.
    async fn connect(&self, chain: &ChainId) -> Result<Option<Settlement>, CliError> {
        let endpoint = EndpointOptions::new(&self.rpc);
        if let Some(contracts) = &self.evm {
            let node = Node::new(&endpoint)?;
            node.require_chain(chain.evm_number()?).await?;
            return Ok(Some(Settlement::Evm {
                node,
                identity: contracts.identity,
                reputation: contracts.reputation,
            }));
        }
        let Some(ProgramId { program }) = &self.solana else {
            return Ok(None);
        };
        let cluster = Cluster::new(&endpoint)?;
        cluster.require_chain(chain).await?;
        let id = program.parse().map_err(|_| {
            let field = format!("chains.{chain}.solana.program");
            CliError::Usage(format!("{field}: expected an address in base58")) // DEP-66
        })?;
        let program = Program::new(id);
        Ok(Some(Settlement::Svm { cluster, program }))
    }
}

pub async fn audit(options: &AuditOptions) -> Result<u8, CliError> {
    let registries: Registries = read_json(&options.registries)?;
    let mut settlements = BTreeMap::new();
    for (chain, config) in &registries.chains {
        if let Some(settlement) = config.connect(chain).await? {
            settlements.insert(chain.to_string(), settlement);
        }
    }
    let fetcher = Fetcher::new(FetchOptions {
        gateway: options.gateway.clone(),
        ..FetchOptions::default()
    });
    let payloads = options.payload.iter().map(|it| read_payload(it));
    let audit = Audit {
        url: folder(&options.url)?,
        settlements,
        fetcher: fetcher.map_err(|error| CliError::Usage(format!("--gateway: {error}")))?,
        grace: options.grace,
        payloads: payloads.collect::<Result<_, _>>()?,
        client: client()?,
    };
    let given = options.receipt.iter().map(|it| read_json(it));
    let given: Vec<PublishedReceipt> = given.collect::<Result<_, _>>()?;
    let report = audit.run(&given, now()).await?;
    show(format!("{:#}\n", json!(report)))?;
    Ok(
        match (report.problems.is_empty(), report.unknown.is_empty()) {
            (false, _) => REFUSED,
            (true, false) => FAILED,
            (true, true) => FINE,
        },
    )
}

fn read_payload(path: &Path) -> Result<SentPayload, CliError> {
    let read = fs::read(path).map_err(|error| error.to_string());
    let payload = read.and_then(|bytes| SentPayload::read(&bytes));
    payload.map_err(|reason| CliError::Usage(format!("{}: {reason}", path.display())))
}

/// Asks aggregators. A redirect is an answer that X402 does not have.
pub fn client() -> Result<Client, CliError> {
    let client = Client::builder()
        .timeout(TIMEOUT)
        .redirect(redirect::Policy::none());
    client
        .build()
        .map_err(|error| CliError::Usage(error.to_string()))
}

/// Reads a JSON file; an error names file and path.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, CliError> {
    let usage = |error: &dyn ToString| {
        CliError::Usage(format!("{}: {}", path.display(), error.to_string()))
    };
    let text = fs::read_to_string(path).map_err(|error| usage(&error))?;
    config::parse(&text).map_err(|error| usage(&error))
}

pub fn url(text: &str) -> Result<Url, CliError> {
    let url: Result<Url, _> = text.parse();
    let malformed = |error| CliError::Usage(format!("the aggregator's URL is malformed: {error}"));
    let url = url.map_err(malformed)?; // which may have a key in it
    match url.scheme() {
        "http" | "https" => Ok(url),
        other => Err(CliError::Usage(format!("{other}: expected http or https"))),
    }
}

/// The URL under which the routes are: paths are joined to it.
fn folder(text: &str) -> Result<Url, CliError> {
    if text.ends_with('/') {
        url(text)
    } else {
        url(&format!("{text}/"))
    }
}
