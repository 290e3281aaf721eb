//! Deploys Concord's registries: plan, apply, resume, verify, status.
//!
//! What all chains share is here: the [`Plan`] with its [`Step`]s, the [`RunFile`] that records
//! every transaction before and after it is sent, and the [`AddressBook`]. A chain plugs in by
//! implementing [`Target`]. Endpoints, keys and the sending of transactions are `concord-chain`'s.
mod address_book;
mod check;
pub mod commands;
mod error;
pub mod evm;
pub mod options;
mod plan;
pub mod registry;
pub mod report;
mod run_file;
mod source_commit;
mod step;
pub mod svm;
mod target;
mod target_request;

pub use address_book::{AddressBook, Deployment, Other, Record, RegistrySettings, Replaced};
pub use check::{Check, StatusRow};
pub use error::{DIFFERS, DONE, DeployError, REFUSED, STOPPED};
pub use plan::Plan;
pub use run_file::{RunFile, lock_run};
pub use step::{Action, Needs, RawAccount, RawInstruction, Step, UnsignedTx};
pub use target::{Setting, Settings, Target};
