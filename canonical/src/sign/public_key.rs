use k256::{
    AffinePoint, EncodedPoint,
    elliptic_curve::sec1::{FromEncodedPoint, ToEncodedPoint},
};

use crate::Error;

/// What the errors call a public key of either algorithm.
pub(super) const FIELD: &str = "public key";

/// A public key in one normal form, so that two keys are equal exactly when they are the same point
/// (R23): with `0x` or without, compressed or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PublicKey {
    /// Compressed SEC 1 encoding: prefix 2 or 3, then x big-endian.
    Secp256k1([u8; 33]),
    /// RFC 8032 encoding: y little-endian, the sign of x in the highest bit.
    Ed25519([u8; 32]),
}

impl PublicKey {
    /// From 32 bytes (Ed25519), or 33 or 65 bytes (secp256k1, SEC 1 compressed or uncompressed).
    ///
    /// # Errors
    /// - [`Error::KeyLength`]: another length;
    /// - [`Error::MalformedKey`]: another prefix, no point of the curve, a non-canonical encoding
    ///   or, for Ed25519, a point of small order.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        match bytes.len() {
            32 => super::ed25519::verifying_key(bytes).map(|key| Self::Ed25519(key.to_bytes())),
            33 | 65 => decode_point(bytes).map(|point| Self::Secp256k1(compress(&point))),
            length => Err(wrong_length(length)),
        }
    }

    /// From hexadecimal text of either case, with `0x` (X402's `agentSignerPublicKey`) or without
    /// (its `signers`).
    ///
    /// # Errors
    /// As [`Self::from_bytes`], and [`Error::MalformedKey`] for text that is not hexadecimal.
    pub fn from_hex(text: &str) -> Result<Self, Error> {
        let digits = text.strip_prefix("0x").unwrap_or(text).as_bytes();
        let mut bytes = [0; 65];
        let length = digits.len() / 2;
        if length > bytes.len() {
            return Err(wrong_length(length));
        }
        let malformed = Error::MalformedKey {
            field: FIELD,
            rule: "is not pairs of hexadecimal digits",
        };
        let (pairs, []) = digits.as_chunks() else {
            return Err(malformed);
        };
        for (byte, pair) in bytes.iter_mut().zip(pairs) {
            *byte = decode_pair(pair).ok_or(malformed)?;
        }
        Self::from_bytes(&bytes[..length])
    }
}

fn decode_pair(pair: &[u8; 2]) -> Option<u8> {
    let [high, low] = pair.map(|digit| char::from(digit).to_digit(16));
    u8::try_from(high? << 4 | low?).ok()
}

/// The point of a SEC 1 encoding; prefixes other than 2, 3 and 4 are refused.
pub(super) fn decode_point(bytes: &[u8]) -> Result<AffinePoint, Error> {
    let malformed = |rule| Error::MalformedKey { field: FIELD, rule };
    match (bytes.len(), bytes.first()) {
        (33, Some(2 | 3)) | (65, Some(4)) => {}
        (33, _) => return Err(malformed("does not begin with 02 or 03")),
        (65, _) => return Err(malformed("does not begin with 04")),
        (length, _) => return Err(wrong_length(length)),
    }
    EncodedPoint::from_bytes(bytes)
        .ok()
        .and_then(|encoded| AffinePoint::from_encoded_point(&encoded).into())
        .ok_or(malformed("is not a point of secp256k1"))
}

/// The SEC 1 compressed encoding of a point that is not the identity, as no decoded key is.
pub(super) fn compress(point: &AffinePoint) -> [u8; 33] {
    let mut bytes = [0; 33];
    let encoded = point.to_encoded_point(true);
    bytes[..encoded.len()].copy_from_slice(encoded.as_bytes());
    bytes
}

fn wrong_length(length: usize) -> Error {
    Error::KeyLength {
        field: FIELD,
        length,
        limit: "32 (Ed25519), 33 or 65 (secp256k1)",
    }
}
