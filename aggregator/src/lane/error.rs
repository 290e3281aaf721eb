use concord_chain::ChainError;
use concord_x402::{feedback::FeedbackError, verify::Unavailable};

use crate::{Refusal, store::StoreError};

/// Why an attempt failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum LaneError {
    #[error(transparent)]
    Feedback(#[from] FeedbackError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Chain(#[from] ChainError),
    #[error("the transaction that landed is not on record")]
    NoLanding,
    #[error("the submission that is revoked is not on record")]
    NoSubmission,
    #[error("the response on record is malformed: {0}")]
    Response(Refusal),
    #[error("the feedback file is not on record")]
    NoFile,
    #[error("{client} acts for agent {agent}; the registry refuses its feedback meanwhile (R18)")]
    ActsForAgent { client: String, agent: String },
    #[error("who acts for the agent cannot be read: {}", .0.0)]
    Unavailable(#[from] Unavailable),
    #[error("the agent's id is malformed: {0}")]
    Agent(#[from] concord_canonical::Error),
    #[error("the entry on chain has {found}, expected {expected}")]
    OtherEntry { found: String, expected: String },
    #[error("it has not landed {seconds} seconds after it was accepted")]
    NotLanded { seconds: u64 },
    #[error("it has landed, and is not final {seconds} seconds later")]
    NotFinal { seconds: u64 },
}

impl LaneError {
    /// Whether others may be signed although the chain never took the transaction: it refuses it, whatever its nonce.
    pub fn lets_others(&self) -> bool {
        use ChainError::{NotSigned, RecordMalformed, SimulationFailed, TransactionRefused};
        let Self::Feedback(FeedbackError::Chain(error)) = self else {
            return false;
        };
        matches!(
            error,
            TransactionRefused { .. }
                | RecordMalformed { .. }
                | NotSigned { .. }
                | SimulationFailed { .. }
        )
    }

    /// Whether the registry reverted it. Only a simulation says so before anything is signed, and only if no earlier
    /// transaction can land.
    pub fn is_reverted(&self) -> bool {
        match self {
            Self::Feedback(FeedbackError::Chain(ChainError::SimulationFailed {
                reason, ..
            })) => reason.contains("revert"),
            _ => false,
        }
    }
}
