//! Samples, signals and transactions: one SQLite file, one process that writes.
//!
//! A signal's row is unique by (agent, endpoint, tag, window), so that no restart makes a second one (R60). Each
//! change is committed when its call returns.

mod record;
mod sample;
mod schema;
mod signal;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use concord_chain::{ChainError, atomic_file};
use rusqlite::{Connection, OpenFlags};

pub use record::StoreRecord;
pub use sample::Sample;
pub use signal::{Signal, SignalState};

/// How long another connection's change is waited for.
const BUSY: Duration = Duration::from_secs(10);

/// Why the store cannot be used.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// SQLite's words.
    #[error("the store {}: {reason}", path.display())]
    Database {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A newer version of this program wrote it.
    #[error("the store {} has schema {found}, this program knows {known}", path.display())]
    Schema {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The newest version that is known.
        known: u32,
    },
    /// Another process has it.
    #[error("the store {} is held by another process", .0.display())]
    Locked(PathBuf),
}

/// The store. Clones share it.
#[derive(Clone)]
pub struct Store(Arc<Shared>);

struct Shared {
    path: PathBuf,
    connection: Mutex<Connection>,
    _lock: Option<atomic_file::Lock>,
}

impl Store {
    /// Opens a store, or makes one.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let lock = atomic_file::lock(path).map_err(|error| match error {
            ChainError::Locked(_) => StoreError::Locked(path.to_owned()),
            other => failed(path, other),
        })?;
        let connection = connect(path, OpenFlags::default())?;
        schema::migrate(path, &connection)?;
        Ok(Self::of(path, connection, Some(lock)))
    }

    /// Opens a store to look at it, also while another process writes it. `None` if there is none yet.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn look(path: &Path) -> Result<Option<Self>, StoreError> {
        if !path.is_file() {
            return Ok(None);
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE; // the log's index is written by readers, too
        let connection = connect(path, flags)?;
        let only = connection.execute_batch("PRAGMA query_only = 1");
        only.map_err(|error| failed(path, error))?;
        Ok(Some(Self::of(path, connection, None)))
    }

    /// A store that is gone with its last clone.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn in_memory() -> Result<Self, StoreError> {
        let path = Path::new(":memory:");
        let connection = connect(path, OpenFlags::default())?;
        schema::migrate(path, &connection)?;
        Ok(Self::of(path, connection, None))
    }

    fn of(path: &Path, connection: Connection, lock: Option<atomic_file::Lock>) -> Self {
        Self(Arc::new(Shared {
            path: path.to_owned(),
            connection: Mutex::new(connection),
            _lock: lock,
        }))
    }

    /// Runs one change or question.
    fn with<T>(
        &self,
        ask: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let connection = self.0.connection.lock();
        let connection = connection.unwrap_or_else(PoisonError::into_inner);
        ask(&connection).map_err(|error| failed(&self.0.path, error))
    }

    /// Runs several changes, of which all are committed or none.
    fn together<T>(
        &self,
        change: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        self.with(|connection| {
            let transaction = connection.unchecked_transaction()?;
            let done = change(&transaction)?;
            transaction.commit()?;
            Ok(done)
        })
    }
}

fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, StoreError> {
    let open = || {
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(BUSY)?;
        // FULL: what was signed survives a loss of power, not only of the process
        connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;")?;
        Ok(connection)
    };
    open().map_err(|error: rusqlite::Error| failed(path, error))
}

fn failed(path: &Path, reason: impl ToString) -> StoreError {
    StoreError::Database {
        path: path.to_owned(),
        reason: reason.to_string(),
    }
}

/// SQLite's integers are signed. No count or time comes near the limit.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
