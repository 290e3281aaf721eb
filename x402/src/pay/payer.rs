use alloy::{
    primitives::{Address, Signature},
    signers::Signer,
};
use async_trait::async_trait;
use concord_canonical::sign::ed25519_verify;
use concord_chain::{ChainError, Svm};
use concord_files::RawJson;

use super::{Authorization, PayFault, TransferAuthorization, TransferTransaction};
use crate::wire::Offer;

/// An account on EVM chains that pays: a key in memory, in a device, at a service or in another process.
#[async_trait]
pub trait EvmPayer: Send + Sync {
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
impl<T: Signer + Send + Sync> EvmPayer for T {
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

/// The accounts of a buyer. Without one for an offer's chain, nothing is signed there.
#[derive(Clone, Copy, Default)]
pub struct Payers<'a> {
    /// On EVM chains.
    pub evm: Option<&'a dyn EvmPayer>,
    /// On Solana, where it signs the transaction's message.
    pub svm: Option<&'a dyn concord_chain::Signer<Svm>>,
}

impl<'a> Payers<'a> {
    /// Pays on EVM chains only.
    #[must_use]
    pub fn evm(payer: &'a dyn EvmPayer) -> Self {
        let evm = Some(payer);
        Self { evm, svm: None }
    }

    /// Pays on Solana only.
    #[must_use]
    pub fn svm(payer: &'a dyn concord_chain::Signer<Svm>) -> Self {
        let svm = Some(payer);
        Self { evm: None, svm }
    }

    /// The account that pays an offer.
    pub(super) fn address_for(&self, offer: &Offer) -> Result<String, PayFault> {
        let address = if offer.is_on(concord_canonical::caip::SOLANA) {
            self.svm.map(|it| it.address().to_string())
        } else {
            self.evm.map(|it| it.address().to_string())
        };
        address.ok_or_else(|| PayFault::NoPayer(offer.network.clone()))
    }

    /// Signs an authorization: the payment's `payload`; `None` if the authorization is damaged.
    pub(super) async fn sign(
        &self,
        authorization: &Authorization,
    ) -> Result<Option<RawJson>, PayFault> {
        let no_payer = || PayFault::NoPayer(authorization.network());
        match authorization {
            Authorization::Eip3009(transfer) => {
                let payer = self.evm.ok_or_else(no_payer)?;
                let signature = payer.sign(transfer).await?.normalized_s();
                require_payer_s(transfer, &signature)?;
                Ok(transfer.payload(&signature))
            }
            Authorization::SolanaTransaction(transfer) => {
                let payer = self.svm.ok_or_else(no_payer)?;
                sign_message(payer, transfer).await
            }
        }
    }
}

async fn sign_message(
    payer: &dyn concord_chain::Signer<Svm>,
    transfer: &TransferTransaction,
) -> Result<Option<RawJson>, PayFault> {
    let Some(message) = transfer.message_bytes() else {
        return Ok(None);
    };
    let signature = payer.sign(&mut message.clone()).await?;
    let expected = transfer.payer;
    match ed25519_verify(expected.as_ref(), &message, signature.as_ref()) {
        Ok(()) => Ok(transfer.payload(&signature)),
        Err(_) => Err(PayFault::SignedByAnother {
            found: "another key".to_owned(),
            expected: expected.to_string(),
        }),
    }
}

/// A signature of another account would only waste the seller's time.
fn require_payer_s(
    transfer: &TransferAuthorization,
    signature: &Signature,
) -> Result<(), PayFault> {
    let digest = transfer.digest();
    let found = signature.recover_address_from_prehash(&digest).ok();
    match found {
        Some(found) if found == transfer.from => Ok(()),
        found => Err(PayFault::SignedByAnother {
            found: found.map_or_else(|| "nobody".to_owned(), |it| it.to_string()),
            expected: transfer.from.to_string(),
        }),
    }
}
