//! Keys that are decoded once and sign often.

use ed25519_dalek::Signer as _;
use k256::ecdsa;

use super::{PublicKey, secp256k1};
use crate::{Error, Word};

/// A secret key, ready to sign: nothing is derived per signature. Wiped from memory when it is dropped.
#[derive(Clone)]
pub enum PreparedKey {
    /// Signs as [`super::secp256k1_sign`].
    Secp256k1(ecdsa::SigningKey),
    /// Signs as [`super::ed25519_sign`].
    Ed25519(ed25519_dalek::SigningKey),
}

impl PreparedKey {
    /// Prepares a secp256k1 secret.
    ///
    /// # Errors
    /// [`Error::MalformedKey`]: the secret is zero or not below the group order.
    pub fn secp256k1(secret: &[u8; 32]) -> Result<Self, Error> {
        secp256k1::signing_key(secret).map(Self::Secp256k1)
    }

    /// Prepares a 32-byte RFC 8032 seed.
    #[must_use]
    pub fn ed25519(seed: &[u8; 32]) -> Self {
        Self::Ed25519(ed25519_dalek::SigningKey::from_bytes(seed))
    }

    /// The public key.
    #[must_use]
    pub fn public_key(&self) -> PublicKey {
        match self {
            Self::Secp256k1(key) => PublicKey::Secp256k1(secp256k1::public_key_of(key)),
            Self::Ed25519(key) => PublicKey::Ed25519(key.verifying_key().to_bytes()),
        }
    }

    /// Signs a 32-byte digest as it is (R23) and passes the signature on: 65 bytes of secp256k1, 64 of
    /// Ed25519.
    ///
    /// # Errors
    /// [`Error::MalformedKey`]: the key cannot sign this digest.
    pub fn sign<T>(&self, digest: &Word, use_bytes: impl FnOnce(&[u8]) -> T) -> Result<T, Error> {
        match self {
            Self::Secp256k1(key) => secp256k1::sign_with(key, digest).map(|it| use_bytes(&it)),
            Self::Ed25519(key) => Ok(use_bytes(&key.sign(digest).to_bytes())),
        }
    }
}

/// Never shows the secret.
impl core::fmt::Debug for PreparedKey {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("PreparedKey")
            .field(&self.public_key())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sign::{ed25519_public_key, ed25519_sign, secp256k1_public_key, secp256k1_sign};
    use proptest::prelude::*;
    use std::{format, vec::Vec};

    proptest! {
        #[test]
        fn r23_prepared_keys_sign_as_secrets_do(secret in any::<[u8; 32]>(), digest in any::<Word>()) {
            let key = PreparedKey::ed25519(&secret);
            prop_assert_eq!(key.public_key(), PublicKey::Ed25519(ed25519_public_key(&secret)));
            let signature = key.sign(&digest, <[u8]>::to_vec).unwrap();
            prop_assert_eq!(signature, ed25519_sign(&secret, &digest).to_vec());

            let key = PreparedKey::secp256k1(&secret).unwrap();
            let public = secp256k1_public_key(&secret).unwrap();
            prop_assert_eq!(key.public_key(), PublicKey::Secp256k1(public));
            let signature = key.sign(&digest, <[u8]>::to_vec).unwrap();
            prop_assert_eq!(signature, secp256k1_sign(&secret, &digest).unwrap().to_vec());
        }
    }

    #[test]
    fn refuse_secrets_outside_the_group() {
        for secret in [[0; 32], [0xff; 32]] {
            assert!(PreparedKey::secp256k1(&secret).is_err());
        }
    }

    #[test]
    fn secrets_are_not_shown() {
        let shown = format!("{:?}", PreparedKey::ed25519(&[7; 32]));
        let secret: Vec<_> = [7; 32].to_vec();
        assert!(shown.contains("Ed25519") && !shown.contains(&format!("{secret:?}")));
    }
}
