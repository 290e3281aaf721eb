//! What is to be indexed, as the command line says, the address book and the chains complete.
use super::{
    CliError,
    arguments::RunOptions,
    book::{self, Book},
};
use crate::{
    Contracts, Deployment,
    source::{
        Source,
        evm::EvmSource,
        svm::{ReadAt, SvmSource},
    },
};
use concord_chain::{ChainError, ChainId, Endpoint, EndpointOptions, evm::Node, svm::Cluster};
use concord_registry::{
    evm::RegistryAddresses,
    svm::{Address, Program, accounts::Registry},
};
use std::path::Path;

/// One deployment, and the endpoints of its chain: the next one is asked if one fails.
#[derive(Debug, Clone)]
pub struct Target {
    rpc: Vec<String>,
    contracts: Contracts,
    start: u64,
}

/// What an endpoint says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Evm(ChainId),
    /// By its genesis hash.
    Svm(String),
}

/// Returns what is to be indexed: a deployment for each chain that the endpoints are of. One endpoint with its
/// registries named is not asked anything yet.
pub async fn targets(options: &RunOptions) -> Result<Vec<Target>, CliError> {
    let book = address_book(options)?;
    let named = match (options.identity, options.program) {
        (Some(_), None) => named_evm(options).map(Contracts::Evm),
        (None, Some(program)) => Some(Contracts::Svm(program)),
        _ => None,
    };
    if let (None, [_], Some(contracts)) = (&book, options.rpc.as_slice(), named) {
        let (rpc, start) = (options.rpc.clone(), options.start);
        return Ok(vec![Target {
            rpc,
            contracts,
            start,
        }]);
    }
    let groups = by_chain(&options.rpc).await?;
    if options.chain.is_some() && groups.len() > 1 {
        let reason = "--chain names one chain, and the endpoints are of several";
        return Err(CliError::Usage(reason.to_owned()));
    }
    let mut targets = Vec::new();
    for (kind, rpc) in groups {
        targets.push(target(options, book.as_ref(), &kind, rpc).await?);
    }
    Ok(targets)
}

/// What is named on the command line needs no book, unless one is named as well.
fn address_book(options: &RunOptions) -> Result<Option<Book>, CliError> {
    let is_named = options.identity.is_some() || options.program.is_some();
    match (&options.address_book, is_named) {
        (Some(path), _) => Book::read(path).map(Some),
        (None, true) => Ok(None),
        (None, false) if Path::new(book::DEFAULT).exists() => {
            Book::read(Path::new(book::DEFAULT)).map(Some)
        }
        (None, false) => Err(CliError::Usage(format!(
            "which registries? Give --identity or --program, or --address-book; {} is not here",
            book::DEFAULT
        ))),
    }
}

/// Endpoints of one chain belong together. One that does not answer can only be another one of the only chain.
async fn by_chain(endpoints: &[String]) -> Result<Vec<(Kind, Vec<String>)>, CliError> {
    let mut groups: Vec<(Kind, Vec<String>)> = Vec::new();
    let mut silent = Vec::new();
    for url in endpoints {
        match kind_of(url).await {
            Ok(kind) => match groups.iter_mut().find(|(it, _)| *it == kind) {
                Some((_, urls)) => urls.push(url.clone()),
                None => groups.push((kind, vec![url.clone()])),
            },
            Err(error) => silent.push((url.clone(), error)),
        }
    }
    for (url, error) in silent {
        match groups.as_mut_slice() {
            [(_, urls)] => {
                eprintln!("not asked at first: {error}");
                urls.push(url);
            }
            _ => return Err(error.into()),
        }
    }
    Ok(groups)
}

async fn kind_of(url: &str) -> Result<Kind, ChainError> {
    let options = EndpointOptions::new(url);
    let refused = match Node::new(&options)?.chain_id().await {
        Ok(number) => return Ok(Kind::Evm(ChainId::parse(&format!("eip155:{number}"))?)),
        Err(refused) => refused,
    };
    let genesis = Cluster::new(&options)?.genesis_hash().await;
    genesis.map(Kind::Svm).map_err(|_| refused)
}

