//! What was accepted, and how far each submission is: one SQLite file, one process.
//!
//! All changes go through one thread, which commits those that wait together (group commit). An answer is
//! given after the commit, so whatever a caller has seen survives a crash.

mod limits;
mod receipt;
mod record;
mod revocation;
mod row;
mod schema;
mod sponsored;
mod writer;

use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use concord_canonical::{
    Word,
    sign::{PreparedKey, PublicKey},
};
use concord_chain::{ChainError, atomic_file, submission::Landing};
use rusqlite::{Connection, OpenFlags, OptionalExtension, named_params, params};
use tokio::sync::watch;

pub use receipt::SignedReceipt;
pub use record::StoreRecord;
pub use revocation::RevocationRow;
pub use row::{Row, RowState};
pub(crate) use sponsored::{Preparation, SponsorLimits, Sponsoring};
pub use sponsored::{SponsoredRow, SponsoredState};

use crate::{Claim, Limited, Policy, Sealed, policy::Subject};
use limits::Counted;
use record::Table;
use row::COLUMNS;
use writer::Writer;

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
    /// Its receipts are signed with another key (R57).
    #[error("the store's receipts are signed by {found}, not by {expected}")]
    OtherKey {
        /// The key of the store.
        found: String,
        /// The key that is configured.
        expected: String,
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
    reader: Mutex<Connection>,
    writer: Writer,
    changes: watch::Receiver<u64>,
    key: PreparedKey,
    _lock: File,
}

/// What [`Store::accept`] found.
#[derive(Clone, Debug)]
pub enum Accepted {
    /// It is on disk now, with a receipt.
    Now(Row),
    /// The payment has a submission already (R51).
    Before(Row),
    /// The reviewer signed a sponsored transaction for the payment (R59): its number.
    Sponsored(u64),
    /// A limit of the operator is reached: nothing was accepted.
    Limited(Limited),
}

/// Where and when a submission is accepted, and within which limits.
#[derive(Clone, Debug)]
pub struct Acceptance {
    /// The lane: registry and account that submits.
    pub lane: String,
    /// The registry that records the feedback, CAIP-10.
    pub settlement: String,
    pub(crate) subject: Subject,
    pub(crate) policy: Arc<Policy>,
}

impl Store {
    /// Opens a store, or makes one. `key` is the Ed25519 key of its receipts (R57).
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn open(path: &Path, key: PreparedKey) -> Result<Self, StoreError> {
        let lock = atomic_file::lock(path).map_err(|error| match error {
            ChainError::Locked(_) => StoreError::Locked(path.to_owned()),
            other => failed(path, other),
        })?;
        let connection = connect(path)?;
        schema::migrate(path, &connection)?;
        require_key(path, &connection, &key)?;
        let (changed, changes) = watch::channel(0);
        Ok(Self(Arc::new(Shared {
            path: path.to_owned(),
            reader: Mutex::new(connect(path)?),
            writer: Writer::start(path, connection, changed),
            changes,
            key,
            _lock: lock,
        })))
    }

    /// Copies the store at `path` to a new file, as it is at one moment, also while a process writes it.
    ///
    /// # Errors
    /// [`StoreError::Database`], also if the new file is there already.
    pub fn backup(path: &Path, to: &Path) -> Result<(), StoreError> {
        let copy = || {
            let flags = OpenFlags::SQLITE_OPEN_READ_WRITE; // the log's index is written by readers, too
            let connection = Connection::open_with_flags(path, flags)?;
            connection.busy_timeout(BUSY)?;
            connection.execute("VACUUM INTO ?1", params![to.to_string_lossy()])
        };
        copy().map(drop).map_err(|error| failed(path, error))
    }

    /// The public key of the receipts.
    #[must_use]
    pub fn receipt_key(&self) -> PublicKey {
        self.0.key.public_key()
    }

