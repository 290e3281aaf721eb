use std::sync::Arc;

use concord_chain::{
    Amount, ChainError,
    submission::{Landing, SignedTx, TxRecord},
};
use rusqlite::{Connection, params};
use serde::Serialize;
use tokio::sync::Notify;

use super::{Store, StoreError, signal::json, signed};

/// The transactions of one signal, in the store. Each change is committed when the call returns.
pub struct StoreRecord {
    store: Store,
    n: u64,
    transactions: Vec<SignedTx>,
    landing: Option<Landing>,
    waits: Arc<Notify>,
}

impl StoreRecord {
    pub(super) fn load(store: Store, n: u64, landing: Option<Landing>) -> Result<Self, StoreError> {
        let transactions = store.with(|connection| {
            let sql = "SELECT body FROM tx WHERE signal = ?1 ORDER BY position";
            let mut statement = connection.prepare_cached(sql)?;
            let read = |row: &rusqlite::Row<'_>| json(0, &row.get::<_, String>(0)?);
            let rows = statement.query_map(params![signed(n)], read)?;
            rows.collect()
        })?;
        Ok(Self {
            store,
            n,
            transactions,
            landing,
            waits: Arc::default(),
        })
    }

    /// Is notified when nothing can be done now: the transaction has landed and is not final, or an earlier one is not decided.
    pub(crate) fn waits(&self) -> Arc<Notify> {
        self.waits.clone()
    }

    /// The signal's name among the jobs of its publisher.
    #[must_use]
    pub fn job_id(n: u64) -> String {
        format!("signal-{n}")
    }

    /// Whether anything was ever signed.
    #[must_use]
    pub fn is_signed(&self) -> bool {
        !self.transactions.is_empty()
    }

    /// The transaction that landed, as it was signed.
    #[must_use]
    pub fn landed_transaction(&self) -> Option<(&Landing, &SignedTx)> {
        let landing = self.landing.as_ref()?;
        let mut all = self.transactions.iter();
        let transaction = all.find(|it| it.transaction == landing.transaction)?;
        Some((landing, transaction))
    }

    /// What was paid: for the one that landed, and for those that failed.
    #[must_use]
    pub fn cost(&self) -> Amount {
        let failed = self.transactions.iter().filter_map(|it| it.failure_cost);
        let landed = self.landing.iter().map(|it| it.cost);
        failed.chain(landed).sum()
    }

    /// Whether a transaction failed, which was paid for, and none landed: another one may be signed.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        let has_cost = |it: &SignedTx| it.failure_cost.is_some();
        self.landing.is_none() && self.transactions.iter().any(has_cost)
    }

    fn is_own(&self, job: &str) -> bool {
        job == Self::job_id(self.n)
    }

    fn change(
        &self,
        change: impl FnOnce(&Connection, i64) -> rusqlite::Result<()>,
    ) -> Result<(), ChainError> {
        let n = signed(self.n);
        let written = self.store.together(|it| change(it, n));
        written.map_err(|error| self.unwritten(error))
    }

    fn unwritten(&self, reason: impl ToString) -> ChainError {
        ChainError::File {
            path: self.store.0.path.clone(),
            reason: reason.to_string(),
        }
    }

    /// Writes every transaction as it is here, and the state.
    fn write_all(&self, state: Option<&'static str>) -> Result<(), ChainError> {
        let mut bodies = Vec::with_capacity(self.transactions.len());
        for transaction in &self.transactions {
            bodies.push((&transaction.transaction, self.text(transaction)?));
        }
        self.change(|connection, n| {
            let sql = "INSERT INTO tx (signal, name, position, body) VALUES (?1, ?2, ?3, ?4) \
                       ON CONFLICT (signal, name) DO UPDATE SET body = excluded.body";
            let mut insert = connection.prepare_cached(sql)?;
            for (position, (name, body)) in (0i64..).zip(&bodies) {
                insert.execute(params![n, name, position, body])?;
            }
            state.map_or(Ok(()), |state| set_state(connection, n, state))
        })
    }

    fn text(&self, value: &impl Serialize) -> Result<String, ChainError> {
        serde_json::to_string(value).map_err(|error| self.unwritten(error))
    }
}

fn set_state(connection: &Connection, n: i64, state: &str) -> rusqlite::Result<()> {
    let sql = "UPDATE signal SET state = ?2 WHERE n = ?1";
    connection.execute(sql, params![n, state]).map(drop)
}

impl TxRecord for StoreRecord {
    fn transactions(&self, job: &str) -> &[SignedTx] {
        if self.is_own(job) {
            &self.transactions
        } else {
            &[]
        }
    }

    fn landing(&self, job: &str) -> Option<&Landing> {
        self.landing.as_ref().filter(|_| self.is_own(job))
    }

    fn signed(&mut self, signed: &[(&str, SignedTx)]) -> Result<(), ChainError> {
        if signed.is_empty() {
            return Ok(());
        }
        let new = signed.iter().map(|(_, transaction)| transaction.clone());
        self.transactions.extend(new);
        self.write_all(Some("signed"))
    }

    fn sent(&mut self, sent: &[(&str, SignedTx)]) -> Result<(), ChainError> {
        if sent.is_empty() {
            return Ok(());
        }
        for known in &mut self.transactions {
            known.sent |= sent
                .iter()
                .any(|(_, it)| it.transaction == known.transaction);
        }
        self.write_all(Some("sent"))
    }

    fn failed(&mut self, failed: &[(&str, SignedTx)]) -> Result<(), ChainError> {
        if failed.is_empty() {
            return Ok(());
        }
        for (_, transaction) in failed {
            transaction.note_failure(&mut self.transactions);
        }
        self.write_all(None)
    }

    fn landed(&mut self, landed: &[(&str, Landing)]) -> Result<(), ChainError> {
        let Some((_, landing)) = landed.last() else {
            return Ok(());
        };
        let text = self.text(landing)?;
        self.change(|connection, n| {
            let sql =
                "UPDATE signal SET state = 'landed', landing = ?2, reason = NULL WHERE n = ?1";
            connection.execute(sql, params![n, text]).map(drop)
        })?;
        self.landing = Some(landing.clone());
        Ok(())
    }

    fn reorganised(&mut self, jobs: &[&str]) -> Result<(), ChainError> {
        if jobs.is_empty() {
            return Ok(());
        }
        self.landing = None;
        self.change(|connection, n| {
            let sql = "UPDATE signal SET state = 'sent', landing = NULL WHERE n = ?1";
            connection.execute(sql, params![n]).map(drop)
        })
    }

    fn waiting(&mut self, jobs: &[&str]) {
        if !jobs.is_empty() {
            self.waits.notify_one();
        }
    }

    fn finalized(&mut self, jobs: &[&str]) -> Result<(), ChainError> {
        if jobs.is_empty() {
            Ok(())
        } else {
            self.change(|connection, n| set_state(connection, n, "final"))
        }
    }
}