async fn target(
    options: &RunOptions,
    book: Option<&Book>,
    kind: &Kind,
    rpc: Vec<String>,
) -> Result<Target, CliError> {
    let (in_book, chain) = match (book, kind) {
        (None, Kind::Evm(chain)) => (None, chain.to_string()),
        (Some(book), Kind::Evm(chain)) => (book.find(chain)?, chain.to_string()),
        (None, Kind::Svm(genesis)) => (None, format!("the cluster {genesis}")),
        (Some(book), Kind::Svm(genesis)) => (
            on_cluster(book, &rpc).await?,
            format!("the cluster {genesis}"),
        ),
    };
    let named = match kind {
        Kind::Evm(_) => named_evm(options).map(Contracts::Evm),
        Kind::Svm(_) => options.program.map(Contracts::Svm),
    };
    let named = named.map(|contracts| (contracts, options.start));
    let Some((contracts, start)) = named.or(in_book) else {
        return Err(unnamed(&chain, kind, &Endpoint::new(&endpoint(&rpc))?));
    };
    Ok(Target {
        rpc,
        contracts,
        start,
    })
}

/// A URL may have a key in it, so that only hosts are shown.
fn unnamed(chain: &str, kind: &Kind, endpoint: &Endpoint) -> CliError {
    let option = match kind {
        Kind::Evm(_) => "--identity",
        Kind::Svm(_) => "--program",
    };
    let host = endpoint.host();
    CliError::Usage(format!(
        "{chain}, of {host}: which registries? Give {option}, or an --address-book that has them"
    ))
}

fn named_evm(options: &RunOptions) -> Option<RegistryAddresses> {
    options.identity.map(|identity| RegistryAddresses {
        identity,
        open_reputation: options.reputation,
        authorized_reputation: options.authorized,
        validation: options.validation,
    })
}

/// What the book has for the cluster of these endpoints.
async fn on_cluster(book: &Book, rpc: &[String]) -> Result<Option<(Contracts, u64)>, CliError> {
    let cluster = Cluster::new(&endpoint(rpc))?;
    for chain in book.chains() {
        let is_of_svm = chain.evm_number().is_err();
        if is_of_svm && cluster.require_chain(chain).await.is_ok() {
            return book.find(chain);
        }
    }
    Ok(None)
}

fn endpoint(rpc: &[String]) -> EndpointOptions {
    let mut urls = rpc.iter();
    let first = EndpointOptions::new(urls.next().cloned().unwrap_or_default());
    urls.fold(first, |it, url| it.with_fallback(url.clone()))
}

impl Target {
    /// Connects, and returns the deployment with the source of its events.
    pub async fn connect(
        &self,
        options: &RunOptions,
    ) -> Result<(Deployment, Box<dyn Source>), CliError> {
        let endpoint = endpoint(&self.rpc);
        match self.contracts {
            Contracts::Evm(registries) => {
                let (chain, node) = evm(options, &endpoint).await?;
                let deployment = self.deployment(&chain);
                Ok((
                    deployment,
                    Box::new(EvmSource::new(node, chain, registries)),
                ))
            }
            Contracts::Svm(program) => {
                let (chain, cluster) = svm(options, &endpoint, program).await?;
                let read_at = if options.confirmed {
                    ReadAt::Confirmed
                } else {
                    ReadAt::Finalized
                };
                let deployment = self.deployment(&chain);
                let source = SvmSource::new(cluster, chain, program, read_at);
                Ok((deployment, Box::new(source)))
            }
        }
    }

    fn deployment(&self, chain: &ChainId) -> Deployment {
        Deployment {
            chain: chain.clone(),
            contracts: self.contracts,
            start: self.start,
        }
    }
}

async fn evm(
    options: &RunOptions,
    endpoint: &EndpointOptions,
) -> Result<(ChainId, Node), CliError> {
    let node = Node::new(endpoint)?;
    let chain = match &options.chain {
        None => ChainId::parse(&format!("eip155:{}", node.chain_id().await?))?,
        Some(chain) => {
            node.require_chain(chain.evm_number()?).await?;
            chain.clone()
        }
    };
    Ok((chain, node))
}

async fn svm(
    options: &RunOptions,
    endpoint: &EndpointOptions,
    program: Address,
) -> Result<(ChainId, Cluster), CliError> {
    let cluster = Cluster::new(endpoint)?;
    let chain = match &options.chain {
        Some(chain) => chain.clone(),
        None => initialized_for(&cluster, program).await?,
    };
    cluster.require_chain(&chain).await?; // R9
    Ok((chain, cluster))
}

/// R9: the registry's account names its chain.
async fn initialized_for(cluster: &Cluster, program: Address) -> Result<ChainId, CliError> {
    let program = Program::new(program);
    let account = cluster.account(&program.registry()).await?;
    let registry = account
        .as_ref()
        .and_then(|it| program.find::<Registry>(&it.owner, &it.data).ok().flatten());
    let registry = registry.ok_or_else(|| {
        let id = program.id();
        CliError::Usage(format!("the program {id} has no registry on this cluster"))
    })?;
    Ok(ChainId::parse(&registry.chain)?)
}
