#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod account;
mod client;
mod document;
mod error;
mod evm;
mod index;
mod operation;
mod outcome;
mod pinning;
mod reads;
mod record;
mod store;
mod summary;
mod svm;

pub use account::Account;
pub use client::Client;
pub use concord_chain::reviewers::{Reviewers, ReviewersError};
pub use document::{Document, Review};
pub use error::{ClientError, OperationError, Sent};
pub use evm::{EvmAccount, EvmRegistries};
pub use index::{IndexClient, IndexError, Page, ReputationFilter};
pub use operation::{
    Feedback, FeedbackAuth, Kind, Operation, Rating, Registration, Response, Revocation,
    ValidationAnswer, ValidationRequest, WalletConsent, WalletSetting,
};
pub use outcome::{FeedbackRef, Given, Outcome, Registered};
pub use pinning::PinnedFiles;
pub use reads::{Agent, FeedbackState, Registries, StoredRating, Tags, Tallies};
pub use store::{FileFolder, FileStore, cid_of};
pub use summary::{ScoreSummary, Stated, Weighting, summarize, summarize_authorized};
pub use svm::{SvmAccount, SvmRegistries};
