//! Indexes Concord's registries, and the canonical ERC-8004 contracts, on EVM and Solana.
//!
//! ```text
//! source    a chain, asked for blocks of decoded events, with parent links
//!   └ fold  events to tables, purely, for each agent (R45)
//!      └ store  one SQL for two engines; one transaction for each batch
//!         └ query  agents, feedback, and summaries that equal the chain's to the digit (R47)
//!            └ api  the same over HTTP
//! ```
//!
//! [`Indexer`] joins the first three. The event log is the source of truth (R45): a reorganisation
//! deletes events and folds the touched agents again, and never inverts an event. What a registry's state
//! says is read beside its events: where they differ, the state wins, and the difference is reported.
//! Feedback indices count from 1 (R44).
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod api;
pub mod batch;
pub mod binding;
pub mod cli;
mod deployment;
mod error;
pub mod evidence;
pub mod fold;
mod indexer;
mod place;
pub mod query;
pub mod source;
pub mod state;
pub mod store;
pub mod table;

pub use concord_sql::StoreError;
pub use deployment::{Contracts, Deployment};
pub use error::{SourceError, SyncError};
pub use indexer::{Indexer, Options, Progress, READS};
pub use place::Place;
pub use query::ReviewersError;
