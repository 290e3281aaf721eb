use k256::{
    AffinePoint, ProjectivePoint, Scalar, U256,
    ecdsa::{Signature, SigningKey},
    elliptic_curve::{
        group::Group,
        ops::{Invert, LinearCombination, Reduce},
        point::DecompressPoint,
        sec1::ToEncodedPoint,
    },
};

use super::public_key::{compress, decode_point};
use crate::{Error, Word, hash::keccak256};

/// Bytes of r and s.
const SCALARS: usize = 64;

/// Signs a 32-byte digest as it is, with the nonce of RFC 6979 (R23).
///
/// | offset | width | field |
/// |---|---|---|
/// | 0 | 32 | r, big-endian |
/// | 32 | 32 | s, big-endian, at most half the group order |
/// | 64 | 1 | v, 0 or 1: whether R has an odd y |
///
/// # Errors
/// [`Error::MalformedKey`]: the secret is zero or not below the group order.
pub fn secp256k1_sign(secret: &[u8; 32], digest: &Word) -> Result<[u8; 65], Error> {
    sign_with(&signing_key(secret)?, digest)
}

/// As [`secp256k1_sign`], with a key that is decoded.
pub(super) fn sign_with(key: &SigningKey, digest: &Word) -> Result<[u8; 65], Error> {
    // RFC 6979 §2.3.4 reduces the digest before it enters the nonce; the library does not
    let reduced = reduce(digest).to_bytes();
    let (signature, id) = key
        .sign_prehash_recoverable(&reduced)
        .map_err(|_| unusable_secret())?;
    let mut bytes = [0; 65];
    bytes[..SCALARS].copy_from_slice(&signature.to_bytes());
    bytes[SCALARS] = recovery_byte(id.to_byte(), 0)?;
    Ok(bytes)
}

/// The compressed public key of a secret: 33 bytes, prefix 2 or 3.
///
/// # Errors
/// [`Error::MalformedKey`]: the secret is zero or not below the group order.
pub fn secp256k1_public_key(secret: &[u8; 32]) -> Result<[u8; 33], Error> {
    signing_key(secret).map(|key| public_key_of(&key))
}

/// The compressed public key of a decoded key.
pub(super) fn public_key_of(key: &SigningKey) -> [u8; 33] {
    compress(key.verifying_key().as_affine())
}

/// The key wipes itself when it is dropped.
pub(super) fn signing_key(secret: &[u8; 32]) -> Result<SigningKey, Error> {
    SigningKey::from_slice(secret).map_err(|_| unusable_secret())
}

fn unusable_secret() -> Error {
    Error::MalformedKey {
        field: "secret key",
        rule: "is zero or not below the group order of secp256k1",
    }
}

/// The digest as a number modulo the group order.
fn reduce(digest: &Word) -> Scalar {
    <Scalar as Reduce<U256>>::reduce_bytes(&(*digest).into())
}

/// Verifies `r ‖ s ‖ v` over a 32-byte digest for a signer: a public key of 33 or 65 bytes, or an
/// address of 20. All 65 bytes count: a wrong v is a wrong signature.
///
/// # Errors
/// - [`Error::KeyLength`], [`Error::MalformedKey`]: `signer` has another length or prefix, or is no
///   point of the curve;
/// - [`Error::SignatureLength`]: not 65 bytes;
/// - [`Error::RecoveryIdOutOfRange`]: v other than 0 and 1 (R23);
/// - [`Error::MalformedSignature`]: r or s zero or not below the group order, or high-s (R23);
/// - [`Error::BadSignature`]: the signature does not hold.
pub fn secp256k1_verify(signer: &[u8], digest: &Word, signature: &[u8]) -> Result<(), Error> {
    let holds = match <[u8; 20]>::try_from(signer) {
        Ok(address) => recover_address(digest, signature)? == address,
        Err(_) => {
            let key = decode_point(signer)?;
            recover_point(digest, signature)? == key
        }
    };
    holds.then_some(()).ok_or(BAD_SIGNATURE)
}

const BAD_SIGNATURE: Error = Error::BadSignature {
    algorithm: "secp256k1",
};

/// The Ethereum address whose key made `r ‖ s ‖ v` over a digest.
///
/// # Errors
/// As [`secp256k1_verify`] for a malformed signature; [`Error::BadSignature`]: no key could have
/// made it.
pub fn recover_address(digest: &Word, signature: &[u8]) -> Result<[u8; 20], Error> {
    recover_point(digest, signature).map(|point| address_of_point(&point))
}

/// The Ethereum address of a public key of 33 or 65 bytes: the last 20 bytes of `keccak256`.
///
/// | offset | width | hashed field |
/// |---|---|---|
/// | 0 | 32 | x, big-endian |
/// | 32 | 32 | y, big-endian |
///
/// # Errors
/// [`Error::KeyLength`], [`Error::MalformedKey`]: another length or prefix, or no point of the
/// curve.
pub fn address_of_public_key(public_key: &[u8]) -> Result<[u8; 20], Error> {
    decode_point(public_key).map(|point| address_of_point(&point))
}

