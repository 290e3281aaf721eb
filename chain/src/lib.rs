#![doc = include_str!("../README.md")]
mod amount;
pub mod atomic_file;
mod blocking;
mod bounded_body;
mod chain_id;
pub mod config;
mod endpoint;
mod error;
pub mod evm;
pub mod fetch;
pub mod keys;
pub mod network;
pub mod reviewers;
pub mod server;
mod signer;
pub mod stdout;
pub mod submission;
pub mod svm;

pub use amount::{Amount, Coin, Rounded};
pub use blocking::Blocking;
pub use chain_id::ChainId;
pub use endpoint::{Endpoint, EndpointOptions, Redaction, Refusable, RequestLimits, Retries};
pub use error::ChainError;
pub use signer::{Evm, Scheme, Signer, Svm};
