//! Checks an offer before any money moves: P1 to P10, in this order. The first failure ends it.
//!
//! [`quote`] holds no key and cannot sign: whatever it refuses, nothing has been signed.

mod check;
mod elsewhere;
mod erc8478;
mod files;
mod known_registries;
mod origin;
mod policy;
mod refusal;

pub use check::{Asked, OriginProofs, Quote, QuoteReads, WalletState, quote};
pub use elsewhere::registered_elsewhere;
pub use files::FetchedFiles;
pub use known_registries::{AddressBookMalformed, KnownRegistries};
pub use origin::Origin;
pub use policy::{Allowance, SpendPolicy};
pub use refusal::{PreClass, PreStep, Refusal};
