use std::collections::HashMap;

use alloy::primitives::{Address as EvmAddress, U256};
use async_trait::async_trait;
use concord_canonical::caip::{AccountId, SOLANA, parse_solana_key};
use concord_chain::{evm::Node, svm::Cluster};
use concord_files::RegistrationId;
use concord_registry::{
    evm::abi::IdentityRegistry,
    svm::{Address, Program, accounts::AgentIdentity},
};

use super::Unavailable;

/// Says who acts for an agent (R18).
#[async_trait]
pub trait Insiders: Send + Sync {
    /// Whether an account, CAIP-10, is the agent's owner, approved or operator on EVM, its owner or feedback
    /// authority on Solana.
    ///
    /// # Errors
    /// [`Unavailable`].
    async fn is_insider(&self, agent: &RegistrationId, account: &str) -> Result<bool, Unavailable>;
}

/// Asks the registries' own chains.
#[derive(Clone, Debug, Default)]
pub struct ChainInsiders {
    nodes: HashMap<String, Node>,
    clusters: HashMap<String, Cluster>,
}

impl ChainInsiders {
    /// Adds an EVM chain, CAIP-2.
    pub fn add_evm(&mut self, network: &str, node: Node) {
        self.nodes.insert(network.to_owned(), node);
    }

    /// Adds a Solana cluster, CAIP-2.
    pub fn add_svm(&mut self, network: &str, cluster: Cluster) {
        self.clusters.insert(network.to_owned(), cluster);
    }
}

fn unusable(error: impl ToString) -> Unavailable {
    Unavailable(error.to_string())
}

#[async_trait]
impl Insiders for ChainInsiders {
    async fn is_insider(&self, agent: &RegistrationId, account: &str) -> Result<bool, Unavailable> {
        let registry = AccountId::parse(&agent.agent_registry).map_err(unusable)?;
        let account = AccountId::parse(account).map_err(unusable)?;
        let namespace = registry.chain_id().namespace();
        if account.chain_id().namespace() != namespace {
            return Ok(false); // no account of one kind of chain acts on the other
        }
        let network = registry.chain_id().to_string();
        let missing = || Unavailable(format!("no node for {network} is configured"));
        if namespace == SOLANA {
            let cluster = self.clusters.get(&network).ok_or_else(missing)?;
            operates_on_svm(cluster, registry.address(), agent, account.address()).await
        } else {
            let node = self.nodes.get(&network).ok_or_else(missing)?;
            operates_on_evm(node, registry.address(), agent, account.address()).await
        }
    }
}

async fn operates_on_evm(
    node: &Node,
    registry: &str,
    agent: &RegistrationId,
    account: &str,
) -> Result<bool, Unavailable> {
    let registry: EvmAddress = registry.parse().map_err(unusable)?;
    let agent_id: U256 = agent.agent_id.as_str().parse().map_err(unusable)?;
    let call = IdentityRegistry::isAuthorizedOrOwnerCall {
        spender: account.parse().map_err(unusable)?,
        agentId: agent_id,
    };
    node.read(registry, &call).await?.map_err(Unavailable)
}

async fn operates_on_svm(
    cluster: &Cluster,
    registry: &str,
    agent: &RegistrationId,
    account: &str,
) -> Result<bool, Unavailable> {
    let key = |field, text| parse_solana_key(field, text).map(Address::from);
    let program = Program::new(key("agentRegistry", registry).map_err(unusable)?);
    let mint = key("agentId", agent.agent_id.as_str()).map_err(unusable)?;
    let account = key("reviewerAddress", account).map_err(unusable)?;
    let found = cluster.account(&program.agent(&mint)).await?;
    let gone = || Unavailable(format!("the agent {mint} was there a moment ago"));
    let found = found.ok_or_else(gone)?;
    let agent: Option<AgentIdentity> = program.find(&found.owner, &found.data).map_err(unusable)?;
    let agent = agent.ok_or_else(gone)?;
    Ok(account == agent.owner || account == agent.feedback_authority)
}
