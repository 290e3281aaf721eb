//! Signing and verification. No message here repeats an argument.
use super::{
    Answer,
    reply::hex_json,
    types::{Bytes, Word},
};
use concord_canonical::{Error, sign as keys};
use serde::Deserialize;
use zeroize::Zeroize;

/// secp256k1 signs a digest of 32 bytes, Ed25519 a message of any length.
#[derive(Deserialize)]
#[serde(rename = "algorithm", rename_all = "lowercase")]
pub(super) enum Verify {
    Secp256k1 {
        message: Word,
        signature: Bytes,
        signer: Bytes,
    },
    Ed25519 {
        message: Bytes,
        signature: Bytes,
        signer: Bytes,
    },
}

/// A public key of either algorithm, in hex.
#[derive(Deserialize)]
pub(super) struct PublicKey<'a> {
    text: &'a str,
}

impl PublicKey<'_> {
    /// Its one normal form (R23).
    pub fn answer(&self) -> Answer {
        Ok(match keys::PublicKey::from_hex(self.text)? {
            keys::PublicKey::Secp256k1(key) => hex_json(&key),
            keys::PublicKey::Ed25519(key) => hex_json(&key),
        })
    }
}

#[derive(Deserialize)]
#[serde(rename = "algorithm", rename_all = "lowercase")]
pub(super) enum Sign {
    Secp256k1 { message: Word, secret_key: Secret },
    Ed25519 { message: Bytes, secret_key: Secret },
}

impl Verify {
    pub fn answer(&self) -> Answer {
        match self {
            Self::Secp256k1 {
                message,
                signature,
                signer,
            } => keys::secp256k1_verify(&signer.0, &message.0, &signature.0),
            Self::Ed25519 {
                message,
                signature,
                signer,
            } => keys::ed25519_verify(&signer.0, &message.0, &signature.0),
        }?;
        Ok(true.into())
    }
}

impl Sign {
    pub fn answer(&self) -> Answer {
        Ok(match self {
            Self::Secp256k1 {
                message,
                secret_key,
            } => hex_json(&keys::secp256k1_sign(secret_key.key()?, &message.0)?),
            Self::Ed25519 {
                message,
                secret_key,
            } => hex_json(&keys::ed25519_sign(secret_key.key()?, &message.0)),
        })
    }
}

/// Bytes that are overwritten when they are dropped.
#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct Secret(Bytes);

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.0.zeroize();
    }
}

impl Secret {
    fn key(&self) -> Result<&[u8; 32], Error> {
        let key = self.0.0.as_slice().try_into();
        key.map_err(|_| Error::KeyLength {
            field: "secret_key",
            length: self.0.0.len(),
            limit: "32",
        })
    }
}
