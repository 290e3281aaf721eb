//! Deploys Concord's registries: plan, apply, resume, verify, status, smoke.
//!
//! What is common to all chains is here: the [`Plan`] with its [`Step`]s, the [`RunFile`] that
//! records every transaction before and after it is sent, the [`AddressBook`], and the way from
//! one to the other ([`carry_out`]). A chain plugs in by implementing [`Target`].
mod address_book;
mod amount;
pub mod atomic_file;
mod carry_out;
mod chain_id;
mod check;
pub mod commands;
mod endpoint;
pub mod evm;
mod fault;
pub mod http;
pub mod keys;
pub mod network;
pub mod options;
mod plan;
mod redaction;
pub mod report;
pub mod run_file;
mod step;
pub mod svm;
mod target;
mod wanted;

pub use address_book::{AddressBook, Deployment, Other, Record};
pub use amount::{Amount, Coin};
pub use carry_out::{Patience, carry_out};
pub use chain_id::ChainId;
pub use check::{Check, Deed, Smoke, Standing};
pub use fault::{DIFFERS, DONE, Fault, REFUSED, STOPPED};
pub use plan::Plan;
pub use redaction::Redaction;
pub use run_file::RunFile;
pub use step::{Action, Needs, Step};
pub use target::{Answer, Attempt, Depth, Fate, Landing, Setting, Settings, Target};
