//! What was accepted, and how far each submission is: a SQLite file of one process, or a Postgres database that
//! several share.
//!
//! All changes of a process go through one thread, which commits those that wait together (group commit), one
//! transaction after the other, whatever process it is of: receipts have an order (R57). An answer is given after the
//! commit, so whatever a caller has seen survives a crash.

mod db;
mod error;
mod lease;
mod limits;
mod receipt;
mod record;
mod revocation;
mod row;
mod schema;
mod settled;
mod sponsored;
mod writer;

use std::{
    cell::RefCell,
    path::Path,
    sync::{Arc, Mutex, PoisonError, Weak},
    thread,
    time::Duration,
};

use concord_canonical::{
    Word,
    sign::{PreparedKey, PublicKey},
};
use concord_chain::{ChainError, atomic_file, submission::Landing};
pub use concord_index::store::Location;
use tokio::sync::watch;

pub use error::StoreError;
pub use lease::{LEASE_SECONDS, Lease};
pub use receipt::SignedReceipt;
pub use record::StoreRecord;
pub use revocation::RevocationRow;
pub use row::{Row, RowState};
pub use settled::Settled;
pub(crate) use sponsored::{Preparation, SponsorLimits, Sponsoring};
pub use sponsored::{SponsoredRow, SponsoredState};

use crate::{Claim, Limited, Policy, Sealed, policy::Subject};
use db::{Cells, Db, int, text, value};
use limits::Counted;
use record::Table;
use row::COLUMNS;
use writer::Writer;

/// How often those who wait look for what other processes have changed.
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
        let body = serde_json::to_string(&sealed.submission);
        let body = body.map_err(|error| self.failed(error))?;
        let (signer, location) = (self.0.key.clone(), self.0.location.clone());
        let accept = move |db: &mut Db| {
            if let Some(row) = find_by_key(db, &key)? {
                return Ok(Accepted::Before(row));
            }
            if let Some(row) = sponsored::find_by_key(db, &key)?
                && row.state.takes_payment()
            {
                return Ok(Accepted::Sponsored(row.id));
            }
            let Acceptance {
                subject, policy, ..
            } = &acceptance;
            if let Some(limited) = policy.check(&Counted(RefCell::new(&mut *db)), subject)? {
                return Ok(Accepted::Limited(limited));
            }
            let last = last_receipt(db)?;
            let receipt = SignedReceipt::after(last, &key, digest, subject.now, &signer);
            let receipt = receipt.map_err(|error| failed(&location, error))?;
            insert(db, &receipt, body, &sealed, &acceptance)?;
            let row = find_by_key(db, &key)?;
            let row = row.ok_or_else(|| StoreError::gone("submission", receipt.n))?;
            policy.note(subject);
            Ok(Accepted::Now(row))
        };
        self.write(accept).await
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

    /// The lanes with submissions or revocations that are not done.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn open_lanes(&self) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT lane FROM submission WHERE is_done = 0 UNION \
                   SELECT lane FROM submission JOIN revocation USING (n) \
                   WHERE revocation.is_done = 0 AND submission.state <> 'refused'";
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

    /// The oldest submission of a lane that is not done and may be tried now. `now`: unix seconds.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn next(&self, lane: &str, now: u64) -> Result<Option<Row>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM submission WHERE lane = ?1 AND is_done = 0 \
             AND not_before <= ?2 ORDER BY n LIMIT 1"
        );
        self.read(|db| db.one(&sql, &[text(lane), int(now)], Row::read))
    }

    /// How many submissions are not done.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn open_count(&self) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM submission WHERE is_done = 0";
        self.read(|db| db.count(sql, &[]))
    }

    /// How many submissions are in each state.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn counts(&self) -> Result<Vec<(RowState, u64)>, StoreError> {
        let sql = "SELECT state, count(*) FROM submission GROUP BY state";
        let read = |row: &Cells<'_>| {
            let state = RowState::read(&row.get::<String>(0)?)?;
            Ok((state, row.get::<u64>(1)?))
        };
        let counts = self.read(|db| db.all(sql, &[], read))?;
        let of = |state: RowState| counts.iter().find(|(it, _)| *it == state);
        let count = |state| of(state).map_or(0, |(_, count)| *count);
        Ok(RowState::ALL.map(|state| (state, count(state))).to_vec())
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
        let sql = "UPDATE submission SET state = 'refused', reason = ?2, is_done = 1 WHERE n = ?1";
        self.write(move |db| db.run(sql, &[int(n), text(&reason)]))
            .await
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
                   reverts = (reverts + 1) * ?4 WHERE n = ?1";
        let values = [int(n), text(&reason), int(due), int(is_reverted.into())];
        self.write(move |db| db.run(sql, &values)).await
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
        let retry = move |db: &mut Db| {
            let mut count = 0;
            for (table, set) in [("submission", sql), ("revocation", revocations)] {
                let of =
                    format!("SELECT count(*) FROM {table} WHERE is_done = 0 OR state = 'refused'");
                count += db.count(&of, &[])?;
                db.run(set, &[])?;
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

/// Wakes those who wait for what another process does. The thread ends with the store.
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
    match found == expected {
        true => Ok(()),
        false => Err(StoreError::OtherKey { found, expected }),
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

fn last_receipt(db: &mut Db) -> Result<Option<(u64, Word)>, StoreError> {
    let sql = "SELECT n, receipt FROM submission ORDER BY n DESC LIMIT 1";
    db.one(sql, &[], |row| Ok((row.get(0)?, row.get(1)?)))
}

fn insert(
    db: &mut Db,
    receipt: &SignedReceipt,
    body: String,
    sealed: &Sealed,
    acceptance: &Acceptance,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO submission (n, key, digest, accepted_at, previous, receipt, signature, \
               lane, settlement, agent, reviewer, body, file, uri) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";
    let values = [
        int(receipt.n),
        text(&receipt.key),
        value(receipt.payload_digest),
        int(receipt.accepted_at),
        value(receipt.previous),
        value(receipt.hash),
        value(receipt.signature.clone()),
        text(&acceptance.lane),
        text(&acceptance.settlement),
        text(&acceptance.subject.agent),
        text(&acceptance.subject.reviewer),
        value(body),
        text(&sealed.file),
        text(&sealed.submission.uri),
    ];
    db.run(sql, &values)
}

impl Row {
    /// What landed; `None` before, and after a reorganisation.
    #[must_use]
    pub fn landing(&self) -> Option<&Landing> {
        self.landing.as_ref()
    }
}
