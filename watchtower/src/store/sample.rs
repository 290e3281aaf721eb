use rusqlite::{OptionalExtension, Row, params};

use super::{Store, StoreError, signed};
use crate::{ServiceKind, Target, Window, WindowKind};

/// One probe of one service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// When it began, in unix seconds.
    pub at: u64,
    /// How the service was probed.
    pub kind: String,
    /// Whether it answered.
    pub answered: bool,
    /// Whether the request succeeded; `None` if the answer does not say (R36).
    pub succeeded: Option<bool>,
    /// How long it took.
    pub millis: u64,
    /// Whether its host proves the agent (R43); `None` if that could not be checked.
    pub owned: Option<bool>,
    /// What was found, in words of this program.
    pub finding: String,
}

impl Store {
    /// Keeps samples of an agent's endpoints. The same endpoint has one sample a second.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn keep(&self, agent: &str, samples: &[(String, Sample)]) -> Result<(), StoreError> {
        self.together(|connection| {
            let sql = "INSERT OR IGNORE INTO sample VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
            let mut insert = connection.prepare_cached(sql)?;
            for (endpoint, it) in samples {
                insert.execute(params![
                    agent,
                    endpoint,
                    signed(it.at),
                    it.kind,
                    it.answered,
                    it.succeeded,
                    signed(it.millis),
                    it.owned,
                    it.finding,
                ])?;
            }
            Ok(())
        })
    }

    /// The endpoints that have samples in a window, with their agents.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn sampled(&self, window: Window) -> Result<Vec<(String, String)>, StoreError> {
        self.with(|connection| {
            let sql = "SELECT DISTINCT agent, endpoint FROM sample WHERE at >= ?1 AND at < ?2 \
                       ORDER BY agent, endpoint";
            let mut statement = connection.prepare_cached(sql)?;
            let bounds = params![signed(window.start), signed(window.end())];
            let rows = statement.query_map(bounds, |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect()
        })
    }

    /// The samples of an endpoint in a window, in the order of their times.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn samples(
        &self,
        agent: &str,
        endpoint: &str,
        window: Window,
    ) -> Result<Vec<Sample>, StoreError> {
        self.with(|connection| {
            let sql = "SELECT at, kind, answered, succeeded, millis, owned, finding FROM sample \
                       WHERE agent = ?1 AND endpoint = ?2 AND at >= ?3 AND at < ?4 ORDER BY at";
            let mut statement = connection.prepare_cached(sql)?;
            let of = params![agent, endpoint, signed(window.start), signed(window.end())];
            let rows = statement.query_map(of, read)?;
            rows.collect()
        })
    }

    /// How many samples are kept.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn sample_count(&self) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM sample";
        let count: i64 = self.with(|it| it.query_row(sql, [], |row| row.get(0)))?;
        Ok(count.unsigned_abs())
    }

    /// The time of the oldest sample.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn first_sample(&self) -> Result<Option<u64>, StoreError> {
        let sql = "SELECT min(at) FROM sample";
        let first: Option<i64> = self.with(|it| it.query_row(sql, [], |row| row.get(0)))?;
        Ok(first.map(i64::unsigned_abs))
    }

    /// Forgets samples before a time. Their windows have ended long ago.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn forget_before(&self, time: u64) -> Result<(), StoreError> {
        let sql = "DELETE FROM sample WHERE at < ?1";
        self.with(|it| it.execute(sql, params![signed(time)]))
            .map(drop)
    }

    /// Until when windows of a kind were looked at, in unix seconds.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn intended_until(&self, kind: WindowKind) -> Result<Option<u64>, StoreError> {
        self.number(kind.name())
    }

    /// A number that the store keeps under a name.
    pub(crate) fn number(&self, name: &str) -> Result<Option<u64>, StoreError> {
        let sql = "SELECT value FROM meta WHERE name = ?1";
        let found: Option<i64> = self.with(|it| {
            it.query_row(sql, params![name], |row| row.get(0))
                .optional()
        })?;
        Ok(found.map(i64::unsigned_abs))
    }

    /// What was last read of an agent: its services, and why it is of an own key, if it is (R60).
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn set_targets(
        &self,
        agent: &str,
        targets: &[Target],
        own: Option<&str>,
    ) -> Result<(), StoreError> {
        self.together(|connection| {
            connection.execute("DELETE FROM target WHERE agent = ?1", params![agent])?;
            connection.execute("DELETE FROM own WHERE agent = ?1", params![agent])?;
            if let Some(reason) = own {
                let sql = "INSERT INTO own VALUES (?1, ?2)";
                connection.execute(sql, params![agent, reason])?;
            }
            let sql = "INSERT INTO target VALUES (?1, ?2, ?3, ?4, ?5)";
            for (position, it) in (0i64..).zip(targets) {
                let row = params![agent, it.endpoint, it.url, it.kind.name(), position];
                connection.execute(sql, row)?;
            }
            Ok(())
        })
    }

    /// The services that were last read of an agent.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn targets(&self, agent: &str) -> Result<Vec<Target>, StoreError> {
        self.with(|connection| {
            let sql = "SELECT endpoint, url, kind FROM target WHERE agent = ?1 ORDER BY position";
            let mut statement = connection.prepare_cached(sql)?;
            let rows = statement.query_map(params![agent], |row| {
                let kind: String = row.get(2)?;
                Ok(Target {
                    endpoint: row.get(0)?,
                    url: row.get(1)?,
                    kind: ServiceKind::parse(&kind).unwrap_or(ServiceKind::Http),
                })
            })?;
            rows.collect()
        })
    }

    /// Why an agent was of an own key when its file was last read (R60).
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn own_by_file(&self, agent: &str) -> Result<Option<String>, StoreError> {
        let sql = "SELECT reason FROM own WHERE agent = ?1";
        self.with(|it| {
            it.query_row(sql, params![agent], |row| row.get(0))
                .optional()
        })
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<Sample> {
    Ok(Sample {
        at: row.get::<_, i64>(0)?.unsigned_abs(),
        kind: row.get(1)?,
        answered: row.get(2)?,
        succeeded: row.get(3)?,
        millis: row.get::<_, i64>(4)?.unsigned_abs(),
        owned: row.get(5)?,
        finding: row.get(6)?,
    })
}
