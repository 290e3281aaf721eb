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
/// - [`Error::MalformedKey`]: it is not a canonical encoding of a point, or its order is small;
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

#[cfg(test)]
mod tests {
    use super::*;
    use curve25519_dalek::edwards::CompressedEdwardsY;

    /// Keys whose y is near 2^255: the library decides which of them are points.
    #[test]
    fn r23_a_y_is_below_the_field_s_prime() {
        let (mut points, mut reduced) = (0, 0);
        for (lowest, highest) in (0..=255).flat_map(|it| [(it, 0x7F), (it, 0xFF)]) {
            let mut bytes = [0xFF; 32];
            (bytes[0], bytes[31]) = (lowest, highest);
            let too_large = matches!(
                verifying_key(&bytes),
                Err(Error::MalformedKey {
                    rule: "has a y of 2^255 - 19 or more",
                    ..
                })
            );
            assert_eq!(too_large, lowest >= 0xED, "{lowest:#x} {highest:#x}");
            let point = CompressedEdwardsY(bytes).decompress();
            let is_point = point.is_some_and(|it| !it.is_small_order());
            points += u32::from(is_point && lowest < 0xED);
            reduced += u32::from(verifying_key(&bytes).is_ok());
        }
        assert_eq!(points, reduced);
        assert!(points > 100, "{points}");
    }

    #[test]
    fn r23_only_the_largest_y_are_compared_byte_by_byte() {
        for at in 1..31 {
            let mut bytes = [0xFF; 32];
            (bytes[at], bytes[31]) = (0xFE, 0x7F);
            assert!(y_is_reduced(&bytes), "{at}");
        }
        let mut bytes = [0xFF; 32];
        for highest in [0x7E, 0xFE] {
            bytes[31] = highest;
            assert!(y_is_reduced(&bytes), "{highest:#x}");
        }
    }
}
