#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

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
