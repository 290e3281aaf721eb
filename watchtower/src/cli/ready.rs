//! From a configuration to a watchtower: keys are opened and chains connected.
use std::{path::PathBuf, sync::Arc, time::Duration};

use concord_chain::{
    ChainId, EndpointOptions,
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

use super::{
    CliError,
    config::{Config, EvmConfig, SolanaConfig},
};
use crate::{Budget, OwnAccounts, Prober, Publisher, RevenueSource, Store, Watch};

/// A watchtower that is ready to work.
pub(super) struct Ready {
    pub watch: Watch,
    pub publishers: Vec<Publisher>,
    pub files: Arc<dyn FileStore>,
    /// The list, and the tokens that count as a dollar.
    pub revenues: Option<(RevenueSource, Vec<String>)>,
}

impl Config {
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
    pub(super) async fn ready(&self, store: Store) -> Result<Ready, CliError> {
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

    /// The operator's own service may be in the operator's own network.
    fn revenues(&self) -> Result<Option<(RevenueSource, Vec<String>)>, CliError> {
        let Some(config) = &self.revenues else {
            return Ok(None);
        };
        let is_url = ["https://", "http://"]
            .iter()
            .any(|it| config.source.starts_with(it));
        let source = if is_url {
            let options = FetchOptions {
                allow_http: true,
                allow_private: true,
                redirects: 0,
                ..FetchOptions::default()
            };
            let fetcher = Fetcher::new(options);
            let fetcher = fetcher.map_err(|error| CliError::Usage(error.to_string()))?;
            RevenueSource::Url(config.source.clone(), fetcher)
        } else {
            RevenueSource::File(PathBuf::from(&config.source))
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
        let limit = FeeLimit::parse(Some(&self.max_fee));
        let expected = "expected a number of gwei with at most 9 decimals"; // DEP-66
        let limit = limit.map_err(|_| usage("maxFee", &expected))?;
        let confirmations: Result<Confirmations, String> = self.confirmations.parse();
        let confirmations = confirmations.map_err(|error| usage("confirmations", &error))?;
        let addresses = evm::RegistryAddresses::open(self.identity, self.reputation);
        let fees = (limit, confirmations);
        let signer = Box::new(signer);
        let connected =
            EvmRegistry::connect(node, chain, addresses, signer, fees, Timing::UNHURRIED);
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
            let field = format!("chains.{chain}.solana.program");
            CliError::Usage(format!("{field}: expected an address in base58")) // DEP-66
        })?;
        let program = Program::new(id);
        let signer = Box::new(read_keypair(&self.keypair)?);
        let fee = PriorityFee {
            first: 0,
            most: self.max_priority_fee,
        };
        let connected =
            SvmRegistry::connect(cluster, chain, program, signer, fee, Timing::UNHURRIED);
        Ok(Box::new(connected.await?))
    }
}
