//! What is to be indexed, as the command line says and the chain completes.
use super::{CliError, arguments::RunOptions};
use crate::{
    Contracts, Deployment,
    source::{
        Source,
        evm::EvmSource,
        svm::{ReadAt, SvmSource},
    },
};
use concord_chain::{ChainId, EndpointOptions, evm::Node, svm::Cluster};
use concord_registry::{
    evm::RegistryAddresses,
    svm::{Address, Program, accounts::Registry},
};

/// Connects, and returns the deployment with the source of its events.
pub async fn connect(options: &RunOptions) -> Result<(Deployment, Box<dyn Source>), CliError> {
    let mut urls = options.rpc.iter();
    let first = urls.next().cloned().unwrap_or_default();
    let endpoint = EndpointOptions::new(first);
    let endpoint = urls.fold(endpoint, |it, url| it.with_fallback(url.clone()));
    match (options.identity, options.program) {
        (Some(identity), _) => {
            let registries = RegistryAddresses {
                identity,
                open_reputation: options.reputation,
                authorized_reputation: options.authorized,
                validation: options.validation,
            };
            evm(options, &endpoint, registries).await
        }
        (None, Some(program)) => svm(options, &endpoint, program).await,
        (None, None) => Err(CliError::Usage("--identity or --program is missing".into())),
    }
}

async fn evm(
    options: &RunOptions,
    endpoint: &EndpointOptions,
    registries: RegistryAddresses,
) -> Result<(Deployment, Box<dyn Source>), CliError> {
    let node = Node::new(endpoint)?;
    let chain = match &options.chain {
        None => ChainId::parse(&format!("eip155:{}", node.chain_id().await?))?,
        Some(chain) => {
            node.require_chain(chain.evm_number()?).await?;
            chain.clone()
        }
    };
    let deployment = Deployment {
        chain: chain.clone(),
        contracts: Contracts::Evm(registries),
        start: options.start,
    };
    Ok((
        deployment,
        Box::new(EvmSource::new(node, chain, registries)),
    ))
}

async fn svm(
    options: &RunOptions,
    endpoint: &EndpointOptions,
    program: Address,
) -> Result<(Deployment, Box<dyn Source>), CliError> {
    let cluster = Cluster::new(endpoint)?;
    let chain = match &options.chain {
        Some(chain) => chain.clone(),
        None => initialized_for(&cluster, program).await?,
    };
    cluster.require_chain(&chain).await?; // R9
    let deployment = Deployment {
        chain: chain.clone(),
        contracts: Contracts::Svm(program),
        start: options.start,
    };
    let read_at = match options.confirmed {
        true => ReadAt::Confirmed,
        false => ReadAt::Finalized,
    };
    let source = SvmSource::new(cluster, chain, program, read_at);
    Ok((deployment, Box::new(source)))
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
