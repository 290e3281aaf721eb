use core::fmt;

use serde::{Deserialize, Serialize};

use super::Deadline;

/// Whether money moved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Money {
    /// No signed bytes have left the process.
    NotSent,
    /// The signed bytes may have been used, or may still be.
    Unknown {
        /// The value of `PAYMENT-SIGNATURE`. Only these bytes may be sent again.
        payment: String,
        /// When they are void.
        deadline: Deadline,
    },
    /// The purchase may have been paid: its evidence cannot be read.
    Unreadable,
    /// The payment settled.
    Settled {
        /// Its transaction, if it is known.
        transaction: Option<String>,
    },
    /// The signed bytes were never used, and no longer can be.
    Void,
}

impl Money {
    /// Whether the chain has decided about the payment for good.
    pub(super) const fn is_settled_or_void(&self) -> bool {
        matches!(self, Self::Settled { .. } | Self::Void)
    }

    /// Whether money has moved; `None` if that is unknown.
    #[must_use]
    pub fn has_moved(&self) -> Option<bool> {
        match self {
            Self::NotSent | Self::Void => Some(false),
            Self::Unknown { .. } | Self::Unreadable => None,
            Self::Settled { .. } => Some(true),
        }
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSent => write!(f, "no payment was sent"),
            Self::Unknown { deadline, .. } => write!(f, "the payment may settle until {deadline}"),
            Self::Unreadable => write!(f, "whether a payment was sent is unknown"),
            Self::Settled {
                transaction: Some(transaction),
            } => write!(f, "the payment settled in {transaction}"),
            Self::Settled { transaction: None } => write!(f, "the payment settled"),
            Self::Void => write!(f, "no money moved, and the payment can no longer settle"),
        }
    }
}
