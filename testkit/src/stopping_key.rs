//! A key that stops its process when it has signed. The suites of other crates use it too.
use crate::errand::stop;
use alloy::{
    consensus::SignableTransaction,
    primitives::{Address as EvmAddress, Signature as EvmSignature},
};
use async_trait::async_trait;
use concord_chain::{
    ChainError, Evm, Signer, Svm,
    keys::{Keypair, PrivateKeySigner},
};
use concord_registry::svm::Address;
use solana_signature::Signature;

pub struct StoppingKey<K> {
    pub key: K,
    pub stops: bool,
}

impl<K> StoppingKey<K> {
    fn signed<S>(&self, signature: S) -> S {
        if self.stops { stop() } else { signature }
    }
}

#[async_trait]
impl Signer<Evm> for StoppingKey<PrivateKeySigner> {
    fn address(&self) -> EvmAddress {
        Signer::<Evm>::address(&self.key)
    }

    async fn sign(
        &self,
        transaction: &mut (dyn SignableTransaction<EvmSignature> + 'static),
    ) -> Result<EvmSignature, ChainError> {
        let signature = Signer::<Evm>::sign(&self.key, transaction).await?;
        Ok(self.signed(signature))
    }
}

#[async_trait]
impl Signer<Svm> for StoppingKey<Keypair> {
    fn address(&self) -> Address {
        Signer::<Svm>::address(&self.key)
    }

    async fn sign(&self, message: &mut [u8]) -> Result<Signature, ChainError> {
        let signature = Signer::<Svm>::sign(&self.key, message).await?;
        Ok(self.signed(signature))
    }
}
