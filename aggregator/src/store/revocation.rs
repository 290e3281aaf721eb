use concord_chain::submission::Landing;

use super::{
    RowState, Store, StoreError, StoreRecord,
    db::{Cells, Db, int, text},
    record::Table,
};
use crate::revocation::RevocationRequest;

pub(super) const COLUMNS: &str = "revocation.n, revocation.body, revocation.accepted_at, revocation.state, \
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
    pub(super) fn read(row: &Cells<'_>) -> Result<Self, String> {
        let small = |column| Ok::<u32, String>(row.get::<u64>(column)? as u32);
        Ok(Self {
            n: row.get(0)?,
            request: row.json(1)?,
            accepted_at: row.get(2)?,
            state: RowState::read(&row.get::<String>(3)?)?,
            reason: row.get(4)?,
            attempts: small(5)?,
            reverts: small(7)?,
            landing: row.json_or_null(6)?,
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
        let body = serde_json::to_string(request).map_err(|error| self.failed(error))?;
        let accept = move |db: &mut Db| {
            let sql = "INSERT INTO revocation (n, body, accepted_at) VALUES (?1, ?2, ?3) \
                       ON CONFLICT (n) DO NOTHING";
            db.run(sql, &[int(n), text(&body), int(now)])?;
            find(db, n)?.ok_or_else(|| StoreError::gone("revocation", n))
        };
        self.write(accept).await
    }

    /// The revocation of a submission.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn revocation(&self, n: u64) -> Result<Option<RevocationRow>, StoreError> {
        self.read(|db| find(db, n))
    }

    /// How many revocations are not done, of feedback that the registry has or will have.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn open_revocations(&self) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM revocation JOIN submission ON submission.n = revocation.n \
                   WHERE revocation.is_done = 0 AND submission.state <> 'refused'";
        self.read(|db| db.count(sql, &[]))
    }

    /// Revocations whose last attempt failed, or that the registry refuses.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn late_revocations(&self) -> Result<Vec<RevocationRow>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM revocation WHERE reason IS NOT NULL ORDER BY n");
        self.read(|db| db.all(&sql, &[], RevocationRow::read))
    }

    /// The registry has revoked it: nothing is left to do.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn set_revoked(&self, n: u64) -> Result<(), StoreError> {
        self.finish(Table::Revocation, n).await
    }

    /// The registry refuses the revocation for good.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn refuse_revocation(&self, n: u64, reason: String) -> Result<(), StoreError> {
        self.refuse(Table::Revocation, n, reason).await
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
        self.put_off(Table::Revocation, n, reason, (due, is_reverted))
            .await
    }

    /// The record of a revocation's transactions.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn revocation_record(&self, row: &RevocationRow) -> Result<StoreRecord, StoreError> {
        StoreRecord::load(self.clone(), Table::Revocation, row.n, row.landing.clone())
    }
}

fn find(db: &mut Db, n: u64) -> Result<Option<RevocationRow>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM revocation WHERE n = ?1");
    db.one(&sql, &[int(n)], RevocationRow::read)
}
