//! Chain-agnostic names: CAIP-2 chain ids, CAIP-10 account ids, and X402's task references.
//!
//! | name | form | source |
//! |---|---|---|
//! | chain id | `namespace:reference`, `[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}` | CAIP-2 |
//! | account id | `chain id:address`, address `[-.%a-zA-Z0-9]{1,128}` | CAIP-10 |
//! | task reference | `chain id:transaction`, transaction `[-_.%a-zA-Z0-9]{1,128}` | X402 §1, CAIP-220 |
//!
//! Two namespaces are held to their chains' own form:
//!
//! | namespace | reference | address | transaction |
//! |---|---|---|---|
//! | `eip155` | decimal, no leading zero | `0x` and 40 hex digits of either case | `0x` and 64 hex digits |
//! | `solana` | 32 base58 characters of the genesis hash, or `localnet` (R9) | base58 of 32 bytes | base58 of 64 bytes |

mod account_id;
mod chain_id;
mod task_ref;

pub use account_id::{AccountId, parse_evm_address, parse_solana_key};
pub use chain_id::ChainId;
pub use task_ref::{DedupeKey, TaskRef, check_task_ref_shape};

use crate::error::TextFault;

/// The namespace of EVM chains.
pub const EIP155: &str = "eip155";
/// The namespace of Solana clusters.
pub const SOLANA: &str = "solana";

/// Most base58 characters of `n` bytes are `n * 138 / 100 + 1`; 64 bytes take at most 88.
const BASE58_64_MAX: usize = 88;

/// Checks length (in bytes) and alphabet of one part.
fn check_part(
    text: &str,
    min: usize,
    max: usize,
    allows: impl Fn(u8) -> bool,
) -> Result<(), TextFault> {
    let length = text.len();
    if !(min..=max).contains(&length) {
        return Err(match length {
            0 => TextFault::Empty,
            _ => TextFault::Length { length, min, max },
        });
    }
    check_alphabet(text, allows)
}

/// Finds the first byte that the form does not allow.
fn check_alphabet(text: &str, allows: impl Fn(u8) -> bool) -> Result<(), TextFault> {
    match text.bytes().enumerate().find(|(_, byte)| !allows(*byte)) {
        Some((offset, byte)) => Err(TextFault::Character { byte, offset }),
        None => Ok(()),
    }
}

fn is_base58(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() && !matches!(byte, b'0' | b'O' | b'I' | b'l')
}

/// The `N` bytes of hex digits after `0x`.
fn parse_hex<const N: usize>(text: &str) -> Result<[u8; N], TextFault> {
    let digits = text.strip_prefix("0x").ok_or(TextFault::NoHexPrefix)?;
    check_alphabet(digits, |byte| byte.is_ascii_hexdigit())
        .map_err(|fault| shift_offset(fault, 2))?;
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    if pairs.len() != N || !rest.is_empty() {
        return Err(TextFault::Length {
            length: text.len(),
            min: 2 + 2 * N,
            max: 2 + 2 * N,
        });
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(pairs) {
        *byte = hex_digit(pair[0]) << 4 | hex_digit(pair[1]);
    }
    Ok(bytes)
}

/// Value of a hex digit that the alphabet check let through.
fn hex_digit(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => (digit | 0x20) - b'a' + 10,
    }
}

fn shift_offset(fault: TextFault, by: usize) -> TextFault {
    match fault {
        TextFault::Character { byte, offset } => TextFault::Character {
            byte,
            offset: offset + by,
        },
        other => other,
    }
}

/// The `N` bytes of base58 text.
fn parse_base58<const N: usize>(text: &str) -> Result<[u8; N], TextFault> {
    check_part(text, 1, BASE58_64_MAX, is_base58)?;
    let mut bytes = [0; N];
    match bs58::decode(text).onto(&mut bytes) {
        Ok(length) if length == N => Ok(bytes),
        _ => Err(TextFault::Base58Length { expected: N }),
    }
}

#[cfg(test)]
mod tests;
