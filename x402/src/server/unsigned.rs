use crate::wire::WireError;

use super::signer::SignerError;

/// Why a paid response was not signed (R34). It is returned as it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unsigned {
    /// The paywall's header cannot be read, or the result would be too long.
    #[error(transparent)]
    Header(#[from] WireError),
    /// The payment did not settle.
    #[error("the settlement failed")]
    NotSettled,
    /// The request's body is longer than the limit.
    #[error("the request is longer than {limit} bytes")]
    RequestTooLong {
        /// In bytes.
        limit: usize,
    },
    /// The response's body is longer than the limit.
    #[error("the response is longer than {limit} bytes")]
    ResponseTooLong {
        /// In bytes.
        limit: usize,
    },
    /// A body that is not complete in time: a stream.
    #[error("the {part}'s body is not complete in time")]
    Slow {
        /// `request` or `response`.
        part: &'static str,
    },
    /// A body that ended in an error.
    #[error("the {part}'s body broke off")]
    Broken {
        /// `request` or `response`.
        part: &'static str,
    },
    /// The request carried no payment: its body was not read, and no settlement is its own.
    #[error("the request carried no payment header")]
    RequestNotKept,
    /// A body whose content is still encoded: the layer is on the wrong side of compression.
    #[error("the {part}'s content is encoded as {encoding}")]
    Encoded {
        /// `request` or `response`.
        part: &'static str,
        /// The value of `Content-Encoding`.
        encoding: String,
    },
    /// An event stream.
    #[error("the response is an event stream")]
    EventStream,
    /// No key is valid now.
    #[error("no signing key is valid at {unix_seconds}")]
    NoKey {
        /// Now.
        unix_seconds: u64,
    },
    /// The signer failed.
    #[error(transparent)]
    Signer(#[from] SignerError),
    /// The signer did not answer.
    #[error("the signer did not answer within {milliseconds} ms")]
    SignerSlow {
        /// The limit.
        milliseconds: u128,
    },
    /// The hash could not be made.
    #[error("the interaction cannot be hashed: {0}")]
    Hash(#[from] concord_canonical::Error),
}

impl Unsigned {
    /// The reason's stable name, as in metrics.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Header(_) => "header",
            Self::NotSettled => "not-settled",
            Self::RequestTooLong { .. } => "request-too-long",
            Self::ResponseTooLong { .. } => "response-too-long",
            Self::Slow { .. } => "slow",
            Self::Broken { .. } => "broken",
            Self::RequestNotKept => "request-not-kept",
            Self::Encoded { .. } => "encoded",
            Self::EventStream => "event-stream",
            Self::NoKey { .. } => "no-key",
            Self::Signer(_) => "signer",
            Self::SignerSlow { .. } => "signer-slow",
            Self::Hash(_) => "hash",
        }
    }
}
