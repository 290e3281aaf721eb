//! The program's accounts. Each type owns its transitions; instructions only call them.
pub mod agent_identity;
pub mod client_index;
pub mod feedback_entry;
pub mod metadata_entry;
pub mod open_feedback;
pub mod registry;
pub mod spent_payment;
pub mod validation_request;
pub mod validation_response;

pub use agent_identity::AgentIdentity;
pub use client_index::{ClientIndex, OpenClientIndex};
pub use feedback_entry::FeedbackEntry;
pub use metadata_entry::MetadataEntry;
pub use open_feedback::OpenFeedback;
pub use registry::Registry;
pub use spent_payment::SpentPayment;
pub use validation_request::ValidationRequest;
pub use validation_response::ValidationResponse;

use crate::{ConcordError, error::refusal};
use anchor_lang::prelude::*;

/// R12: the layout that this program writes, kept in every account directly after its bump, where
/// it has the same offset in each account of a type whatever fields a later layout adds.
pub const VERSION: u8 = 1;

/// `counter + amount`, or `CounterExhausted` (R8): no counter of the program wraps.
pub(crate) fn raised(counter: u64, amount: u64) -> Result<u64> {
    counter
        .checked_add(amount)
        .ok_or_else(|| refusal(ConcordError::CounterExhausted))
}

/// `counter - amount`. An error means that the counters do not match the entries, which no
/// sequence of instructions can bring about.
pub(crate) fn lowered(counter: u64, amount: u64) -> Result<u64> {
    counter
        .checked_sub(amount)
        .ok_or_else(|| refusal(ConcordError::CounterExhausted))
}
