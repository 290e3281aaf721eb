//! Verifies a purchase after it was paid: checks S1 to S11, in this order.
//!
//! [`verify`] reads nothing itself. Chains and files are read through [`Registries`], [`Payments`] and
//! [`RegistrationFiles`]; [`EvmChains`], [`SvmChains`] and both as [`Chains`] implement the first two. Every
//! step has a result, whatever the others found, and one of three states (R36): an unreachable node is never a
//! refusal, and never a success.

#[cfg(feature = "network")]
mod agent_reader;
#[cfg(feature = "network")]
mod chains;
mod check;
#[cfg(feature = "network")]
mod evm;
mod exchange;
#[cfg(feature = "network")]
mod insiders;
mod payee;
mod reads;
mod report;
mod signer;
mod statement;
mod submission;
#[cfg(feature = "network")]
mod svm;
#[cfg(feature = "network")]
mod svm_transfers;
#[cfg(feature = "network")]
mod svm_wallets;
mod token_transfers;

pub use crate::account::is_same_address;
#[cfg(feature = "network")]
pub use chains::Chains;
pub use check::verify;
#[cfg(feature = "network")]
pub(crate) use check::{judged, signing_agent};
#[cfg(feature = "network")]
pub use evm::EvmChains;
#[cfg(feature = "network")]
pub use exchange::PaidExchange;
#[cfg(feature = "network")]
pub use insiders::{ChainInsiders, Insiders};
pub use reads::{
    AgentRecord, FileError, Payment, Payments, Reads, RegistrationFiles, Registries, Transfer,
    Unavailable,
};
pub use report::{Class, Report, State, Step, StepResult};
pub use statement::{AgentStatement, verify_statement};
pub use submission::verify_submission;
#[cfg(feature = "network")]
pub use svm::SvmChains;
#[cfg(feature = "network")]
pub use svm_wallets::{AgentPlace, WalletThen};
pub use token_transfers::{TokenBalance, TokenChanges, TokenHolder, TokenMove};
