use concord_chain::submission::Landing;

use super::{
    Row, RowState, SignedReceipt, Store, StoreError, StoreRecord, acceptance,
    db::{Cells, Db, int, value},
    record::Table,
};
use crate::response::{ResponseForm, ResponseRequest};

pub(super) const COLUMNS: &str = "response.n, submission.key, response.digest, response.accepted_at, \
                       response.previous, response.receipt, response.signature, response.submission, \
                       response.body, response.state, response.reason, response.attempts, \
                       response.landing, response.reverts, submission.settlement";
pub(super) const TABLES: &str = "response JOIN submission ON submission.n = response.submission";

/// A response that was accepted for an agent (R19, R58).
#[derive(Clone, Debug)]
pub struct ResponseRow {
    /// Its receipt, a link of the same chain as those of submissions. The key is the feedback's.
    pub receipt: SignedReceipt,
    /// The submission that it responds to: the number of its receipt.
    pub submission: u64,
    /// What the agent signed.
    pub request: ResponseRequest,
    /// The registry that records it, CAIP-10.
    pub settlement: String,
    /// How far it is. Its file is the agent's matter, so it is never `stored`.
    pub state: RowState,
    /// Why the last attempt failed, or why the registry refuses it.
    pub reason: Option<String>,
    /// Attempts that failed.
    pub attempts: u32,
    /// How many of the last ones the registry reverted.
    pub reverts: u32,
    pub(super) landing: Option<Landing>,
}

/// What [`Store::accept_response`] found.
#[derive(Clone, Debug)]
pub enum AcceptedResponse {
    /// It is on disk now, with a receipt.
    Now(ResponseRow),
    /// The feedback has a response already.
    Before(ResponseRow),
}

impl ResponseRow {
    pub(super) fn read(row: &Cells<'_>) -> Result<Self, String> {
        let small = |column| Ok::<u32, String>(row.get::<u64>(column)? as u32);
        Ok(Self {
            receipt: SignedReceipt::read(row)?,
            submission: row.get(7)?,
            request: row.json(8)?,
            state: RowState::read(&row.get::<String>(9)?)?,
            reason: row.get(10)?,
            attempts: small(11)?,
            landing: row.json_or_null(12)?,
            reverts: small(13)?,
            settlement: row.get(14)?,
        })
    }

    /// What landed; `None` before, and after a reorganisation.
    #[must_use]
    pub fn landing(&self) -> Option<&Landing> {
        self.landing.as_ref()
    }

    /// The name of the response among the jobs of its lane.
    #[must_use]
    pub fn job_id(&self) -> String {
        Table::Response.job_id(self.receipt.n)
    }
}

impl Store {
    /// Accepts a response to a submission, unless it has one already.
    ///
    /// # Errors
    /// [`StoreError`]; then nothing was accepted.
    pub(crate) async fn accept_response(
        &self,
        to: &Row,
        form: &ResponseForm,
        now: u64,
    ) -> Result<AcceptedResponse, StoreError> {
        let body = serde_json::to_string(&form.request).map_err(|error| self.failed(error))?;
        let (n, key, digest) = (to.receipt.n, to.receipt.key.clone(), form.digest);
        let signer = self.0.key.clone();
        let accept = move |db: &mut Db| {
            if let Some(row) = find(db, "response.submission", n)? {
                return Ok(AcceptedResponse::Before(row));
            }
            let receipt = acceptance::next_receipt(db, (&key, digest), now, &signer)?;
            let sql = "INSERT INTO response (n, submission, digest, accepted_at, previous, receipt, \
                       signature, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
            let values = [
                int(receipt.n),
                int(n),
                value(receipt.payload_digest),
                int(receipt.accepted_at),
                value(receipt.previous),
                value(receipt.hash),
                value(receipt.signature),
                value(body),
            ];
            db.run(sql, &values)?;
            let row = find(db, "response.n", receipt.n)?;
            let row = row.ok_or_else(|| StoreError::gone("response", receipt.n))?;
            Ok(AcceptedResponse::Now(row))
        };
        self.write(accept).await
    }

    /// The response with this receipt.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn response(&self, n: u64) -> Result<Option<ResponseRow>, StoreError> {
        self.read(|db| find(db, "response.n", n))
    }

    /// The response to a submission.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn response_to(&self, submission: u64) -> Result<Option<ResponseRow>, StoreError> {
        self.read(|db| find(db, "response.submission", submission))
    }

    /// Responses in the order of their receipts, from a number on.
    pub(super) fn responses(&self, from: u64, limit: u64) -> Result<Vec<ResponseRow>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM {TABLES} WHERE response.n >= ?1 ORDER BY response.n LIMIT ?2"
        );
        self.read(|db| db.all(&sql, &[int(from), int(limit)], ResponseRow::read))
    }

    /// How many responses are not done, to feedback that the registry has or will have.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn open_responses(&self) -> Result<u64, StoreError> {
        let sql = format!(
            "SELECT count(*) FROM {TABLES} WHERE response.is_done = 0 AND submission.state <> 'refused'"
        );
        self.read(|db| db.count(&sql, &[]))
    }

    /// Responses whose last attempt failed, or that the registry refuses.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn late_responses(&self) -> Result<Vec<ResponseRow>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM {TABLES} WHERE response.reason IS NOT NULL ORDER BY response.n"
        );
        self.read(|db| db.all(&sql, &[], ResponseRow::read))
    }

    /// The registry has it: nothing is left to do.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn set_responded(&self, n: u64) -> Result<(), StoreError> {
        self.finish(Table::Response, n).await
    }

    /// The registry refuses the response for good.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn refuse_response(&self, n: u64, reason: String) -> Result<(), StoreError> {
        self.refuse(Table::Response, n, reason).await
    }

    /// An attempt failed; the next is due at a time in unix seconds. `is_reverted`: by the registry.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn postpone_response(
        &self,
        n: u64,
        reason: String,
        due: u64,
        is_reverted: bool,
    ) -> Result<(), StoreError> {
        self.put_off(Table::Response, n, reason, (due, is_reverted))
            .await
    }

    /// The record of a response's transactions.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn response_record(&self, row: &ResponseRow) -> Result<StoreRecord, StoreError> {
        let n = row.receipt.n;
        StoreRecord::load(self.clone(), Table::Response, n, row.landing.clone())
    }
}

/// `column`: one that has each number once.
fn find(db: &mut Db, column: &str, n: u64) -> Result<Option<ResponseRow>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM {TABLES} WHERE {column} = ?1");
    db.one(&sql, &[int(n)], ResponseRow::read)
}
