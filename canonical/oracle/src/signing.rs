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

#[derive(Deserialize)]
pub(super) struct RecoverAddress {
    message: Word,
    signature: Bytes,
}

/// Between v 0 or 1 and Ethereum's 27 or 28 (R23).
#[derive(Deserialize)]
#[serde(rename = "direction", rename_all = "lowercase")]
pub(super) enum EthereumV {
    To { signature: Recoverable },
    From { signature: Recoverable },
}

#[derive(Deserialize)]
pub(super) struct LowS {
    signature: Recoverable,
}

#[derive(Deserialize)]
#[serde(rename = "algorithm", rename_all = "lowercase")]
pub(super) enum PublicKeyOfSecret {
    Secp256k1 { secret_key: Secret },
    Ed25519 { secret_key: Secret },
}

#[derive(Deserialize)]
pub(super) struct AddressOfPublicKey {
    public_key: Bytes,
}

/// r, s and v, in 65 bytes.
#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct Recoverable(Bytes);

impl Recoverable {
    fn bytes(&self) -> Result<&[u8; 65], Error> {
        let bytes = self.0.0.as_slice();
        bytes.try_into().map_err(|_| Error::SignatureLength {
            length: bytes.len(),
            limit: 65,
        })
    }
}

impl RecoverAddress {
    pub fn answer(&self) -> Answer {
        let address = keys::recover_address(&self.message.0, &self.signature.0)?;
        Ok(hex_json(&address))
    }
}

impl EthereumV {
    pub fn answer(&self) -> Answer {
        Ok(hex_json(&match self {
            Self::To { signature } => keys::to_ethereum_v(signature.bytes()?)?,
            Self::From { signature } => keys::from_ethereum_v(signature.bytes()?)?,
        }))
    }
}

impl LowS {
    pub fn answer(&self) -> Answer {
        Ok(hex_json(&keys::low_s(self.signature.bytes()?)?))
    }
}

impl PublicKeyOfSecret {
    pub fn answer(&self) -> Answer {
        Ok(match self {
            Self::Secp256k1 { secret_key } => {
                hex_json(&keys::secp256k1_public_key(secret_key.key()?)?)
            }
            Self::Ed25519 { secret_key } => hex_json(&keys::ed25519_public_key(secret_key.key()?)),
        })
    }
}

impl AddressOfPublicKey {
    pub fn answer(&self) -> Answer {
        let address = keys::address_of_public_key(&self.public_key.0)?;
        Ok(hex_json(&address))
    }
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
