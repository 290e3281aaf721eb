use async_trait::async_trait;
use concord_canonical::{
    Word,
    caip::{AccountId, SOLANA, TaskRef},
};
use concord_files::RegistrationId;

use super::{AgentRecord, EvmChains, Payment, Payments, Registries, SvmChains, Unavailable};

/// Reads agents and payments on EVM chains and Solana clusters: an agent may be registered on one and paid on
/// the other (R27).
#[derive(Clone, Debug, Default)]
pub struct Chains {
    /// EVM chains.
    pub evm: EvmChains,
    /// Solana clusters.
    pub svm: SvmChains,
}

impl Chains {
    /// What reads the chain of a registry.
    fn registries(&self, registration: &RegistrationId) -> &dyn Registries {
        let registry = AccountId::parse(&registration.agent_registry);
        if registry.is_ok_and(|it| it.chain_id().namespace() == SOLANA) {
            &self.svm
        } else {
            &self.evm
        }
    }
}

#[async_trait]
impl Registries for Chains {
    async fn agent(
        &self,
        registration: &RegistrationId,
        block: Option<u64>,
    ) -> Result<Option<AgentRecord>, Unavailable> {
        self.registries(registration)
            .agent(registration, block)
            .await
    }

    async fn is_signed_by_contract(
        &self,
        registration: &RegistrationId,
        block: u64,
        wallet: &str,
        hash: &Word,
        signature: &[u8],
    ) -> Result<bool, Unavailable> {
        let registries = self.registries(registration);
        registries
            .is_signed_by_contract(registration, block, wallet, hash, signature)
            .await
    }
}

#[async_trait]
impl Payments for Chains {
    async fn payment(&self, task_ref: &str) -> Result<Option<Payment>, Unavailable> {
        let namespace = TaskRef::parse(task_ref).map(|it| it.chain_id().namespace() == SOLANA);
        if namespace.unwrap_or_default() {
            self.svm.payment(task_ref).await
        } else {
            self.evm.payment(task_ref).await
        }
    }
}
