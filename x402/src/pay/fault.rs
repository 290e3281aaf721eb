use core::fmt;

use concord_chain::ChainError;

use super::{Deadline, Money, OfferUnpayable, RequestMalformed};
use crate::{quote::Refusal, verify::Unavailable, wire::WireError};

/// A purchase that has no answer, and whether money moved.
#[derive(Debug)]
pub struct PayError {
    /// Why.
    pub fault: PayFault,
    /// Whether money moved.
    pub money: Money,
}

/// Why a purchase has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PayFault {
    /// A check before the payment failed.
    #[error("{0}")]
    Refused(Refusal),
    /// The request cannot be made.
    #[error("{0}")]
    Request(#[from] RequestMalformed),
    /// The offer cannot be paid.
    #[error("{0}")]
    Unpayable(#[from] OfferUnpayable),
    /// No account is configured to pay on the offer's chain.
    #[error("no account is given that pays on {0}")]
    NoPayer(String),
    /// The policy objects when it is asked again, at signing.
    #[error("the policy refuses the offer: {0}")]
    Policy(String),
    /// More than may be spent in a period.
    #[error("the purchase exceeds a budget: {0}")]
    OverBudget(String),
    /// There is evidence of a purchase with this id, which can be resumed.
    #[error("the purchase {0} has begun: resume it")]
    AlreadyBegun(String),
    /// There is no evidence of a purchase with this id.
    #[error("there is no evidence of a purchase {0}")]
    UnknownPurchase(String),
    /// An id that cannot name a file.
    #[error("the purchase id has {0:?}, expected 1 to 64 of a-z, 0-9, - and _")]
    IdMalformed(String),
    /// Evidence that does not fit together.
    #[error("the evidence of purchase {id}: {reason}")]
    EvidenceMalformed {
        /// The purchase.
        id: String,
        /// What does not fit.
        reason: String,
    },
    /// A header that is not kept in evidence is needed to send the request again.
    #[error("the header {0} is needed to resume and is not kept in evidence")]
    HeaderWithheld(String),
    /// The payment chain cannot be asked.
    #[error("the payment chain cannot be asked: {0}")]
    Chain(#[from] Unavailable),
    /// The authorization expired before it was used.
    #[error("the authorization expired at {0}")]
    Expired(Deadline),
    /// The payment's transaction failed on the chain.
    #[error("the transaction {0} failed")]
    TransactionFailed(String),
    /// The payer cancelled the authorization.
    #[error("the authorization was cancelled")]
    Cancelled,
    /// The payer signed with another key, or something else.
    #[error("the signature is {found}'s, expected the payer {expected}'s")]
    SignedByAnother {
        /// Whose signature it is.
        found: String,
        /// The payer.
        expected: String,
    },
    /// Key or evidence failed.
    #[error("{0}")]
    Local(#[from] ChainError),
    /// The payment does not fit a header.
    #[error("{0}")]
    Wire(#[from] WireError),
    /// The server could not be reached.
    #[error("{host} cannot be reached")]
    Unreachable {
        /// Its host.
        host: String,
    },
    /// The request was sent to the server, and no answer came.
    #[error("{host} did not answer")]
    NoAnswer {
        /// Its host.
        host: String,
    },
    /// The payment settled, and the answer is lost: the purchase was interrupted.
    #[error("the answer was lost")]
    AnswerLost,
}

impl PayFault {
    /// Whether money moved in a purchase whose evidence this keeps from being read.
    pub(super) fn unread(&self) -> Money {
        match self {
            Self::IdMalformed(_) => Money::NotSent, // it names no evidence
            _ => Money::Unreadable,
        }
    }

    /// The error of a purchase from which no signed bytes have left the process.
    pub(super) fn not_sent(self) -> PayError {
        PayError {
            fault: self,
            money: Money::NotSent,
        }
    }
}

impl fmt::Display for PayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.fault, self.money)
    }
}

impl std::error::Error for PayError {}
