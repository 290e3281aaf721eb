/// Why the store cannot be used.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The database's words.
    #[error("the store {place}: {reason}")]
    Database {
        /// The file, or the server without its password.
        place: String,
        /// Why.
        reason: String,
    },
    /// A newer version of this program wrote it.
    #[error("the store {place} has schema {found}, this program knows {known}")]
    Schema {
        /// The file or the server.
        place: String,
        /// Its version.
        found: u32,
        /// The newest version that is known.
        known: u32,
    },
    /// Its receipts are signed with another key (R57).
    #[error("the store's receipts are signed by {found}, not by {expected}")]
    OtherKey {
        /// The key of the store.
        found: String,
        /// The key that is configured.
        expected: String,
    },
    /// Another process has it.
    #[error("the store {0} is held by another process")]
    Locked(String),
    /// Receipts of a later time were given since it came, by more than clocks may differ (R57).
    #[error("it came at {came}, and there is a receipt of {latest}")]
    Overtaken {
        /// When it came, in unix seconds.
        came: u64,
        /// The latest time of a receipt, in unix seconds.
        latest: u64,
    },
    /// Another process works on the lane since.
    #[error("the lease {held} of {lane} is over: {found} is held now")]
    LeaseLost {
        /// The lane.
        lane: String,
        /// The epoch that was held.
        held: u64,
        /// The epoch of now; 0: none.
        found: u64,
    },
}

impl StoreError {
    pub(super) fn gone(table: &str, n: u64) -> Self {
        Self::Database {
            place: table.to_owned(),
            reason: format!("row {n} is gone"),
        }
    }
}
