//! Signing and verification. No message here repeats an argument.
use super::{
    Answer,
    reply::hex_json,
    types::{Bytes, Word},
};
use concord_canonical::{Error, sign as keys};
use serde::Deserialize;

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

#[derive(Deserialize)]
#[serde(rename = "algorithm", rename_all = "lowercase")]
pub(super) enum Sign {
    Secp256k1 { message: Word, secret_key: Bytes },
    Ed25519 { message: Bytes, secret_key: Bytes },
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
            } => hex_json(&keys::secp256k1_sign(&key(secret_key)?, &message.0)?),
            Self::Ed25519 {
                message,
                secret_key,
            } => hex_json(&keys::ed25519_sign(&key(secret_key)?, &message.0)),
        })
    }
}

fn key(secret: &Bytes) -> Result<[u8; 32], Error> {
    let key = secret.0.as_slice().try_into();
    key.map_err(|_| Error::KeyLength {
        field: "secret_key",
        length: secret.0.len(),
        limit: "32",
    })
}
