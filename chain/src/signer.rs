//! Who signs transactions, wherever the key is.
use crate::ChainError;
use alloy::{
    consensus::SignableTransaction,
    network::TxSigner,
    primitives::{Address as EvmAddress, Signature as EvmSignature},
};
use async_trait::async_trait;
use solana_address::Address as SvmAddress;
use solana_keypair::Keypair;
use solana_signature::Signature as SvmSignature;

/// A kind of chain: what its addresses, transactions and signatures are.
pub trait Scheme: Send + Sync + 'static {
    /// An account's address.
    type Address: Copy + Eq + std::fmt::Display + Send + Sync;
    /// What is signed. A hardware wallet shows it, so it is the transaction and not a hash.
    type Payload: ?Sized + Send;
    /// What a key makes of a payload.
    type Signature;
}

/// Chains of the namespace `eip155`.
#[derive(Clone, Copy, Debug)]
pub enum Evm {}

/// Clusters of the namespace `solana`.
#[derive(Clone, Copy, Debug)]
pub enum Svm {}

impl Scheme for Evm {
    type Address = EvmAddress;
    type Payload = dyn SignableTransaction<EvmSignature>;
    type Signature = EvmSignature;
}

impl Scheme for Svm {
    type Address = SvmAddress;
    /// A serialized message.
    type Payload = [u8];
    type Signature = SvmSignature;
}

/// A key that signs transactions: in memory, in a device, or at a service.
#[async_trait]
pub trait Signer<S: Scheme>: Send + Sync {
    /// Returns the account that the key controls.
    fn address(&self) -> S::Address;

    /// Signs a transaction. A device may ask its owner, so this can take as long as a person does.
    ///
    /// # Errors
    /// [`ChainError::NotSigned`] if the device or the service refuses.
    async fn sign(&self, payload: &mut S::Payload) -> Result<S::Signature, ChainError>;
}

/// Every signer of alloy: local keys, Ledger, AWS KMS.
#[async_trait]
impl<T: TxSigner<EvmSignature> + Send + Sync> Signer<Evm> for T {
    fn address(&self) -> EvmAddress {
        TxSigner::address(self)
    }

    async fn sign(
        &self,
        payload: &mut (dyn SignableTransaction<EvmSignature> + 'static),
    ) -> Result<EvmSignature, ChainError> {
        let signed = self.sign_transaction(payload).await;
        signed.map_err(|error| ChainError::NotSigned {
            signer: TxSigner::address(self).to_string(),
            reason: error.to_string(),
        })
    }
}

#[async_trait]
impl Signer<Svm> for Keypair {
    fn address(&self) -> SvmAddress {
        solana_signer::Signer::pubkey(self)
    }

    async fn sign(&self, payload: &mut [u8]) -> Result<SvmSignature, ChainError> {
        Ok(solana_signer::Signer::sign_message(self, payload))
    }
}
