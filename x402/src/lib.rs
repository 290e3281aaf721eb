//! X402's reputation extension `8004-reputation`: the wire, a server that signs its paid
//! responses, and a verifier of what was signed.
//!
//! - [`wire`]: x402's messages and headers, read within bounds.
//! - [`server`]: a tower layer around any x402 paywall.
//! - [`quote`]: the checks before a payment, P1 to P10, which need no key.
//! - [`pay`]: pays a checked offer once, with evidence on disk before any signed byte leaves.
//! - [`verify`]: the checks after a payment, S1 to S11.
//! - [`grants`]: lets who paid give one authorized feedback; off by default.
//! - [`feedback`]: rates a purchase, from its evidence, on the payment chain or another one.
//!
//! Without the default feature `network` there are [`wire`] and [`verify`] only, and nothing reads a chain or a host by itself.
//!
//! Rules (`R26` and the like) are those of Concord's specification; `X402` is one of the documents that it
//! reconciles.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod account;
#[cfg(feature = "cli")]
#[allow(missing_docs)]
pub mod cli;
#[cfg(feature = "network")]
pub mod feedback;
#[cfg(feature = "network")]
pub mod grants;
#[cfg(feature = "network")]
pub mod pay;
#[cfg(feature = "network")]
pub mod quote;
#[cfg(feature = "network")]
pub mod server;
pub mod verify;
pub mod wire;
