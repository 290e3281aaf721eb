//! Checks an offer before any money moves: P1 to P10, in this order. The first failure ends it.
//!
//! [`quote`] holds no key and cannot sign: whatever it refuses, nothing has been signed.

mod check;
mod files;
mod origin;
mod policy;
mod refusal;

pub use check::{Asked, OriginProofs, Quote, QuoteReads, WalletState, quote};
pub use files::FetchedFiles;
pub use origin::Origin;
pub use policy::{Allowance, KnownRegistries, SpendPolicy};
pub use refusal::{PreClass, PreStep, Refusal};
