use concord_chain::ChainError;
use concord_client::ClientError;

use super::payment_proof::PaymentAttestationMalformed;
use crate::{
    grants::GrantMalformed,
    pay::PayFault,
    quote::Refusal,
    server::SignerError,
    verify::{State, Step},
    wire::WireError,
};

/// Why feedback was not given, or is not known to be in the registry.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FeedbackError {
    /// The purchase has no answer yet.
    #[error("the purchase {0} has no verified answer: resume it first")]
    NotAnswered(String),
    /// A step of the purchase does not hold, or could not be checked (R36).
    #[error("the purchase {id} is {} at {step}: {detail}", state.name())]
    NotVerified {
        /// The purchase.
        id: String,
        /// The step.
        step: Step,
        /// What it found.
        state: State,
        /// Its class and detail.
        detail: String,
    },
    /// The evidence does not fit together.
    #[error("the evidence of purchase {id}: {reason}")]
    Evidence {
        /// The purchase.
        id: String,
        /// What does not fit.
        reason: String,
    },
    /// A header of the evidence cannot be read.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// The settled response has no grant (R41).
    #[error("the settled response of purchase {0} has no feedback grant (R41)")]
    NoGrant(String),
    /// The grant cannot be read, or is for something else.
    #[error(transparent)]
    Grant(#[from] GrantMalformed),
    /// Part of the review is outside its limits.
    #[error("the review's {field} is {found}, expected {expected}")]
    Review {
        /// Which part.
        field: &'static str,
        /// What was found.
        found: String,
        /// What was expected.
        expected: String,
    },
    /// The agent is not announced on this registry.
    #[error("the offer announced no agent at {registry}, only {announced}")]
    NotAnnounced {
        /// The registry that was asked for.
        registry: String,
        /// The registrations of the offer.
        announced: String,
    },
    /// Another registration that the seller announced is not known to be the agent's (P6 to P8).
    #[error("the announced registration: {0}")]
    NotTheAgent(#[from] Refusal),
    /// The key is not the payer's (R38).
    #[error("the reviewer's key is {found}'s, expected the payer {payer}'s (R38)")]
    NotThePayer {
        /// The key's account.
        found: String,
        /// Who paid.
        payer: String,
    },
    /// The reviewer did not sign.
    #[error(transparent)]
    NotSigned(#[from] SignerError),
    /// The file breaks a rule of its form.
    #[error("the feedback file: {0}")]
    File(#[from] concord_files::Error),
    /// A value breaks its form.
    #[error(transparent)]
    Form(#[from] concord_canonical::Error),
    /// Feedback for this purchase has begun.
    #[error("feedback for the purchase {0} has begun: resume it")]
    AlreadyBegun(String),
    /// Feedback for this purchase has not begun.
    #[error("no feedback for the purchase {0} has begun")]
    NotBegun(String),
    /// The record of a feedback does not fit together, or belongs to another registry or key.
    #[error("the feedback record of purchase {id}: {field} is {found}, expected {expected}")]
    Record {
        /// The purchase.
        id: String,
        /// The field.
        field: &'static str,
        /// What it has.
        found: String,
        /// What was expected.
        expected: String,
    },
    /// The chain has no such registry, or does not offer what is asked for.
    #[error("{network}: {reason}")]
    Registry {
        /// The chain, CAIP-2.
        network: String,
        /// Why.
        reason: String,
    },
    /// The entry on chain is not the one that was sent.
    #[error("the entry on chain differs from the file in {0}")]
    Differs(String),
    /// A payment attestation cannot be used.
    #[error(transparent)]
    Attestation(#[from] PaymentAttestationMalformed),
    /// The purchase's evidence cannot be read.
    #[error("{0}")]
    Pay(#[from] PayFault),
    /// The registry refuses it, or a field of it breaks its form.
    #[error(transparent)]
    Client(ClientError),
    /// A chain, a key or a file failed.
    #[error("{0}")]
    Chain(#[from] ChainError),
}

impl From<ClientError> for FeedbackError {
    fn from(error: ClientError) -> Self {
        match error {
            ClientError::Chain(error) => Self::Chain(error),
            ClientError::Form(error) => Self::Form(error),
            ClientError::File(error) => Self::File(error),
            ClientError::Registry { network, reason } => Self::Registry { network, reason },
            other => Self::Client(other),
        }
    }
}

impl FeedbackError {
    /// Whether the chain could not be asked or has not landed the feedback yet: the same command may succeed
    /// later, and sends the same bytes.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Chain(error) => error.is_retryable(),
            Self::NotTheAgent(refusal) => refusal.class.is_none(),
            _ => false,
        }
    }
}