    /// Changes whenever something was committed.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.0.changes.clone()
    }

    /// Accepts a submission, unless its payment has one already.
    ///
    /// # Errors
    /// [`StoreError`]; then nothing was accepted.
    pub async fn accept(
        &self,
        claim: &Claim,
        sealed: Sealed,
        acceptance: Acceptance,
    ) -> Result<Accepted, StoreError> {
        let (key, digest) = (claim.key.clone(), claim.digest);
        let (signer, path) = (self.0.key.clone(), self.0.path.clone());
        let accept = move |connection: &Connection| {
            if let Some(row) = find_by_key(connection, &key)? {
                return Ok(Ok(Accepted::Before(row)));
            }
            if let Some(row) = sponsored::find_by_key(connection, &key)?
                && row.state.takes_payment()
            {
                return Ok(Ok(Accepted::Sponsored(row.id)));
            }
            let Acceptance {
                subject, policy, ..
            } = &acceptance;
            if let Some(limited) = policy.check(&Counted(connection), subject)? {
                return Ok(Ok(Accepted::Limited(limited)));
            }
            let last = last_receipt(connection)?;
            let receipt = SignedReceipt::after(last, &key, digest, subject.now, &signer);
            let receipt = match receipt {
                Ok(receipt) => receipt,
                Err(error) => return Ok(Err(failed(&path, error))),
            };
            insert(connection, &receipt, &sealed, &acceptance)?;
            let row = find_by_key(connection, &key)?;
            let row = row.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
            policy.note(subject);
            Ok(Ok(Accepted::Now(row)))
        };
        self.0.writer.write(accept).await?
    }

    /// The submission for a payment.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn find(&self, key: &str) -> Result<Option<Row>, StoreError> {
        self.read(|connection| find_by_key(connection, key))
    }

    /// The submission with this receipt.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn get(&self, n: u64) -> Result<Option<Row>, StoreError> {
        self.read(|connection| {
            let sql = format!("SELECT {COLUMNS} FROM submission WHERE n = ?1");
            let mut statement = connection.prepare_cached(&sql)?;
            statement
                .query_row(params![signed(n)], Row::read)
                .optional()
        })
    }

    /// The feedback file of a submission, byte for byte.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn file(&self, n: u64) -> Result<Option<String>, StoreError> {
        let sql = "SELECT file FROM submission WHERE n = ?1";
        self.read(|it| {
            it.query_row(sql, params![signed(n)], |row| row.get(0))
                .optional()
        })
    }

    /// The submission whose file has this URI.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn find_by_uri(&self, uri: &str) -> Result<Option<Row>, StoreError> {
        self.read(|connection| {
            let sql = format!(
                "SELECT {COLUMNS} FROM submission WHERE json_extract(body, '$.uri') = ?1 LIMIT 1"
            );
            let mut statement = connection.prepare_cached(&sql)?;
            statement.query_row(params![uri], Row::read).optional()
        })
    }

    /// The lanes with submissions or revocations that are not done.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn open_lanes(&self) -> Result<Vec<String>, StoreError> {
        self.read(|connection| {
            let sql = "SELECT lane FROM submission WHERE is_done = 0 UNION \
                       SELECT lane FROM submission JOIN revocation USING (n) \
                       WHERE revocation.is_done = 0 AND submission.state <> 'refused'";
            let mut statement = connection.prepare(sql)?;
            let lanes = statement.query_map([], |row| row.get(0))?;
            lanes.collect()
        })
    }

    /// Submissions in the order of their receipts, from a number on.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn page(&self, from: u64, limit: u64) -> Result<Vec<Row>, StoreError> {
        self.read(|connection| {
            let sql = format!("SELECT {COLUMNS} FROM submission WHERE n >= ?1 ORDER BY n LIMIT ?2");
            let mut statement = connection.prepare_cached(&sql)?;
            let rows = statement.query_map(params![signed(from), signed(limit)], Row::read)?;
            rows.collect()
        })
    }

    /// The oldest submission of a lane that is not done and may be tried now. `now`: unix seconds.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn next(&self, lane: &str, now: u64) -> Result<Option<Row>, StoreError> {
        self.read(|connection| {
            let sql = format!(
                "SELECT {COLUMNS} FROM submission WHERE lane = :lane AND is_done = 0 \
                 AND not_before <= :now ORDER BY n LIMIT 1"
            );
            let mut statement = connection.prepare_cached(&sql)?;
            let found = named_params! { ":lane": lane, ":now": signed(now) };
            statement.query_row(found, Row::read).optional()
        })
    }

    /// How many submissions are not done.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn open_count(&self) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM submission WHERE is_done = 0";
        let count: i64 = self.read(|it| it.query_row(sql, [], |row| row.get(0)))?;
        Ok(count.unsigned_abs())
    }

    /// How many submissions are in each state.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn counts(&self) -> Result<Vec<(RowState, u64)>, StoreError> {
        let counts = self.read(|connection| {
            let sql = "SELECT state, count(*) FROM submission GROUP BY state";
            let mut statement = connection.prepare_cached(sql)?;
            let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get::<_, i64>(1)?));
            let rows = statement.query_map([], read)?;
            rows.collect::<rusqlite::Result<Vec<(RowState, i64)>>>()
        })?;
        let of = |state: RowState| counts.iter().find(|(it, _)| *it == state);
        let count = |state| of(state).map_or(0, |(_, count)| count.unsigned_abs());
        Ok(RowState::ALL.map(|state| (state, count(state))).to_vec())
    }

    /// The file is where its URI says.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn set_stored(&self, n: u64) -> Result<(), StoreError> {
        let sql = "UPDATE submission SET state = 'stored' WHERE n = ?1 AND state = 'accepted'";
        let set = move |connection: &Connection| connection.execute(sql, params![signed(n)]);
        self.0.writer.write(set).await.map(drop)
    }

    /// The entry was read back: nothing is left to do.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn set_entry(&self, n: u64, index: u64) -> Result<(), StoreError> {
        let sql = "UPDATE submission SET feedback_index = ?2, reason = NULL, is_done = 1 \
                   WHERE n = ?1 AND state = 'final'";
        let set = move |it: &Connection| it.execute(sql, params![signed(n), signed(index)]);
        self.0.writer.write(set).await.map(drop)
    }

    /// The registry refuses it for good.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn set_refused(&self, n: u64, reason: String) -> Result<(), StoreError> {
        let sql = "UPDATE submission SET state = 'refused', reason = ?2, is_done = 1 WHERE n = ?1";
        let set = move |it: &Connection| it.execute(sql, params![signed(n), reason]);
        self.0.writer.write(set).await.map(drop)
    }

    /// An attempt failed; the next is due at a time in unix seconds. `is_reverted`: by the registry.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn postpone(
        &self,
        n: u64,
        reason: String,
        due: u64,
        is_reverted: bool,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE submission SET attempts = attempts + 1, reason = ?2, not_before = ?3, \
                   reverts = CASE ?4 WHEN 0 THEN 0 ELSE reverts + 1 END WHERE n = ?1";
        let set = move |it: &Connection| {
            it.execute(sql, params![signed(n), reason, signed(due), is_reverted])
        };
        self.0.writer.write(set).await.map(drop)
    }

    /// Makes every submission and revocation that waits, or that the registry refused, due now. Returns how
    /// many there are.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn retry(&self) -> Result<u64, StoreError> {
        let sql = "UPDATE submission SET not_before = 0, attempts = 0, reverts = 0, is_done = 0, \
                   state = CASE WHEN state <> 'refused' THEN state WHEN EXISTS (SELECT 1 FROM tx WHERE \
                   tx.submission = submission.n) THEN 'sent' ELSE 'accepted' END \
                   WHERE is_done = 0 OR state = 'refused'";
        let revocations = "UPDATE revocation SET not_before = 0, attempts = 0, reverts = 0, is_done = 0, \
                           state = CASE WHEN state <> 'refused' THEN state WHEN EXISTS (SELECT 1 \
                           FROM revocation_tx AS tx WHERE tx.n = revocation.n) THEN 'sent' \
                           ELSE 'accepted' END WHERE is_done = 0 OR state = 'refused'";
        let set = |it: &Connection| Ok(it.execute(sql, [])? + it.execute(revocations, [])?);
        Ok(self.0.writer.write(set).await? as u64)
    }

    /// The record of a submission's transactions.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn record(&self, row: &Row) -> Result<StoreRecord, StoreError> {
        let n = row.receipt.n;
        StoreRecord::load(self.clone(), Table::Submission, n, row.landing.clone())
    }

    fn read<T>(
        &self,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let reader = self.0.reader.lock().unwrap_or_else(PoisonError::into_inner);
        read(&reader).map_err(|error| failed(&self.0.path, error))
    }
}

