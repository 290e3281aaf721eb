use concord_chain::{Amount, submission::Landing};
use concord_x402::feedback::Submission;
use rusqlite::{Connection, OptionalExtension, Row, named_params, params, types::Type};
use serde::de::DeserializeOwned;

use super::{Store, StoreError, StoreRecord, signed};
use crate::{Draft, Window, WindowKind};

/// How far a signal is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SignalState {
    /// It is on disk with its file.
    Intended,
    /// Its file is where its URI says.
    Stored,
    /// A transaction is signed and on disk.
    Signed,
    /// The chain took it.
    Sent,
    /// It is in a block.
    Landed,
    /// It stays.
    Final,
    /// It will not be published.
    Refused,
}

impl SignalState {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Intended,
        Self::Stored,
        Self::Signed,
        Self::Sent,
        Self::Landed,
        Self::Final,
        Self::Refused,
    ];

    /// Its name in the store.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Intended => "intended",
            Self::Stored => "stored",
            Self::Signed => "signed",
            Self::Sent => "sent",
            Self::Landed => "landed",
            Self::Final => "final",
            Self::Refused => "refused",
        }
    }

    fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }
}

/// A signal that is on disk.
#[derive(Clone, Debug)]
pub struct Signal {
    /// Counts from 1.
    pub n: u64,
    /// [`crate::Agent::key`].
    pub agent: String,
    /// The service; empty for what is about the agent.
    pub endpoint: String,
    /// What it measures.
    pub tag: String,
    /// When.
    pub window: Window,
    /// What the registry is sent.
    pub submission: Submission,
    /// The evidence file, byte for byte.
    pub file: String,
    /// How far it is.
    pub state: SignalState,
    /// The most that it can cost, set before anything is signed.
    pub reserved: Option<Amount>,
    /// What it cost, once it is final.
    pub cost: Option<Amount>,
    /// Where it landed.
    pub landing: Option<Landing>,
    /// Its index in the registry, counted from 1 per agent and client.
    pub index: Option<u64>,
    /// Why it is late, or refused.
    pub reason: Option<String>,
    /// How often it was tried.
    pub attempts: u32,
    /// How often the registry reverted it, one time after the other.
    pub reverts: u32,
}

const COLUMNS: &str = "n, agent, endpoint, tag, window, start, submission, file, state, reserved, cost, \
                       landing, feedback_index, reason, attempts, reverts";

impl Store {
    /// Writes down the signals of a window that has ended, and that the window was looked at. Those that are there
    /// already stay as they are (R60). Returns how many are new.
    ///
    /// # Errors
    /// [`StoreError`]; then none of them is there.
    pub fn intend(&self, window: Window, drafts: &[Draft], now: u64) -> Result<usize, StoreError> {
        self.intend_as(window.kind.name(), window.end(), drafts, now)
    }

    /// As [`Self::intend`]; `name` is what notes how far was looked.
    pub(crate) fn intend_as(
        &self,
        name: &str,
        until: u64,
        drafts: &[Draft],
        now: u64,
    ) -> Result<usize, StoreError> {
        self.together(|connection| {
            let mut count = 0;
            for draft in drafts {
                count += insert(connection, draft, now)?;
            }
            let sql = "INSERT INTO meta VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = excluded.value";
            connection.execute(sql, params![name, signed(until)])?;
            Ok(count)
        })
    }

