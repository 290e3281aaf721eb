//! Verifies a purchase after it was paid: checks S1 to S11, in this order.
//!
//! [`verify`] reads nothing itself. Chains and files are read through [`Registries`], [`Payments`] and
//! [`RegistrationFiles`]; [`EvmChains`], [`SvmChains`] and both as [`Chains`] implement the first two. Every
//! step has a result, whatever the others found, and one of three states (R36): an unreachable node is never a
//! refusal, and never a success.

mod agent_reader;
mod chains;
mod check;
mod evm;
mod exchange;
mod payee;
mod reads;
mod report;
mod signer;
mod submission;
mod svm;
mod svm_transfers;

pub use chains::Chains;
pub use check::verify;
pub use evm::EvmChains;
pub(crate) use evm::request;
pub use exchange::PaidExchange;
pub use reads::{
    AgentRecord, FileError, Payment, Payments, Reads, RegistrationFiles, Registries, Transfer,
    Unavailable,
};
pub use report::{Class, Report, State, Step, StepResult};
pub use submission::verify_submission;
pub use svm::SvmChains;
