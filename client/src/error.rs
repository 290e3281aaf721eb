use std::fmt;

use concord_canonical::ErrorClass;
use concord_chain::{ChainError, reviewers::ReviewersError};

use crate::index::IndexError;

/// Why something could not be done or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The registry refuses the operation, by a rule (R25).
    #[error("{network} refuses it: {} ({}): {reason}", class.name(), class.info().ruling)]
    Refused {
        /// The chain, CAIP-2.
        network: String,
        /// The rule that it breaks.
        class: ErrorClass,
        /// The chain's words.
        reason: String,
    },
    /// The chain refuses the operation, and not because of a rule of the registries.
    #[error("{network} refuses it: {reason}")]
    Unclassified {
        /// The chain, CAIP-2.
        network: String,
        /// The chain's words.
        reason: String,
    },
    /// The registry is not deployed, has no such thing, or answers something else.
    #[error("{network}: {reason}")]
    Registry {
        /// The chain, CAIP-2.
        network: String,
        /// Why.
        reason: String,
    },
    /// A field breaks its form.
    #[error("{field} is {found:?}, expected {expected}")]
    Malformed {
        /// The field.
        field: &'static str,
        /// Its value.
        found: String,
        /// What it can be.
        expected: String,
        /// The class of it.
        class: ErrorClass,
    },
    /// A value breaks its form.
    #[error(transparent)]
    Form(#[from] concord_canonical::Error),
    /// A file breaks a rule of its form.
    #[error("the file: {0}")]
    File(#[from] concord_files::Error),
    /// A feedback file says something else than what is sent. Of an endpoint neither value is shown.
    #[error("the feedback file has {field} {in_file}, and {sent} is sent")]
    FileDiffers {
        /// The field.
        field: &'static str,
        /// What it has.
        in_file: String,
        /// What is sent.
        sent: String,
    },
    /// The record of an operation is of another account or registry, or of an operation of another kind.
    #[error("the operation {id} is on record with another {field}: {found}, now {expected}")]
    OnRecord {
        /// The operation.
        id: String,
        /// The field.
        field: &'static str,
        /// What the record has.
        found: String,
        /// What was asked for.
        expected: String,
    },
    /// The record of an operation is of another one of its kind. No value is shown: an endpoint can hold a secret.
    #[error("the operation {id} is on record with another {field}")]
    OtherOperation {
        /// The operation.
        id: String,
        /// The first member that differs, by its path in the record.
        field: String,
    },
    /// A set of reviewers cannot be used (R48).
    #[error(transparent)]
    Reviewers(#[from] ReviewersError),
    /// An index did not answer, or refused.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// A chain, a key or a file failed.
    #[error(transparent)]
    Chain(#[from] ChainError),
}

impl ClientError {
    /// The class of the rule that was broken (R25); `None` if no rule was.
    #[must_use]
    pub fn class(&self) -> Option<ErrorClass> {
        match self {
            Self::Refused { class, .. } | Self::Malformed { class, .. } => Some(*class),
            Self::Form(error) => Some(error.class()),
            Self::FileDiffers { .. } => Some(ErrorClass::BadRequest),
            Self::Reviewers(ReviewersError::Empty) => Some(ErrorClass::EmptyClients),
            _ => None,
        }
    }

    /// Whether the same call may succeed later, with nothing changed.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Chain(error) => error.is_retryable(),
            Self::Index(error) => error.is_retryable(),
            _ => false,
        }
    }
}

/// How far an operation got before it failed, as its record has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sent {
    /// No transaction was signed. The id can be used again.
    Nothing,
    /// A transaction was signed, and may have been sent: it may yet land. Call again with the same id, which sends
    /// no second one.
    Maybe {
        /// Every transaction that was signed, oldest first.
        transactions: Vec<String>,
    },
    /// Every transaction was executed and failed: only fees were paid.
    Failed {
        /// The transactions, oldest first.
        transactions: Vec<String>,
    },
    /// It landed, and what came of it could not be read back. Call again with the same id, which only reads.
    Landed {
        /// The transaction.
        transaction: String,
    },
}

impl fmt::Display for Sent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("nothing was sent"),
            Self::Maybe { transactions } if transactions.is_empty() => {
                f.write_str("a transaction may have been sent: call again with the same id")
            }
            Self::Maybe { transactions } => {
                let names = transactions.join(", ");
                write!(f, "{names} may have been sent: call again with the same id")
            }
            Self::Failed { transactions } => write!(f, "{} failed", transactions.join(", ")),
            Self::Landed { transaction } => write!(f, "{transaction} landed"),
        }
    }
}

/// Why an operation is not known to be done, and whether something may have been sent.
#[derive(Debug, thiserror::Error)]
#[error("{fault}; {sent}")]
pub struct OperationError {
    /// Why.
    #[source]
    pub fault: Box<ClientError>,
    /// What was sent.
    pub sent: Sent,
}

impl OperationError {
    pub(crate) fn new(fault: ClientError, sent: Sent) -> Self {
        Self {
            fault: Box::new(fault),
            sent,
        }
    }

    /// The class of the rule that was broken (R25); `None` if no rule was.
    #[must_use]
    pub fn class(&self) -> Option<ErrorClass> {
        self.fault.class()
    }

    /// Whether the same call with the same id may succeed later.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.fault.is_retryable()
    }
}