    /// The signals of a registry that are not done and may be tried now, oldest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn open_signals(&self, registry: &str, now: u64) -> Result<Vec<u64>, StoreError> {
        self.with(|connection| {
            let sql = "SELECT n FROM signal WHERE registry = ?1 AND is_done = 0 AND not_before <= ?2 ORDER BY n";
            let mut statement = connection.prepare_cached(sql)?;
            let read = |row: &Row<'_>| row.get::<_, i64>(0).map(i64::unsigned_abs);
            let rows = statement.query_map(params![registry, signed(now)], read)?;
            rows.collect()
        })
    }

    /// A signal by its number.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn signal(&self, n: u64) -> Result<Option<Signal>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM signal WHERE n = ?1");
        self.with(|it| it.query_row(&sql, params![signed(n)], read).optional())
    }

    /// Every signal, oldest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn signals(&self) -> Result<Vec<Signal>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM signal ORDER BY n");
        self.with(|connection| {
            let mut statement = connection.prepare_cached(&sql)?;
            let rows = statement.query_map([], read)?;
            rows.collect()
        })
    }

    /// Whether a registry has a signal that has failed, or is beyond a budget, and is neither done nor in a block.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn has_late(&self, registry: &str) -> Result<bool, StoreError> {
        let sql = "SELECT EXISTS (SELECT 1 FROM signal WHERE registry = ?1 AND is_done = 0 \
                   AND reason IS NOT NULL AND state <> 'landed')";
        self.with(|it| it.query_row(sql, [registry], |row| row.get(0)))
    }

    /// How many signals are in each state.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn counts(&self) -> Result<Vec<(SignalState, u64)>, StoreError> {
        let found: Vec<(String, i64)> = self.with(|connection| {
            let sql = "SELECT state, count(*) FROM signal GROUP BY state";
            let mut statement = connection.prepare_cached(sql)?;
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect()
        })?;
        let count = |state: SignalState| {
            let found = found.iter().find(|(name, _)| name == state.name());
            found.map_or(0, |(_, count)| count.unsigned_abs())
        };
        Ok(SignalState::ALL.map(|it| (it, count(it))).to_vec())
    }

    /// What the signals cost that were signed on the day of a time, and the most that those can cost which are not
    /// final yet.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn spent_on_day(&self, registry: &str, time: u64) -> Result<Amount, StoreError> {
        let day = Window::containing(WindowKind::Day, time);
        let amounts: Vec<String> = self.with(|connection| {
            let sql = "SELECT coalesce(cost, reserved) FROM signal WHERE registry = ?1 \
                       AND reserved_at >= ?2 AND reserved_at < ?3";
            let mut statement = connection.prepare_cached(sql)?;
            let of = params![registry, signed(day.start), signed(day.end())];
            let rows = statement.query_map(of, |row| row.get(0))?;
            rows.collect()
        })?;
        // what cannot be read leaves nothing of a budget
        let amounts = amounts.iter().map(|it| it.parse().unwrap_or(u128::MAX));
        Ok(amounts.map(Amount).sum())
    }

    /// Its file is where its URI says.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn set_stored(&self, n: u64) -> Result<(), StoreError> {
        let sql = "UPDATE signal SET state = 'stored' WHERE n = ?1 AND state = 'intended'";
        self.with(|it| it.execute(sql, params![signed(n)]))
            .map(drop)
    }

    /// Takes the most that a signal can cost out of its day's budget.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn reserve(&self, n: u64, most: Amount, now: u64) -> Result<(), StoreError> {
        let sql = "UPDATE signal SET reserved = ?2, reserved_at = ?3 WHERE n = ?1";
        let row = params![signed(n), most.0.to_string(), signed(now)];
        self.with(|it| it.execute(sql, row)).map(drop)
    }

    /// Gives back what was reserved, because nothing was signed.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn release(&self, n: u64) -> Result<(), StoreError> {
        let sql = "UPDATE signal SET reserved = NULL, reserved_at = NULL WHERE n = ?1 \
                   AND NOT EXISTS (SELECT 1 FROM tx WHERE tx.signal = signal.n)";
        self.with(|it| it.execute(sql, params![signed(n)]))
            .map(drop)
    }

    /// Its entry was read back: nothing is left to do.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn set_entry(&self, n: u64, index: u64, cost: Amount) -> Result<(), StoreError> {
        let sql = "UPDATE signal SET feedback_index = ?2, cost = ?3, reason = NULL, is_done = 1 \
                   WHERE n = ?1 AND state = 'final'";
        let row = params![signed(n), signed(index), cost.0.to_string()];
        self.with(|it| it.execute(sql, row)).map(drop)
    }

    /// It will not be published.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn set_refused(&self, n: u64, reason: &str) -> Result<(), StoreError> {
        let sql = "UPDATE signal SET state = 'refused', reason = ?2, is_done = 1 WHERE n = ?1";
        self.with(|it| it.execute(sql, params![signed(n), reason]))
            .map(drop)
    }

    /// An attempt failed; the next is due at a time in unix seconds. `reverts`: how often the registry reverted it by
    /// now, one time after the other.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn postpone(&self, n: u64, reason: &str, due: u64, reverts: u32) -> Result<(), StoreError> {
        let sql = "UPDATE signal SET attempts = attempts + 1, reason = ?2, not_before = ?3, \
                   reverts = ?4 WHERE n = ?1";
        let row = params![signed(n), reason, signed(due), reverts];
        self.with(|it| it.execute(sql, row)).map(drop)
    }

    /// The record of a signal's transactions.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn record(&self, signal: &Signal) -> Result<StoreRecord, StoreError> {
        StoreRecord::load(self.clone(), signal.n, signal.landing.clone())
    }
}

