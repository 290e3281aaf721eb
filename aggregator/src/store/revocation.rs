use concord_chain::submission::Landing;
use rusqlite::{Connection, OptionalExtension, named_params, params};

use super::{RowState, Store, StoreError, StoreRecord, record::Table, row::json, signed};
use crate::revocation::RevocationRequest;

const COLUMNS: &str = "revocation.n, revocation.body, revocation.accepted_at, revocation.state, \
                       revocation.reason, revocation.attempts, revocation.landing, revocation.reverts";

/// A revocation that was accepted (R58).
#[derive(Clone, Debug)]
pub struct RevocationRow {
    /// The submission that is revoked: the number of its receipt.
    pub n: u64,
    /// What the reviewer signed.
    pub request: RevocationRequest,
    /// Unix seconds.
    pub accepted_at: u64,
    /// How far it is. It has no file, so it is never `stored`.
    pub state: RowState,
    /// Why the last attempt failed, or why the registry refuses it.
    pub reason: Option<String>,
    /// Attempts that failed.
    pub attempts: u32,
    /// How many of the last ones the registry reverted.
    pub reverts: u32,
    pub(super) landing: Option<Landing>,
}

impl RevocationRow {
    fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
        let landing: Option<String> = row.get(6)?;
        Ok(Self {
            n: row.get::<_, i64>(0)?.unsigned_abs(),
            request: json(1, &row.get::<_, String>(1)?)?,
            accepted_at: row.get::<_, i64>(2)?.unsigned_abs(),
            state: row.get(3)?,
            reason: row.get(4)?,
            attempts: row.get(5)?,
            reverts: row.get(7)?,
            landing: landing.map(|it| json(6, &it)).transpose()?,
        })
    }

    /// What landed; `None` before, and after a reorganisation.
    #[must_use]
    pub fn landing(&self) -> Option<&Landing> {
        self.landing.as_ref()
    }

    /// The name of the revocation among the jobs of its lane.
    #[must_use]
    pub fn job_id(&self) -> String {
        Table::Revocation.job_id(self.n)
    }
}

impl Store {
    /// Accepts the revocation of a submission, unless it has one already, which is returned then.
    ///
    /// # Errors
    /// [`StoreError`]; then nothing was accepted.
    pub async fn accept_revocation(
        &self,
        n: u64,
        request: &RevocationRequest,
        now: u64,
    ) -> Result<RevocationRow, StoreError> {
        let body =
            serde_json::to_string(request).map_err(|error| super::failed(&self.0.path, error))?;
        let accept = move |connection: &Connection| {
            let sql = "INSERT OR IGNORE INTO revocation (n, body, accepted_at) VALUES (?1, ?2, ?3)";
            connection.execute(sql, params![signed(n), body, signed(now)])?;
            find(connection, n)?.ok_or(rusqlite::Error::QueryReturnedNoRows)
        };
        self.0.writer.write(accept).await
    }

    /// The revocation of a submission.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn revocation(&self, n: u64) -> Result<Option<RevocationRow>, StoreError> {
        self.read(|connection| find(connection, n))
    }

    /// The oldest revocation of a lane that is not done and may be tried now: its feedback is final. The
    /// feedback's index is beside it. `now`: unix seconds.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn next_revocation(
        &self,
        lane: &str,
        now: u64,
    ) -> Result<Option<(RevocationRow, u64)>, StoreError> {
        self.read(|connection| {
            let sql = format!(
                "SELECT {COLUMNS}, submission.feedback_index FROM revocation \
                 JOIN submission ON submission.n = revocation.n \
                 WHERE revocation.is_done = 0 AND revocation.not_before <= :now \
                 AND submission.lane = :lane AND submission.is_done = 1 \
                 AND submission.feedback_index IS NOT NULL ORDER BY revocation.n LIMIT 1"
            );
            let mut statement = connection.prepare_cached(&sql)?;
            let read = |row: &rusqlite::Row<'_>| {
                let index: i64 = row.get(8)?;
                Ok((RevocationRow::read(row)?, index.unsigned_abs()))
            };
            let values = named_params! { ":lane": lane, ":now": signed(now) };
            statement.query_row(values, read).optional()
        })
    }

    /// How many revocations are not done, of feedback that the registry has or will have.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn open_revocations(&self) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM revocation JOIN submission ON submission.n = revocation.n \
                   WHERE revocation.is_done = 0 AND submission.state <> 'refused'";
        let count: i64 = self.read(|it| it.query_row(sql, [], |row| row.get(0)))?;
        Ok(count.unsigned_abs())
    }

    /// Revocations whose last attempt failed, or that the registry refuses.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn late_revocations(&self) -> Result<Vec<RevocationRow>, StoreError> {
        self.read(|connection| {
            let sql =
                format!("SELECT {COLUMNS} FROM revocation WHERE reason IS NOT NULL ORDER BY n");
            let mut statement = connection.prepare_cached(&sql)?;
            let rows = statement.query_map([], RevocationRow::read)?;
            rows.collect()
        })
    }

    /// The registry has revoked it: nothing is left to do.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn set_revoked(&self, n: u64) -> Result<(), StoreError> {
        let sql =
            "UPDATE revocation SET reason = NULL, is_done = 1 WHERE n = ?1 AND state = 'final'";
        let set = move |it: &Connection| it.execute(sql, params![signed(n)]);
        self.0.writer.write(set).await.map(drop)
    }

    /// The registry refuses the revocation for good.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn refuse_revocation(&self, n: u64, reason: String) -> Result<(), StoreError> {
        let sql = "UPDATE revocation SET state = 'refused', reason = ?2, is_done = 1 WHERE n = ?1";
        let set = move |it: &Connection| it.execute(sql, params![signed(n), reason]);
        self.0.writer.write(set).await.map(drop)
    }

    /// An attempt failed; the next is due at a time in unix seconds. `is_reverted`: by the registry.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn postpone_revocation(
        &self,
        n: u64,
        reason: String,
        due: u64,
        is_reverted: bool,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE revocation SET attempts = attempts + 1, reason = ?2, not_before = ?3, \
                   reverts = CASE ?4 WHEN 0 THEN 0 ELSE reverts + 1 END WHERE n = ?1";
        let set = move |it: &Connection| {
            it.execute(sql, params![signed(n), reason, signed(due), is_reverted])
        };
        self.0.writer.write(set).await.map(drop)
    }

    /// The record of a revocation's transactions.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn revocation_record(&self, row: &RevocationRow) -> Result<StoreRecord, StoreError> {
        StoreRecord::load(self.clone(), Table::Revocation, row.n, row.landing.clone())
    }
}

fn find(connection: &Connection, n: u64) -> rusqlite::Result<Option<RevocationRow>> {
    let sql = format!("SELECT {COLUMNS} FROM revocation WHERE n = ?1");
    let mut statement = connection.prepare_cached(&sql)?;
    statement
        .query_row(params![signed(n)], RevocationRow::read)
        .optional()
}
