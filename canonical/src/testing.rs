//! Fixtures of the unit tests: hex literals and the published test actors.

use crate::Word;
use std::vec::Vec;

/// Bytes of a hex literal.
pub(crate) fn bytes(hex: &str) -> Vec<u8> {
    hex::decode(hex).expect("hex literal")
}

/// A word of a 64-digit hex literal.
pub(crate) fn word(hex: &str) -> Word {
    bytes(hex).try_into().expect("64 hex digits")
}

/// An address of a 40-digit hex literal.
pub(crate) fn address(hex: &str) -> [u8; 20] {
    bytes(hex).try_into().expect("40 hex digits")
}

/// A Solana public key of its base58 text.
pub(crate) fn pubkey(text: &str) -> Word {
    let mut key = [0; 32];
    assert_eq!(bs58::decode(text).onto(&mut key), Ok(32));
    key
}
