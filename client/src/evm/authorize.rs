use alloy::{
    primitives::{B256, U256},
    signers::Signer,
};
use concord_canonical::{auth::EvmFeedbackAuth, wallet::AgentWalletSet, word};
use concord_chain::ChainId;
use concord_registry::evm::abi::IdentityRegistry as Identity;

use super::{
    EvmRegistries,
    calls::{address, agent_id},
};
use crate::{ClientError, FeedbackAuth, Kind, WalletConsent, operation::malformed};

impl EvmRegistries {
    /// Authorizes a client to give feedback about an agent until `expiry`, in unix seconds, while the client's last
    /// index is below `index_limit` (R5 to R8). `key` is the owner's, or one whose signatures the owner's contract
    /// accepts (ERC-1271).
    ///
    /// # Errors
    /// [`ClientError`] if the key does not count for the agent (R7).
    pub async fn authorize(
        &self,
        key: &(dyn Signer + Send + Sync),
        agent: &str,
        client: &str,
        bounds: (u64, u64),
    ) -> Result<FeedbackAuth, ClientError> {
        let (index_limit, expiry) = bounds;
        let reputation = self.reputation(Kind::Authorized)?;
        let agent_id = agent_id(agent)?;
        let owner = self.owner(agent_id).await?;
        if owner != key.address() && self.node.code(owner).await?.is_empty() {
            let expected = format!("{owner}, which owns the agent (R7)");
            return Err(malformed("key", &key.address().to_string(), &expected));
        }
        let fields = EvmFeedbackAuth {
            agent_id: agent_id.to_be_bytes(),
            client_address: address("client", client)?.into_array(),
            index_limit,
            expiry: word::from_u64(expiry),
            chain_id: word::from_u64(self.chain_id()?),
            identity_registry: self.addresses.identity.into_array(),
            signer_address: owner.into_array(),
        };
        let digest = fields.eip712_digest(&reputation.into_array());
        let signature = self.sign(key, digest).await?;
        Ok(FeedbackAuth {
            index_limit,
            expiry,
            authorization: format!("0x{}", hex::encode(fields.blob(&signature))),
        })
    }

    /// Lets a wallet consent to be paid for an agent (R3). `deadline`: unix seconds, at most 300 ahead of the
    /// chain's clock.
    ///
    /// # Errors
    /// [`ClientError`] if there is no such agent, or the key does not sign.
    pub async fn consent(
        &self,
        wallet: &(dyn Signer + Send + Sync),
        agent: &str,
        deadline: u64,
    ) -> Result<WalletConsent, ClientError> {
        let agent_id = agent_id(agent)?;
        let consent = AgentWalletSet {
            agent_id: agent_id.to_be_bytes(),
            new_wallet: wallet.address().into_array(),
            owner: self.owner(agent_id).await?.into_array(),
            deadline: word::from_u64(deadline),
        };
        let identity = self.addresses.identity.into_array();
        let digest = consent.digest(&word::from_u64(self.chain_id()?), &identity);
        let signature = self.sign(wallet, digest).await?;
        Ok(WalletConsent {
            deadline,
            signature: format!("0x{}", hex::encode(signature)),
        })
    }

    /// R7: the current owner.
    pub(super) async fn owner(
        &self,
        agent_id: U256,
    ) -> Result<alloy::primitives::Address, ClientError> {
        let call = Identity::ownerOfCall { tokenId: agent_id };
        self.ask(self.addresses.identity, &call).await
    }

    async fn sign(
        &self,
        key: &(dyn Signer + Send + Sync),
        digest: [u8; 32],
    ) -> Result<[u8; 65], ClientError> {
        let signature = key.sign_hash(&B256::from(digest)).await;
        let signature = signature.map_err(|error| self.refused(error.to_string()))?;
        Ok(signature.normalized_s().as_bytes())
    }

    fn chain_id(&self) -> Result<u64, ClientError> {
        let network: ChainId = self.network.parse()?;
        Ok(network.evm_number()?)
    }
}
