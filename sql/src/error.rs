use std::path::PathBuf;

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
