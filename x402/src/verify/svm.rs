use std::collections::HashMap;

use async_trait::async_trait;
use concord_canonical::{
    Word,
    caip::{AccountId, TaskRef, parse_solana_key},
};
use concord_chain::{
    ChainError, ChainId,
    svm::{Cluster, ExecutedTx},
};
use concord_files::RegistrationId;
use concord_registry::svm::{Address, Program, accounts::AgentIdentity, token::Mint};

use super::{
    reads::{AgentRecord, BETWEEN_TRIES, Payment, Payments, Registries, TRIES, Unavailable},
    svm_transfers,
};

/// Reads agents and payments on Solana clusters.
#[derive(Clone, Debug, Default)]
pub struct SvmChains {
    clusters: HashMap<String, Cluster>,
}

impl SvmChains {
    /// Adds a cluster, which must be the one that the chain id names.
    ///
    /// # Errors
    /// [`ChainError::WrongChain`], [`ChainError::Unreachable`].
    pub async fn add(&mut self, chain: &ChainId, cluster: Cluster) -> Result<(), ChainError> {
        cluster.require_chain(chain).await?;
        self.clusters.insert(chain.to_string(), cluster);
        Ok(())
    }

    pub(crate) fn cluster(&self, network: &str) -> Result<&Cluster, Unavailable> {
        let cluster = self.clusters.get(network);
        cluster.ok_or_else(|| Unavailable(format!("no node for {network} is configured")))
    }

    /// A registry's cluster and program, and the agent's mint.
    fn place(
        &self,
        registration: &RegistrationId,
    ) -> Result<(&Cluster, Program, Address), Unavailable> {
        let unusable = |error: concord_canonical::Error| Unavailable(error.to_string());
        let registry = AccountId::parse(&registration.agent_registry).map_err(unusable)?;
        let cluster = self.cluster(&registry.chain_id().to_string())?;
        let key = |field, text| parse_solana_key(field, text).map(Address::from);
        let program = key("agentRegistry", registry.address()).map_err(unusable)?;
        let mint = key("agentId", registration.agent_id.as_str()).map_err(unusable)?;
        Ok((cluster, Program::new(program), mint))
    }
}

#[async_trait]
impl Registries for SvmChains {
    /// A cluster keeps no earlier state: the agent as it is now, in no slot before `block`.
    async fn agent(
        &self,
        registration: &RegistrationId,
        block: Option<u64>,
    ) -> Result<Option<AgentRecord>, Unavailable> {
        let (cluster, program, mint) = self.place(registration)?;
        // both in one slot
        let addresses = [program.agent(&mint), mint];
        let (slot, found) = cluster.accounts_in_slot(&addresses, block).await?;
        let [Some(agent), Some(token)] = &found[..] else {
            return Ok(None);
        };
        let agent: Option<AgentIdentity> = program
            .find(&agent.owner, &agent.data)
            .map_err(|error| Unavailable(error.to_string()))?;
        let token = Mint::read(&token.owner, &token.data);
        let (Some(agent), Some(token)) = (agent, token) else {
            return Ok(None);
        };
        if token.supply == 0 {
            return Ok(None); // burned
        }
        Ok(Some(AgentRecord {
            wallet: agent.wallet().map(|it| it.to_string()),
            is_wallet_contract: false,
            uri: token.uri,
            block: slot,
        }))
    }

    /// ERC-1271 is Ethereum's.
    async fn is_signed_by_contract(
        &self,
        _: &RegistrationId,
        _: u64,
        _: &str,
        _: &Word,
        _: &[u8],
    ) -> Result<bool, Unavailable> {
        Ok(false)
    }
}

#[async_trait]
impl Payments for SvmChains {
    async fn payment(&self, task_ref: &str) -> Result<Option<Payment>, Unavailable> {
        let task_ref = TaskRef::parse(task_ref).map_err(|error| Unavailable(error.to_string()))?;
        let cluster = self.cluster(&task_ref.chain_id().to_string())?;
        let Some(executed) = patiently(cluster, task_ref.transaction()).await? else {
            return Ok(None);
        };
        let time = executed.block_time.and_then(|it| it.try_into().ok());
        let time = time.ok_or_else(|| Unavailable("the node has no time of the slot".into()))?;
        Ok(Some(Payment {
            succeeded: executed.meta.err.is_null(),
            block: Some(executed.slot),
            time,
            transfers: svm_transfers::read(cluster, &executed).await?,
        }))
    }
}

async fn patiently(cluster: &Cluster, signature: &str) -> Result<Option<ExecutedTx>, ChainError> {
    for _ in 1..TRIES {
        if let Some(found) = cluster.transaction(signature).await? {
            return Ok(Some(found));
        }
        tokio::time::sleep(BETWEEN_TRIES).await;
    }
    cluster.transaction(signature).await
}
