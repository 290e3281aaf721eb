use async_trait::async_trait;
use concord_canonical::{
    Word,
    sign::{PreparedKey, PublicKey},
};

/// Signs interaction hashes: a key in this process, another process, or a KMS.
#[async_trait]
pub trait ResponseSigner: Send + Sync {
    /// The key that signs. Its kind is the algorithm.
    fn public_key(&self) -> PublicKey;

    /// Signs 32 bytes as they are, without a prefix (R23): `r ‖ s ‖ v` with low s and v 0 or 1 for
    /// secp256k1, 64 bytes for Ed25519.
    ///
    /// # Errors
    /// [`SignerError`], in words that have no secret in them.
    async fn sign(&self, interaction_hash: &Word) -> Result<Vec<u8>, SignerError>;
}

/// Why a signer did not sign.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the signer did not sign: {0}")]
pub struct SignerError(pub String);

/// A key in this process, prepared once.
#[derive(Clone, Debug)]
pub struct LocalSigner(PreparedKey);

impl LocalSigner {
    /// Takes a prepared key.
    #[must_use]
    pub fn new(key: PreparedKey) -> Self {
        Self(key)
    }
}

#[async_trait]
impl ResponseSigner for LocalSigner {
    fn public_key(&self) -> PublicKey {
        self.0.public_key()
    }

    async fn sign(&self, interaction_hash: &Word) -> Result<Vec<u8>, SignerError> {
        let signature = self.0.sign(interaction_hash, <[u8]>::to_vec);
        signature.map_err(|error| SignerError(error.to_string()))
    }
}