fn address_of_point(point: &AffinePoint) -> [u8; 20] {
    let encoded = point.to_encoded_point(false);
    let hash = keccak256(&encoded.as_bytes()[1..]);
    let mut address = [0; 20];
    address.copy_from_slice(&hash[12..]);
    address
}

/// The same signature with Ethereum's v, 27 or 28: the form contracts take (R23).
///
/// # Errors
/// [`Error::RecoveryIdOutOfRange`]: v is not 0 or 1.
pub fn to_ethereum_v(signature: &[u8; 65]) -> Result<[u8; 65], Error> {
    let v = recovery_byte(signature[SCALARS], 0)?;
    Ok(with_v(signature, v + 27))
}

/// The same signature with v 0 or 1, from Ethereum's 27 or 28 (R23).
///
/// # Errors
/// [`Error::RecoveryIdOutOfRange`]: v is not 27 or 28.
pub fn from_ethereum_v(signature: &[u8; 65]) -> Result<[u8; 65], Error> {
    let v = recovery_byte(signature[SCALARS], 27)?;
    Ok(with_v(signature, v))
}

/// The low-s twin of `r ‖ s ‖ v`: where s was high, n − s, and v turned over.
///
/// # Errors
/// [`Error::MalformedSignature`]: r or s zero or not below the group order;
/// [`Error::RecoveryIdOutOfRange`]: v is not 0 or 1.
pub fn low_s(signature: &[u8; 65]) -> Result<[u8; 65], Error> {
    let v = recovery_byte(signature[SCALARS], 0)?;
    let Some(low) = decode_scalars(&signature[..SCALARS])?.normalize_s() else {
        return Ok(*signature);
    };
    let mut bytes = with_v(signature, v ^ 1);
    bytes[..SCALARS].copy_from_slice(&low.to_bytes());
    Ok(bytes)
}

fn with_v(signature: &[u8; 65], v: u8) -> [u8; 65] {
    let mut bytes = *signature;
    bytes[SCALARS] = v;
    bytes
}

/// `v - base`, which is 0 or 1.
fn recovery_byte(v: u8, base: u8) -> Result<u8, Error> {
    let allowed = if base == 0 { "0 or 1" } else { "27 or 28" };
    match v.checked_sub(base) {
        Some(id @ (0 | 1)) => Ok(id),
        _ => Err(Error::RecoveryIdOutOfRange { v, allowed }),
    }
}

/// R23: 65 bytes, v 0 or 1, low-s. Returns r and s, and v.
fn decode_signature(bytes: &[u8]) -> Result<(Signature, u8), Error> {
    let bytes: &[u8; 65] = bytes.try_into().map_err(|_| Error::SignatureLength {
        length: bytes.len(),
        limit: 65,
    })?;
    let v = recovery_byte(bytes[SCALARS], 0)?;
    let signature = decode_scalars(&bytes[..SCALARS])?;
    if signature.normalize_s().is_some() {
        return Err(Error::MalformedSignature {
            field: "s",
            rule: "is above half the group order",
        });
    }
    Ok((signature, v))
}

fn decode_scalars(bytes: &[u8]) -> Result<Signature, Error> {
    Signature::from_slice(bytes).map_err(|_| Error::MalformedSignature {
        field: "r or s",
        rule: "is zero or not below the group order",
    })
}

/// SEC 1 §4.1.6 for the one R that r and v name: the only key for which the signature holds, v
/// included. The library's own recovery verifies once more what recovery implies, at twice the cost.
fn recover_point(digest: &Word, signature: &[u8]) -> Result<AffinePoint, Error> {
    let (signature, y_is_odd) = decode_signature(signature)?;
    let (r, s) = signature.split_scalars();
    let point = AffinePoint::decompress(&r.to_bytes(), y_is_odd.into());
    let point = Option::<AffinePoint>::from(point).ok_or(BAD_SIGNATURE)?;
    let r_inverse = *r.invert_vartime();
    let key = ProjectivePoint::lincomb(
        &ProjectivePoint::GENERATOR,
        &-(reduce(digest) * r_inverse),
        &ProjectivePoint::from(point),
        &(*s * r_inverse),
    );
    if bool::from(key.is_identity()) {
        Err(BAD_SIGNATURE)
    } else {
        Ok(key.to_affine())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r23_an_unknown_v_is_refused_with_those_of_its_form() {
        let signed = |v| with_v(&[1; 65], v);
        for (error, v, expected) in [
            (to_ethereum_v(&signed(27)), 27, "0 or 1"),
            (to_ethereum_v(&signed(2)), 2, "0 or 1"),
            (from_ethereum_v(&signed(0)), 0, "27 or 28"),
            (from_ethereum_v(&signed(29)), 29, "27 or 28"),
        ] {
            let expected = Error::RecoveryIdOutOfRange {
                v,
                allowed: expected,
            };
            assert_eq!(error, Err(expected));
        }
    }
}
