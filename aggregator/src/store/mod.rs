//! What was accepted, and how far each submission is: a SQLite file of one process, or a Postgres database that
//! several share.
//!
//! All changes of a process go through one thread, which commits those that wait together (group commit), one
//! transaction after the other, whatever process it is of: receipts have an order (R57). An answer is given after the
//! commit, so whatever a caller has seen survives a crash.

mod acceptance;
mod counts;
mod db;
mod error;
mod follow_up;
mod lease;
mod limits;
mod receipt;
mod record;
mod response;
mod revocation;
mod row;
mod schema;
mod settled;
mod sponsored;
mod work;
mod writer;

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError, Weak},
    thread,
    time::Duration,
};

use concord_canonical::sign::{PreparedKey, PublicKey};
use concord_chain::{ChainError, atomic_file, submission::Landing};
pub use concord_sql::Location;
use tokio::sync::watch;

pub use acceptance::{Acceptance, Accepted};
pub use counts::Backlog;
pub use error::StoreError;
pub use follow_up::Receipted;
pub use lease::{LEASE_SECONDS, Lease};
pub use receipt::SignedReceipt;
pub use record::{Signals, StoreRecord};
pub use response::{AcceptedResponse, ResponseRow};
pub use revocation::RevocationRow;
pub use row::{Row, RowState};
pub use settled::Settled;
pub(crate) use sponsored::{Preparation, SponsorLimits, Sponsoring};
pub use sponsored::{SponsoredRow, SponsoredState};
pub use work::{Found, Phase, Wanted, Work};

use db::{Db, int, text};
use record::Table;
use row::COLUMNS;
use writer::Writer;

/// How often workers look for what other processes have changed.
const LOOK: Duration = Duration::from_millis(500);

/// The store, and the lease under which it is changed, if there is one. Clones share the database.
#[derive(Clone)]
pub struct Store(Arc<Shared>, Option<Lease>);

struct Shared {
    location: Location,
    reader: Mutex<Db>,
    writer: Writer,
    changes: watch::Receiver<u64>,
    key: PreparedKey,
    /// This process, among those that share the database.
    holder: String,
    _lock: Option<atomic_file::Lock>,
}

impl Store {
    /// Opens a SQLite file, or makes one. `key` is the Ed25519 key of its receipts (R57).
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn open(path: &Path, key: PreparedKey) -> Result<Self, StoreError> {
        Self::open_at(&Location::File(path.to_owned()), key)
    }

