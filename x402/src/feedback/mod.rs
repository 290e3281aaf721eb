//! Rates a service that was paid for: from a purchase's [`Evidence`](crate::pay::Evidence) to a feedback file and
//! an entry in a registry, on the payment chain or on another one.
//!
//! [`FeedbackGiver::give`] writes the file, lets the reviewer sign it, and submits it once. Everything is in the
//! [`FeedbackFolder`] before it is sent, so that [`FeedbackGiver::resume`] sends the same bytes again after an
//! interruption, and at most one feedback lands. At the end the entry is read back and compared with the file.
//!
//! - Open feedback has X402's file, in the profile of the interaction (R26): anyone can verify both signatures.
//! - Authorized feedback uses the grant of the settled response (R41) and has PROFILE's file, because its
//!   registry stores a score.

mod account_registry;
mod entry;
mod error;
mod evm;
mod file;
mod folder;
mod give;
mod interaction;
mod payment_proof;
mod registry;
mod review;
mod svm;

pub use account_registry::{AccountRegistry, ReviewAccount};
pub use concord_client::{FileFolder, FileStore, Kind, cid_of};
pub use entry::FeedbackEntry;
pub use error::FeedbackError;
pub use evm::EvmRegistry;
pub use folder::{FeedbackFolder, FeedbackRecord, RecordedEntry};
pub use give::{FeedbackGiver, Given};
pub use interaction::Interaction;
pub use payment_proof::{PaidAgent, PaymentAttestation, PaymentAttestationMalformed};
pub use registry::{
    FeedbackContent, FeedbackJob, FeedbackRegistry, ResponseJob, RevocationJob, Submission,
};
pub use review::Review;
pub use svm::SvmRegistry;
