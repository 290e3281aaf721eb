use concord_chain::{Signer, Svm};

use super::{
    SvmRegistries,
    instructions::{address, mint},
};
use crate::{ClientError, FeedbackAuth, operation::malformed};

impl SvmRegistries {
    /// Authorizes a client to give feedback about an agent until `expiry`, in unix seconds, while the client's last
    /// index is below `index_limit` (R8, R9). `key` is the agent's feedback authority, or its owner's if it has
    /// none (R7).
    ///
    /// # Errors
    /// [`ClientError`] if another key counts for the agent.
    pub async fn authorize(
        &self,
        key: &dyn Signer<Svm>,
        agent: &str,
        client: &str,
        bounds: (u64, u64),
    ) -> Result<FeedbackAuth, ClientError> {
        let (index_limit, expiry) = bounds;
        let (mint, client) = (mint(agent)?, address("client", client)?);
        let signer = self.authorization_signer(&mint).await?;
        if key.address() != signer {
            let found = key.address().to_string();
            let expected = format!("{signer}, which signs for the agent (R7)");
            return Err(malformed("key", &found, &expected));
        }
        let mut message = self.auth_message(mint, client, bounds, signer)?;
        let signature: [u8; 64] = key.sign(&mut message).await?.into();
        Ok(FeedbackAuth {
            index_limit,
            expiry,
            authorization: format!("0x{}", hex::encode(signature)),
        })
    }
}