fn connect(path: &Path) -> Result<Connection, StoreError> {
    let open = || {
        let connection = Connection::open(path)?;
        connection.busy_timeout(BUSY)?;
        // FULL: what was answered survives a loss of power, not only of the process
        connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;")?;
        Ok(connection)
    };
    open().map_err(|error: rusqlite::Error| failed(path, error))
}

/// R57: one key for one chain of receipts.
fn require_key(path: &Path, it: &Connection, key: &PreparedKey) -> Result<(), StoreError> {
    let expected = receipt::key_text(&key.public_key());
    let insert = "INSERT OR IGNORE INTO meta (name, value) VALUES ('receipt-key', ?1)";
    let select = "SELECT value FROM meta WHERE name = 'receipt-key'";
    let found = (it.execute(insert, params![expected]))
        .and_then(|_| it.query_row(select, [], |row| row.get::<_, String>(0)))
        .map_err(|error| failed(path, error))?;
    match found == expected {
        true => Ok(()),
        false => Err(StoreError::OtherKey { found, expected }),
    }
}

fn failed(path: &Path, reason: impl ToString) -> StoreError {
    StoreError::Database {
        path: path.to_owned(),
        reason: reason.to_string(),
    }
}

fn find_by_key(connection: &Connection, key: &str) -> rusqlite::Result<Option<Row>> {
    let sql = format!("SELECT {COLUMNS} FROM submission WHERE key = ?1");
    let mut statement = connection.prepare_cached(&sql)?;
    statement.query_row(params![key], Row::read).optional()
}

