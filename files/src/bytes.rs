//! Bytes that files write in hexadecimal.

use concord_canonical::{Word, sign::PublicKey};
use serde::{Serialize, Serializer};

/// Bytes, written in lower case after `0x`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(transparent))]
pub struct Bytes(#[cfg_attr(test, schemars(schema_with = "crate::schema::hex_bytes"))] pub Vec<u8>);

/// 32 bytes, written in lower case after `0x`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(transparent))]
pub struct HexWord(#[cfg_attr(test, schemars(schema_with = "crate::schema::hex_word"))] pub Word);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hexadecimal("0x", &self.0))
    }
}

impl Serialize for HexWord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hexadecimal("0x", &self.0))
    }
}

/// The bytes of a public key: 33 (compressed secp256k1) or 32 (Ed25519).
pub(crate) fn key_bytes(key: &PublicKey) -> &[u8] {
    match key {
        PublicKey::Secp256k1(bytes) => bytes,
        PublicKey::Ed25519(bytes) => bytes,
    }
}

/// A key as signed data writes it: with `0x`.
pub(crate) fn key_with_prefix<S: Serializer>(key: &PublicKey, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&hexadecimal("0x", key_bytes(key)))
}

/// A key as registration files write it: without `0x`.
pub(crate) fn key_without_prefix<S: Serializer>(key: &PublicKey, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&hexadecimal("", key_bytes(key)))
}

/// Faster than `hex::encode`, which collects characters: signers of many answers would notice.
fn hexadecimal(prefix: &str, bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| char::from(DIGITS[usize::from(nibble & 15)]);
    let mut text = String::with_capacity(prefix.len() + 2 * bytes.len());
    text.push_str(prefix);
    text.extend(
        bytes
            .iter()
            .flat_map(|byte| [digit(byte >> 4), digit(*byte)]),
    );
    text
}
