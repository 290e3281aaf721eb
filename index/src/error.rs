use concord_chain::ChainError;
use concord_sql::StoreError;

/// Why a chain could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The endpoint does not answer.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// The endpoint contradicts itself. Asked again, it may not: nodes behind one endpoint lag.
    #[error("{host} contradicts itself at block {block}: {what}")]
    Inconsistent {
        /// The endpoint.
        host: String,
        /// The block.
        block: u64,
        /// How.
        what: String,
    },
    /// The endpoint refuses even one block's logs, and its receipts.
    #[error("{host} refuses the logs of block {block} alone: {reason}")]
    BlockRefused {
        /// The endpoint.
        host: String,
        /// The block.
        block: u64,
        /// Its words.
        reason: String,
    },
    /// S: the endpoint dropped blocks that are wanted (R46).
    #[error(
        "{host} has blocks from slot {first} on, wanted from {from}: name a node that keeps them, or start at {first} if nothing was before"
    )]
    Forgotten {
        /// The endpoint.
        host: String,
        /// Its first slot.
        first: u64,
        /// The first one that is wanted.
        from: u64,
    },
}

impl SourceError {
    /// As an error that passes: of a node that an index was following, behind an endpoint that may have others.
    pub(crate) fn while_following(self) -> Self {
        match &self {
            Self::Forgotten { host, from, .. } => Self::Inconsistent {
                host: host.clone(),
                block: *from,
                what: self.to_string(),
            },
            _ => self,
        }
    }

    /// Returns whether the same request may succeed later.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Chain(error) => error.is_retryable(),
            Self::Inconsistent { .. } => true,
            Self::BlockRefused { .. } | Self::Forgotten { .. } => false,
        }
    }
}

/// Why the index does not advance.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SyncError {
    /// The chain.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A reorganisation goes deeper than headers are kept. What to keep is not guessed.
    #[error(
        "ReorgTooDeep: block {block} has another hash, and so has every block that is kept, down to {oldest}; index into a new store, with --headers above {kept}"
    )]
    ReorgTooDeep {
        /// The last block that was indexed.
        block: u64,
        /// The oldest whose header is kept.
        oldest: u64,
        /// How many headers are kept.
        kept: u64,
    },
}

impl SyncError {
    /// Returns whether the same step may succeed later.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Source(error) => error.is_passing(),
            Self::Store(error) => error.is_passing(),
            Self::ReorgTooDeep { .. } => false,
        }
    }
}