fn last_receipt(connection: &Connection) -> rusqlite::Result<Option<(u64, Word)>> {
    let sql = "SELECT n, receipt FROM submission ORDER BY n DESC LIMIT 1";
    let mut statement = connection.prepare_cached(sql)?;
    let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?.unsigned_abs(), row.get(1)?));
    statement.query_row([], read).optional()
}

fn insert(
    connection: &Connection,
    receipt: &SignedReceipt,
    sealed: &Sealed,
    acceptance: &Acceptance,
) -> rusqlite::Result<usize> {
    let sql = "INSERT INTO submission (n, key, digest, accepted_at, previous, receipt, signature, \
               lane, settlement, agent, reviewer, body, file) VALUES (:n, :key, :digest, \
               :accepted_at, :previous, :receipt, :signature, :lane, :settlement, :agent, :reviewer, \
               :body, :file)";
    let body = serde_json::to_string(&sealed.submission)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    connection.prepare_cached(sql)?.execute(named_params! {
        ":n": signed(receipt.n),
        ":key": receipt.key,
        ":digest": receipt.payload_digest,
        ":accepted_at": signed(receipt.accepted_at),
        ":previous": receipt.previous,
        ":receipt": receipt.hash,
        ":signature": receipt.signature,
        ":lane": acceptance.lane,
        ":settlement": acceptance.settlement,
        ":agent": acceptance.subject.agent,
        ":reviewer": acceptance.subject.reviewer,
        ":body": body,
        ":file": sealed.file,
    })
}

/// SQLite's integers are signed. No count or time comes near the limit.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

impl Row {
    /// What landed; `None` before, and after a reorganisation.
    #[must_use]
    pub fn landing(&self) -> Option<&Landing> {
        self.landing.as_ref()
    }
}