    /// As [`Self::open`], for a file or a database of Postgres. Only the latter is shared by processes.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn open_at(location: &Location, key: PreparedKey) -> Result<Self, StoreError> {
        let lock = match location {
            Location::File(path) => Some(lock(location, path)?),
            Location::Server(_) => None,
        };
        let mut location = location.clone();
        if let Location::Server(config) = &mut location {
            config.application_name("concord-aggregator");
            // a connection to a host that has disappeared is closed within seconds
            config.keepalives_idle(Duration::from_secs(10));
            config.keepalives_interval(Duration::from_secs(5));
            config.keepalives_retries(3);
            config.tcp_user_timeout(Duration::from_secs(15));
        }
        let location = &location;
        let mut db = Db::open(location)?;
        schema::migrate(location, &mut db)?;
        require_key(&mut db, &key)?;
        let (changed, changes) = watch::channel(0);
        let shared = Arc::new(Shared {
            location: location.clone(),
            reader: Mutex::new(Db::open(location)?),
            writer: Writer::start(location, db, changed.clone()),
            changes,
            key,
            holder: lease::holder(),
            _lock: lock,
        });
        if let Location::Server(_) = location {
            look_for_others(Arc::downgrade(&shared), changed);
        }
        Ok(Self(shared, None))
    }

    /// Copies the SQLite file at `path` to a new file, as it is at one moment, also while a process writes it.
    ///
    /// # Errors
    /// [`StoreError::Database`], also if the new file is there already.
    pub fn backup(path: &Path, to: &Path) -> Result<(), StoreError> {
        let location = Location::File(path.to_owned());
        if !path.is_file() {
            return Err(failed(&location, "there is no such file"));
        }
        let to = to.to_string_lossy();
        Db::open(&location)?.run("VACUUM INTO ?1", &[text(&to)])
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

    /// The submission for a payment.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn find(&self, key: &str) -> Result<Option<Row>, StoreError> {
        self.read(|db| find_by_key(db, key))
    }

    /// The submission with this receipt.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn get(&self, n: u64) -> Result<Option<Row>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM submission WHERE n = ?1");
        self.read(|db| db.one(&sql, &[int(n)], Row::read))
    }

    /// The feedback file of a submission, byte for byte.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn file(&self, n: u64) -> Result<Option<String>, StoreError> {
        let sql = "SELECT file FROM submission WHERE n = ?1";
        self.read(|db| db.cell(sql, &[int(n)]))
    }

    /// The submission whose file has this URI.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn find_by_uri(&self, uri: &str) -> Result<Option<Row>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM submission WHERE uri = ?1 LIMIT 1");
        self.read(|db| db.one(&sql, &[text(uri)], Row::read))
    }

    /// The lanes with submissions, revocations or responses that are not done.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn open_lanes(&self) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT lane FROM submission WHERE is_done = 0 UNION \
                   SELECT lane FROM submission JOIN revocation USING (n) \
                   WHERE revocation.is_done = 0 AND submission.state <> 'refused' UNION \
                   SELECT lane FROM submission JOIN response ON submission.n = response.submission \
                   WHERE response.is_done = 0 AND submission.state <> 'refused'";
        self.read(|db| db.all(sql, &[], |row| row.get(0)))
    }

    /// Submissions in the order of their receipts, from a number on.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn page(&self, from: u64, limit: u64) -> Result<Vec<Row>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM submission WHERE n >= ?1 ORDER BY n LIMIT ?2");
        self.read(|db| db.all(&sql, &[int(from), int(limit)], Row::read))
    }

    /// The file is where its URI says.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn set_stored(&self, n: u64) -> Result<(), StoreError> {
        let sql = "UPDATE submission SET state = 'stored' WHERE n = ?1 AND state = 'accepted'";
        self.write(move |db| db.run(sql, &[int(n)])).await
    }

    /// The entry was read back: nothing is left to do.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn set_entry(&self, n: u64, index: u64) -> Result<(), StoreError> {
        let sql = "UPDATE submission SET feedback_index = ?2, reason = NULL, is_done = 1 \
                   WHERE n = ?1 AND state = 'final'";
        self.write(move |db| db.run(sql, &[int(n), int(index)]))
            .await
    }

    /// The registry refuses it for good.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn set_refused(&self, n: u64, reason: String) -> Result<(), StoreError> {
        self.refuse(Table::Submission, n, reason).await
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
        self.put_off(Table::Submission, n, reason, (due, is_reverted))
            .await
    }

    /// Makes every submission, revocation and response that waits, or that the registry refused, due now. Returns
    /// how many there are.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn retry(&self) -> Result<u64, StoreError> {
        let retry = move |db: &mut Db| {
            let mut count = 0;
            for table in Table::ALL {
                let name = table.name();
                let due = "is_done = 0 OR state = 'refused'";
                count += db.count(&format!("SELECT count(*) FROM {name} WHERE {due}"), &[])?;
                let sql = format!(
                    "UPDATE {name} SET not_before = 0, attempts = 0, reverts = 0, is_done = 0, \
                     state = CASE WHEN state = 'refused' THEN 'accepted' ELSE state END WHERE {due}"
                );
                db.run(&sql, &[])?;
            }
            Ok(count)
        };
        self.write(retry).await
    }

    /// The record of a submission's transactions.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn record(&self, row: &Row) -> Result<StoreRecord, StoreError> {
        let n = row.receipt.n;
        StoreRecord::load(self.clone(), Table::Submission, n, row.landing.clone())
    }

    /// Reads. With Postgres it blocks for the server's answer. A connection that was lost is made again once.
    fn read<T>(&self, read: impl Fn(&mut Db) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let mut reader = self.0.reader.lock().unwrap_or_else(PoisonError::into_inner);
        let found = read(&mut reader);
        if found.is_ok() || !self.is_shared() {
            return found;
        }
        reader.disconnect();
        read(&mut reader)
    }

    /// Changes the store, if its lease is still held.
    async fn write<T: Send + 'static>(
        &self,
        change: impl FnOnce(&mut Db) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let lease = self.1.clone();
        let fenced = move |db: &mut Db| {
            lease::require(db, lease.as_ref())?;
            change(db)
        };
        self.0.writer.write(fenced).await
    }

    /// As [`Self::write`], for callers that are not asynchronous.
    fn write_now<T: Send + 'static>(
        &self,
        change: impl FnOnce(&mut Db) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let lease = self.1.clone();
        let fenced = move |db: &mut Db| {
            lease::require(db, lease.as_ref())?;
            change(db)
        };
        self.0.writer.write_now(fenced)
    }

    fn failed(&self, reason: impl ToString) -> StoreError {
        failed(&self.0.location, reason)
    }

    /// Whether several processes can have it.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        matches!(self.0.location, Location::Server(_))
    }

    /// The file, or the server without its password.
    fn place(&self) -> String {
        self.0.location.to_string()
    }
}

fn lock(location: &Location, path: &Path) -> Result<atomic_file::Lock, StoreError> {
    atomic_file::lock(path).map_err(|error| match error {
        ChainError::Locked(_) => StoreError::Locked(location.to_string()),
        other => failed(location, other),
    })
}

/// Wakes workers regularly: this process is not notified of changes by other processes. The thread ends when the store is dropped.
fn look_for_others(shared: Weak<Shared>, changed: watch::Sender<u64>) {
    thread::spawn(move || {
        while shared.strong_count() > 0 {
            thread::sleep(LOOK);
            changed.send_modify(|count| *count = count.wrapping_add(1));
        }
    });
}

/// R57: one key for one chain of receipts.
fn require_key(db: &mut Db, key: &PreparedKey) -> Result<(), StoreError> {
    let expected = receipt::key_text(&key.public_key());
    let insert =
        "INSERT INTO meta (name, value) VALUES ('receipt-key', ?1) ON CONFLICT (name) DO NOTHING";
    let select = "SELECT value FROM meta WHERE name = 'receipt-key'";
    db.run(insert, &[text(&expected)])?;
    let found: String = db.cell(select, &[])?.unwrap_or_default();
    if found == expected {
        Ok(())
    } else {
        Err(StoreError::OtherKey { found, expected })
    }
}

fn failed(location: &Location, reason: impl ToString) -> StoreError {
    StoreError::Database {
        place: location.to_string(),
        reason: reason.to_string(),
    }
}

fn find_by_key(db: &mut Db, key: &str) -> Result<Option<Row>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM submission WHERE key = ?1");
    db.one(&sql, &[text(key)], Row::read)
}

impl Row {
    /// What landed; `None` before, and after a reorganisation.
    #[must_use]
    pub fn landing(&self) -> Option<&Landing> {
        self.landing.as_ref()
    }
}
