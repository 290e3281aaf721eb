use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use concord_canonical::{auth::SvmFeedbackAuth, caip::ChainId};
use concord_chain::{Signer, Svm, svm::Cluster};
use concord_registry::svm::{
    Address, Program,
    accounts::{AgentIdentity, ClientIndex},
};

use super::{GRANT_VALIDITY, expiry, failed};
use crate::server::{Grant, GrantIssuer, GrantRequest, SignerError};

/// Issues grants for agents of the program on one Solana cluster (R7, R9). The key is the agent's feedback
/// authority, or its owner's if no authority is set: set one, and keep the owner's key off the web server.
pub struct SvmGrants {
    cluster: Cluster,
    network: String,
    program: Program,
    signer: Arc<dyn Signer<Svm>>,
    validity: Duration,
}

impl SvmGrants {
    /// Issues grants of a week. `network` is the CAIP-2 id that the registry was initialized with.
    #[must_use]
    pub fn new(
        cluster: Cluster,
        network: &str,
        program: Program,
        signer: Arc<dyn Signer<Svm>>,
    ) -> Self {
        Self {
            cluster,
            network: network.to_owned(),
            program,
            signer,
            validity: GRANT_VALIDITY,
        }
    }

    /// Another validity; never more than 30 days (R41).
    #[must_use]
    pub fn valid_for(self, validity: Duration) -> Self {
        Self { validity, ..self }
    }

    /// R7: exactly one key counts.
    async fn require_signer(&self, mint: &Address) -> Result<Address, SignerError> {
        let account = self.cluster.account(&self.program.agent(mint)).await;
        let account = account.map_err(failed)?;
        let account = account.ok_or_else(|| failed(format!("there is no agent {mint}")))?;
        let agent: AgentIdentity = (self.program)
            .decode(&account.owner, &account.data)
            .map_err(failed)?;
        let (expected, key) = (agent.authorization_signer(), self.signer.address());
        if expected == key {
            Ok(key)
        } else {
            Err(failed(format!(
                "{expected} signs for the agent, and the grant key is {key} (R7)"
            )))
        }
    }

    /// R41: the client's last index plus 1, as it is now.
    async fn index_limit(&self, mint: &Address, client: &Address) -> Result<u64, SignerError> {
        let address = self.program.client_index(mint, client);
        let account = self.cluster.account(&address).await.map_err(failed)?;
        let last = match account {
            None => 0,
            Some(account) => {
                let found = self.program.find(&account.owner, &account.data);
                let found: Option<ClientIndex> = found.map_err(failed)?;
                found.map_or(0, |it| it.last_index)
            }
        };
        last.checked_add(1)
            .ok_or_else(|| failed("the client's index is at its maximum (R8)"))
    }
}

#[async_trait]
impl GrantIssuer for SvmGrants {
    async fn issue(&self, request: GrantRequest<'_>) -> Result<Option<Grant>, SignerError> {
        let registry = format!("{}:{}", self.network, self.program.id());
        if request.network != self.network || request.registration.agent_registry != registry {
            return Ok(None);
        }
        let mint = request.registration.agent_id.as_str();
        let mint: Address = mint.parse().map_err(failed)?;
        let client: Address = request.payer.parse().map_err(failed)?;
        let signer = self.require_signer(&mint).await?;
        let index_limit = self.index_limit(&mint, &client).await?;
        let expiry = expiry(&request, self.validity);
        let chain = ChainId::parse(&self.network).map_err(failed)?;
        let mut message = SvmFeedbackAuth {
            agent_mint: mint.to_bytes(),
            client: client.to_bytes(),
            index_limit,
            expiry,
            chain: chain.hash(),
            program_id: self.program.id().to_bytes(),
            signer: signer.to_bytes(),
        }
        .message();
        let signature = self.signer.sign(&mut message).await.map_err(failed)?;
        let signature: [u8; 64] = signature.into();
        Ok(Some(Grant {
            client: request.payer.to_owned(),
            index_limit,
            expiry,
            authorization: signature.to_vec(),
        }))
    }
}
