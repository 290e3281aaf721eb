use concord_chain::ChainError;
use std::path::PathBuf;

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

/// Why the store could not be read or written. Nothing of a failed batch is kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The database's own words.
    #[error("the store: {0}")]
    Database(String),
    /// Another connection writes for longer than this one waits.
    #[error("the store is busy: {0}")]
    Busy(String),
    /// The disk is full.
    #[error("the disk of the store is full: {0}; free space and start again, nothing was lost")]
    Full(String),
    /// Another process writes this deployment.
    #[error("{what} is being indexed by another process: stop it, or read only")]
    SecondWriter {
        /// The deployment.
        what: String,
    },
    /// Another process moved the cursor, although it should not have been able to.
    #[error(
        "the store is at {found}, expected {seen}: another process is indexing the same; stop one of the two and start the other again"
    )]
    CursorMoved {
        /// The block that the batch follows.
        seen: String,
        /// The store's.
        found: String,
    },
    /// The store is of another version.
    #[error("the store has schema {found}, this version reads {expected}: {advice}")]
    Schema {
        /// The store's.
        found: i64,
        /// This program's.
        expected: i64,
        /// What to do.
        advice: &'static str,
    },
    /// The store was made for other contracts.
    #[error(
        "the store has {registry} on {chain} with other contracts or another start; rebuild it"
    )]
    OtherDeployment {
        /// CAIP-2.
        chain: String,
        /// The identity registry.
        registry: String,
    },
    /// A cell is not of the form that this program writes.
    #[error("the store's {table}.{column} is malformed")]
    Malformed {
        /// The table.
        table: &'static str,
        /// The column.
        column: &'static str,
    },
    /// The file cannot be used.
    #[error("{}: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The server does not answer, or refuses.
    #[error("the server of the store: {reason}")]
    Server {
        /// Its words.
        reason: String,
    },
    /// A sum or a count left its range: events of more than a chain can hold.
    #[error("{what} is out of range")]
    OutOfRange {
        /// What.
        what: &'static str,
    },
}

impl StoreError {
    /// Returns whether the same transaction may succeed later.
    #[must_use]
    pub const fn is_passing(&self) -> bool {
        matches!(self, Self::Busy(_))
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
