use concord_chain::{
    ChainError,
    submission::{Landing, SignedTx, TxRecord},
};
use rusqlite::{Connection, params};
use serde::Serialize;

use super::{Row, Store, StoreError, row::json, signed};

/// The transactions of one submission, in the store. Each change is committed when the call returns.
pub struct StoreRecord {
    store: Store,
    n: u64,
    transactions: Vec<SignedTx>,
    landing: Option<Landing>,
}

impl StoreRecord {
    pub(super) fn load(store: Store, row: &Row) -> Result<Self, StoreError> {
        let n = row.receipt.n;
        let transactions = store.read(|connection| {
            let sql = "SELECT body FROM tx WHERE submission = ?1 ORDER BY position";
            let mut statement = connection.prepare_cached(sql)?;
            let read = |row: &rusqlite::Row<'_>| json(0, &row.get::<_, String>(0)?);
            let rows = statement.query_map(params![signed(n)], read)?;
            rows.collect()
        })?;
        Ok(Self {
            store,
            n,
            transactions,
            landing: row.landing.clone(),
        })
    }

    /// The name of the submission among the jobs of its lane.
    #[must_use]
    pub fn job_id(row: &Row) -> String {
        row.receipt.n.to_string()
    }

    /// The transaction that landed, as it was signed.
    #[must_use]
    pub fn landed_transaction(&self) -> Option<(&Landing, &SignedTx)> {
        let landing = self.landing.as_ref()?;
        let mut all = self.transactions.iter();
        let transaction = all.find(|it| it.transaction == landing.transaction)?;
        Some((landing, transaction))
    }

    fn is_own(&self, job: &str) -> bool {
        job == self.n.to_string()
    }

    fn change(
        &self,
        change: impl FnOnce(&Connection, i64) -> rusqlite::Result<()> + Send + 'static,
    ) -> Result<(), ChainError> {
        let n = signed(self.n);
        let written = self.store.0.writer.write_now(move |it| change(it, n));
        written.map_err(|error| ChainError::File {
            path: self.store.0.path.clone(),
            reason: error.to_string(),
        })
    }

    /// Writes every transaction as it is here, and the state.
    fn write_all(&self, state: Option<&'static str>) -> Result<(), ChainError> {
        let mut bodies = Vec::with_capacity(self.transactions.len());
        for transaction in &self.transactions {
            bodies.push((transaction.transaction.clone(), self.text(transaction)?));
        }
        self.change(move |connection, n| {
            let sql = "INSERT INTO tx (submission, name, position, body) VALUES (?1, ?2, ?3, ?4) \
                       ON CONFLICT (submission, name) DO UPDATE SET body = excluded.body";
            let mut insert = connection.prepare_cached(sql)?;
            for (position, (name, body)) in (0i64..).zip(&bodies) {
                insert.execute(params![n, name, position, body])?;
            }
            state.map_or(Ok(()), |state| set_state(connection, n, state))
        })
    }

    fn text(&self, value: &impl Serialize) -> Result<String, ChainError> {
        serde_json::to_string(value).map_err(|error| ChainError::File {
            path: self.store.0.path.clone(),
            reason: error.to_string(),
        })
    }
}

fn set_state(connection: &Connection, n: i64, state: &str) -> rusqlite::Result<()> {
    let sql = "UPDATE submission SET state = ?2 WHERE n = ?1";
    connection.prepare_cached(sql)?.execute(params![n, state])?;
    Ok(())
}

impl TxRecord for StoreRecord {
    fn transactions(&self, job: &str) -> &[SignedTx] {
        match self.is_own(job) {
            true => &self.transactions,
            false => &[],
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
            let is_sent = sent
                .iter()
                .any(|(_, it)| it.transaction == known.transaction);
            known.sent |= is_sent;
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
        self.change(move |connection, n| {
            let sql = "UPDATE submission SET state = 'landed', landing = ?2 WHERE n = ?1";
            connection.prepare_cached(sql)?.execute(params![n, text])?;
            Ok(())
        })?;
        self.landing = Some(landing.clone());
        Ok(())
    }

    fn reorganised(&mut self, jobs: &[&str]) -> Result<(), ChainError> {
        if jobs.is_empty() {
            return Ok(());
        }
        self.change(|connection, n| {
            let sql = "UPDATE submission SET state = 'sent', landing = NULL WHERE n = ?1";
            connection.prepare_cached(sql)?.execute(params![n])?;
            Ok(())
        })?;
        self.landing = None;
        Ok(())
    }

    fn finalized(&mut self, jobs: &[&str]) -> Result<(), ChainError> {
        match jobs.is_empty() {
            true => Ok(()),
            false => self.change(|connection, n| set_state(connection, n, "final")),
        }
    }
}
