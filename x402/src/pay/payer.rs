use alloy::{
    primitives::{Address, Signature},
    signers::Signer,
};
use async_trait::async_trait;
use concord_chain::ChainError;

use super::TransferAuthorization;

/// An account that pays: a key in memory, in a device, at a service or in another process.
#[async_trait]
pub trait Payer: Send + Sync {
    /// The account.
    fn address(&self) -> Address;

    /// Signs the authorization's EIP-712 message. A device may ask its owner, so this can take as long as a
    /// person does. It may be asked again for the same authorization, never for another one of the purchase.
    ///
    /// # Errors
    /// [`ChainError::NotSigned`] if the device or the service refuses.
    async fn sign(&self, transfer: &TransferAuthorization) -> Result<Signature, ChainError>;
}

/// Every signer of alloy: local keys, Ledger, AWS KMS.
#[async_trait]
impl<T: Signer + Send + Sync> Payer for T {
    fn address(&self) -> Address {
        Signer::address(self)
    }

    async fn sign(&self, transfer: &TransferAuthorization) -> Result<Signature, ChainError> {
        let (message, domain) = (transfer.message(), transfer.eip712_domain());
        let signed = self.sign_typed_data(&message, &domain).await;
        signed.map_err(|error| ChainError::NotSigned {
            signer: Signer::address(self).to_string(),
            reason: error.to_string(),
        })
    }
}