fn insert(connection: &Connection, draft: &Draft, now: u64) -> rusqlite::Result<usize> {
    let sql = "INSERT OR IGNORE INTO signal (agent, endpoint, tag, window, start, registry, submission, \
               file, intended_at) VALUES (:agent, :endpoint, :tag, :window, :start, :registry, \
               :submission, :file, :intended_at)";
    let submission = serde_json::to_string(&draft.submission)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    connection.prepare_cached(sql)?.execute(named_params! {
        ":agent": draft.agent,
        ":endpoint": draft.endpoint,
        ":tag": draft.tag.name(),
        ":window": draft.window.kind.name(),
        ":start": signed(draft.window.start),
        ":registry": draft.registry,
        ":submission": submission,
        ":file": draft.file,
        ":intended_at": signed(now),
    })
}

fn read(row: &Row<'_>) -> rusqlite::Result<Signal> {
    let kind: String = row.get(4)?;
    let state: String = row.get(8)?;
    let landing: Option<String> = row.get(11)?;
    let amount = |column: usize| -> rusqlite::Result<Option<Amount>> {
        let text: Option<String> = row.get(column)?;
        let parsed = text.map(|it| it.parse::<u128>().map(Amount));
        parsed
            .transpose()
            .map_err(|error| unreadable(column, error))
    };
    let unknown =
        |column: usize, name: String| unreadable(column, format!("{name:?} is not known"));
    Ok(Signal {
        n: row.get::<_, i64>(0)?.unsigned_abs(),
        agent: row.get(1)?,
        endpoint: row.get(2)?,
        tag: row.get(3)?,
        window: Window {
            kind: WindowKind::parse(&kind).ok_or_else(|| unknown(4, kind))?,
            start: row.get::<_, i64>(5)?.unsigned_abs(),
        },
        submission: json(6, &row.get::<_, String>(6)?)?,
        file: row.get(7)?,
        state: SignalState::parse(&state).ok_or_else(|| unknown(8, state))?,
        reserved: amount(9)?,
        cost: amount(10)?,
        landing: landing.map(|it| json(11, &it)).transpose()?,
        index: row.get::<_, Option<i64>>(12)?.map(i64::unsigned_abs),
        reason: row.get(13)?,
        attempts: row.get(14)?,
        reverts: row.get(15)?,
    })
}

pub(super) fn json<T: DeserializeOwned>(column: usize, text: &str) -> rusqlite::Result<T> {
    serde_json::from_str(text).map_err(|error| unreadable(column, error))
}

fn unreadable(
    column: usize,
    error: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, error.into())
}
