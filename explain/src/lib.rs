//! Why a feedback can be believed: every step from the transaction to the payment, each VERIFIED, REFUTED,
//! CLAIMED or CANNOT CHECK (R36), with its evidence.
//!
//! - A [`Bundle`] is everything that was read, as raw bytes: headers, receipts and state with their proofs,
//!   transactions, accounts, files. It states no conclusion.
//! - [`explain`] is a pure function of a bundle and of what the caller trusts ([`Trust`]). It also returns what
//!   it lacked ([`Need`]). A reader fetches that, adds it to the bundle, and asks again, so what is explained
//!   online and what is explained from a file is one code path.
//! - On EVM a bundle is verified down to one block hash for each chain. On Solana nothing proves that a
//!   transaction is in a block, and the step of the inclusion says so.
//!
//! No network: the core also serves the browser, as WebAssembly ([`offline`]).

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod bundle;
mod check;
#[cfg(feature = "cli")]
pub mod cli;
mod complete;
mod evidence;
mod layout;
pub mod offline;
#[cfg(feature = "online")]
pub mod online;
mod proof;
mod report;
mod reputation;
pub mod rpc;
mod state;
mod step;
mod subject;
mod trust;

pub use bundle::{
    Bundle, BundleError, EvmAccount, EvmChain, EvmSlot, EvmTransaction, Exchange, HexBytes,
    HexHash, Need, Piece, ReadFile, SvmAccount, SvmCall, SvmChain, SvmHolder, SvmHolders, SvmInner,
    SvmLoaded, SvmTransaction, Unavailable,
};
pub use check::{Explained, explain};
pub use complete::{Source, complete};
pub use proof::trie::proof_of_item;
pub use report::{Fact, Finding, NotApplicable, Report};
pub use reputation::{
    Completeness, Counted, ExplainedReputation, Number, Query, ReputationBundle, ReputationReport,
    ReviewerSet, complete_reputation, explain_reputation,
};
pub use state::State;
pub use step::Step;
pub use subject::{Subject, SubjectError};
pub use trust::{AddressBookMalformed, Family, KnownRegistry, Trust};
