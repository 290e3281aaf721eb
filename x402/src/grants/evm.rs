use std::{sync::Arc, time::Duration};

use alloy::{
    primitives::{Address, B256, U256},
    signers::Signer,
};
use async_trait::async_trait;
use concord_canonical::{auth::EvmFeedbackAuth, caip::AccountId, word};
use concord_chain::evm::Node;
use concord_registry::evm::abi::{Feedback, IdentityRegistry as Identity};

use super::{GRANT_VALIDITY, expiry, failed};
use crate::server::{Grant, GrantIssuer, GrantRequest, SignerError};

/// Issues grants for agents of one identity registry on an EVM chain (R5 to R7). The key is the owner's, or
/// one whose signatures the owner's contract accepts (ERC-1271): prefer the second, because a web server that
/// holds the owner's key risks the agent itself.
pub struct EvmGrants {
    node: Node,
    chain_id: u64,
    identity: Address,
    reputation: Address,
    signer: Arc<dyn Signer + Send + Sync>,
    validity: Duration,
}

impl EvmGrants {
    /// Issues grants of a week for the authorized registry `reputation`.
    #[must_use]
    pub fn new(
        node: Node,
        chain_id: u64,
        identity: Address,
        reputation: Address,
        signer: Arc<dyn Signer + Send + Sync>,
    ) -> Self {
        Self {
            node,
            chain_id,
            identity,
            reputation,
            signer,
            validity: GRANT_VALIDITY,
        }
    }

    /// Another validity; never more than 30 days (R41).
    #[must_use]
    pub fn valid_for(self, validity: Duration) -> Self {
        Self { validity, ..self }
    }

    /// Whether the grant is for a client on this chain and an agent of this registry.
    fn serves(&self, request: &GrantRequest<'_>) -> bool {
        let network = format!("eip155:{}", self.chain_id);
        let registry = AccountId::parse(&request.registration.agent_registry);
        let address = registry
            .ok()
            .filter(|it| it.chain_id().to_string() == network)
            .and_then(|it| it.address().parse::<Address>().ok());
        request.network == network && address == Some(self.identity)
    }

    /// R7: the current owner is the signer.
    async fn owner(&self, agent_id: U256) -> Result<Address, SignerError> {
        let call = Identity::ownerOfCall { tokenId: agent_id };
        let read = self.node.read(self.identity, &call).await.map_err(failed)?;
        let owner = read.map_err(failed)?;
        let key = self.signer.address();
        let is_contract = !self.node.code(owner).await.map_err(failed)?.is_empty();
        if owner == key || is_contract {
            Ok(owner)
        } else {
            Err(failed(format!(
                "the agent's owner is {owner}, and the grant key is {key} (R7)"
            )))
        }
    }

    /// R41: the client's last index plus 1, as it is now.
    async fn index_limit(&self, agent_id: U256, client: Address) -> Result<u64, SignerError> {
        let call = Feedback::getLastIndexCall {
            agentId: agent_id,
            clientAddress: client,
        };
        let read = self.node.read(self.reputation, &call).await;
        let last = read.map_err(failed)?.map_err(failed)?;
        last.checked_add(1)
            .ok_or_else(|| failed("the client's index is at its maximum (R8)"))
    }
}

#[async_trait]
impl GrantIssuer for EvmGrants {
    async fn issue(&self, request: GrantRequest<'_>) -> Result<Option<Grant>, SignerError> {
        if !self.serves(&request) {
            return Ok(None);
        }
        let agent_id = request.registration.agent_id.as_str();
        let agent_id: U256 = agent_id.parse().map_err(failed)?;
        let client: Address = request.payer.parse().map_err(failed)?;
        let owner = self.owner(agent_id).await?;
        let index_limit = self.index_limit(agent_id, client).await?;
        let expiry = expiry(&request, self.validity);
        let fields = EvmFeedbackAuth {
            agent_id: agent_id.to_be_bytes(),
            client_address: client.into_array(),
            index_limit,
            expiry: word::from_u64(expiry),
            chain_id: word::from_u64(self.chain_id),
            identity_registry: self.identity.into_array(),
            signer_address: owner.into_array(),
        };
        let digest = fields.eip712_digest(&self.reputation.into_array());
        let signature = self.signer.sign_hash(&B256::from(digest)).await;
        let signature = signature.map_err(failed)?.normalized_s();
        Ok(Some(Grant {
            client: request.payer.to_owned(),
            index_limit,
            expiry,
            authorization: fields.blob(&signature.as_bytes()).to_vec(),
        }))
    }
}
