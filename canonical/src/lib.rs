//! Concord's one definition of every byte that an ERC-8004 registry hashes or signs.
//!
//! The Solidity contracts are tested against this crate, the Solana program calls it, and every
//! service builds its preimages with it. Nothing here talks to a chain.
//!
//! - No allocation is needed outside the features `alloc` and `json`.
//! - On `target_os = "solana"` the two hash functions are the runtime's system calls.
//! - Each function that hashes or signs states its preimage as a byte table: offset, width,
//!   endianness, field. `docs/CANONICAL-ENCODING.md` collects them.
//!
//! Rulings (`R8` and the like) are those of Concord's specification; `X402`, `BP`, `PROFILE`,
//! `X84` and `FS` are the five source documents it reconciles.

#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(test)]
extern crate std;

/// One 32-byte big-endian word: an ABI word, a hash, or a Solana public key.
pub type Word = [u8; 32];

pub mod auth;
pub mod caip;
pub mod error;
pub mod error_class;
pub mod feedback_id;
pub mod hash;
pub mod interaction;
pub mod limits;
pub mod payment;
pub mod pda;
pub mod receipt;
pub mod score;
pub mod summary;
pub mod tag;
#[cfg(test)]
mod testing;
pub mod validation;
pub mod value;
pub mod wallet;
pub mod word;

#[cfg(feature = "json")]
pub mod json;
#[cfg(feature = "sign")]
pub mod sign;

pub use error::Error;
pub use error_class::ErrorClass;
