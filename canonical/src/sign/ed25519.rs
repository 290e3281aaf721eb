use curve25519_dalek::Scalar;
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};

use super::public_key::FIELD;
use crate::Error;

/// Signs a message of any length with a 32-byte RFC 8032 seed; deterministic.
///
/// | offset | width | field |
/// |---|---|---|
/// | 0 | 32 | R, a compressed point |
/// | 32 | 32 | S, a scalar below the group order, little-endian |
#[must_use]
pub fn ed25519_sign(seed: &[u8; 32], message: &[u8]) -> [u8; 64] {
    SigningKey::from_bytes(seed).sign(message).to_bytes()
}

/// The public key of a 32-byte RFC 8032 seed.
#[must_use]
pub fn ed25519_public_key(seed: &[u8; 32]) -> [u8; 32] {
    SigningKey::from_bytes(seed).verifying_key().to_bytes()
}

/// Verifies strictly (R23): neither the key nor R may have small order, and each has one encoding.
///
/// # Errors
/// - [`Error::KeyLength`]: `public_key` is not 32 bytes;
/// - [`Error::MalformedKey`]: it is no canonical encoding of a point, or its order is small;
/// - [`Error::SignatureLength`]: `signature` is not 64 bytes;
/// - [`Error::MalformedSignature`]: S is not below the group order;
/// - [`Error::BadSignature`]: the signature does not hold.
pub fn ed25519_verify(public_key: &[u8], message: &[u8], signature: &[u8]) -> Result<(), Error> {
    let key = verifying_key(public_key)?;
    let signature = decode_signature(signature)?;
    let bad = |_| Error::BadSignature {
        algorithm: "ed25519",
    };
    key.verify_strict(message, &signature).map_err(bad)
}

/// R23: a canonical encoding of a point whose order is not small.
pub(super) fn verifying_key(bytes: &[u8]) -> Result<VerifyingKey, Error> {
    let bytes: &[u8; 32] = bytes.try_into().map_err(|_| Error::KeyLength {
        field: FIELD,
        length: bytes.len(),
        limit: "32",
    })?;
    let malformed = |rule| Error::MalformedKey { field: FIELD, rule };
    if !y_is_reduced(bytes) {
        return Err(malformed("has a y of 2^255 - 19 or more"));
    }
    match VerifyingKey::from_bytes(bytes) {
        Ok(key) if key.is_weak() => Err(malformed("is an Ed25519 point of small order")),
        Ok(key) => Ok(key),
        Err(_) => Err(malformed("is not a point of edwards25519")),
    }
}

/// Whether y < 2^255 − 19 (RFC 8032 §5.1.3, step 1), which the library does not ask.
fn y_is_reduced(bytes: &[u8; 32]) -> bool {
    let [lowest, middle @ .., highest] = bytes;
    let above = highest & 0x7F == 0x7F && middle.iter().all(|byte| *byte == 0xFF);
    !above || *lowest < 0xED
}

fn decode_signature(bytes: &[u8]) -> Result<Signature, Error> {
    let signature = Signature::from_slice(bytes).map_err(|_| Error::SignatureLength {
        length: bytes.len(),
        limit: 64,
    })?;
    // R23: S + L would sign the same message.
    let scalar = Scalar::from_canonical_bytes(*signature.s_bytes());
    Option::from(scalar.map(|_| signature)).ok_or(Error::MalformedSignature {
        field: "S",
        rule: "is not below the group order",
    })
}
