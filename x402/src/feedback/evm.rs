use async_trait::async_trait;
use concord_chain::{
    Amount, ChainId, Evm, Signer,
    evm::{Confirmations, FeeLimit, Node},
    submission::{Timing, TxRecord},
};
use concord_client::{EvmAccount, EvmRegistries};
use concord_registry::evm::RegistryAddresses;

use super::{
    FeedbackError, FeedbackJob, PaymentAttestation, Submission,
    account_registry::{AccountRegistry, ReviewAccount},
};

/// The reputation registries of one deployment on an EVM chain, and the account that submits.
pub type EvmRegistry = AccountRegistry<EvmAccount>;

impl EvmRegistry {
    /// Connects to a node, which must be of this chain.
    ///
    /// # Errors
    /// [`FeedbackError::Chain`].
    pub async fn connect(
        node: Node,
        network: &ChainId,
        addresses: RegistryAddresses,
        signer: Box<dyn Signer<Evm>>,
        fees: (FeeLimit, Confirmations),
        timing: Timing,
    ) -> Result<Self, FeedbackError> {
        let registries = EvmRegistries::new(node, network, addresses);
        Ok(Self {
            account: EvmAccount::connect(registries, signer, fees, timing).await?,
            network: network.to_string(),
        })
    }
}

#[async_trait]
impl ReviewAccount for EvmAccount {
    async fn most(&self, network: &str, submission: &Submission) -> Result<Amount, FeedbackError> {
        Ok(self.cost(&submission.operation(network)?).await?)
    }

    /// Declared variance 4: on EVM the payment is in the feedback file.
    async fn attach(
        &mut self,
        (network, _index): (&str, u64),
        _job: FeedbackJob<'_>,
        _attestation: &PaymentAttestation,
        _record: &mut (dyn TxRecord + Sync),
    ) -> Result<(), FeedbackError> {
        Err(FeedbackError::Registry {
            network: network.to_owned(),
            reason: "payment proofs exist on Solana only".to_owned(),
        })
    }
}
