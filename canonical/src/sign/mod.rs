//! Signatures off chain (R23): secp256k1 over a 32-byte digest for eip155 addresses, Ed25519 over a
//! message for Solana ones.
//!
//! A signature or key that breaks its form is of class `MalformedSignature` or `MalformedKey`; a
//! well-formed signature that does not hold is of class `BadSignature`. No error carries a secret, and
//! the keys made of secrets are wiped from memory after use.

mod ed25519;
mod prepared;
mod public_key;
mod secp256k1;

pub use ed25519::{ed25519_public_key, ed25519_sign, ed25519_verify};
pub use prepared::PreparedKey;
pub use public_key::PublicKey;
pub use secp256k1::{
    address_of_public_key, from_ethereum_v, low_s, recover_address, secp256k1_public_key,
    secp256k1_sign, secp256k1_verify, to_ethereum_v,
};
