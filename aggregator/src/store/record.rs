use std::sync::Arc;

use alloy::consensus::Transaction;
use concord_chain::{
    ChainError, evm,
    submission::{Landing, SignedTx, TxRecord, TxStatus},
};
use serde::Serialize;
use tokio::sync::Notify;

use super::{
    Row, Store, StoreError,
    db::{Db, int, text},
};
use crate::lane::now;

/// The transactions of one submission, its revocation or its response, in the store. Each change is committed when the
/// call returns.
pub struct StoreRecord {
    store: Store,
    table: Table,
    n: u64,
    transactions: Vec<SignedTx>,
    landing: Option<Landing>,
    signals: Arc<Signals>,
}

/// What a worker hears of a record while it submits.
#[derive(Default)]
pub struct Signals {
    /// A transaction has landed, or is not in the chain any more.
    pub turned: Notify,
    /// Nothing can be done now.
    pub waits: Notify,
}

/// What transactions belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Table {
    Submission,
    Revocation,
    Response,
}

impl Table {
    /// Every one.
    pub const ALL: [Self; 3] = [Self::Submission, Self::Revocation, Self::Response];

    /// The table with states and landings, by `n`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Submission => "submission",
            Self::Revocation => "revocation",
            Self::Response => "response",
        }
    }

    /// The table with transactions, and its column for `n`.
    pub const fn transactions(self) -> (&'static str, &'static str) {
        match self {
            Self::Submission => ("tx", "submission"),
            Self::Revocation => ("revocation_tx", "n"),
            Self::Response => ("response_tx", "n"),
        }
    }

    /// The state before a signature.
    const fn unsigned(self) -> &'static str {
        match self {
            Self::Submission => "stored",
            Self::Revocation | Self::Response => "accepted", // they have no file
        }
    }

    pub fn job_id(self, n: u64) -> String {
        match self {
            Self::Submission => n.to_string(),
            Self::Revocation => format!("revoke-{n}"),
            Self::Response => format!("respond-{n}"),
        }
    }
}

impl StoreRecord {
    pub(super) fn load(
        store: Store,
        table: Table,
        n: u64,
        landing: Option<Landing>,
    ) -> Result<Self, StoreError> {
        let (name, key) = table.transactions();
        let sql = format!("SELECT body FROM {name} WHERE {key} = ?1 ORDER BY position");
        let transactions = store.read(|db| db.all(&sql, &[int(n)], |row| row.json(0)))?;
        Ok(Self {
            store,
            table,
            n,
            transactions,
            landing,
            signals: Arc::default(),
        })
    }

    /// The name of the submission among the jobs of its lane.
    #[must_use]
    pub fn job_id(row: &Row) -> String {
        Table::Submission.job_id(row.receipt.n)
    }

    /// The transaction that landed, as it was signed.
    #[must_use]
    pub fn landed_transaction(&self) -> Option<(&Landing, &SignedTx)> {
        let landing = self.landing.as_ref()?;
        let mut all = self.transactions.iter();
        let transaction = all.find(|it| it.transaction == landing.transaction)?;
        Some((landing, transaction))
    }

    /// What is heard while the record is used.
    #[must_use]
    pub fn signals(&self) -> Arc<Signals> {
        self.signals.clone()
    }

    fn is_own(&self, job: &str) -> bool {
        job == self.table.job_id(self.n)
    }

    /// Changes the store, if the lease is still held.
    fn change(
        &self,
        change: impl FnOnce(&mut Db, u64) -> Result<(), StoreError> + Send + 'static,
    ) -> Result<(), ChainError> {
        let n = self.n;
        let written = self.store.write_now(move |db| change(db, n));
        written.map_err(|error| self.unusable(error))
    }

    fn unusable(&self, error: impl ToString) -> ChainError {
        ChainError::File {
            path: self.store.place().into(),
            reason: error.to_string(),
        }
    }

    /// Writes every transaction as it is here, and the state.
    fn write_all(&self, state: Option<&'static str>) -> Result<(), ChainError> {
        let mut bodies = Vec::with_capacity(self.transactions.len());
        for transaction in &self.transactions {
            bodies.push((transaction.transaction.clone(), self.text(transaction)?));
        }
        let table = self.table;
        self.change(move |db, n| {
            let (name, key) = table.transactions();
            let sql = format!(
                "INSERT INTO {name} ({key}, name, position, body) VALUES (?1, ?2, ?3, ?4) \
                 ON CONFLICT ({key}, name) DO UPDATE SET body = excluded.body"
            );
            for (position, (name, body)) in (0..).zip(&bodies) {
                db.run(&sql, &[int(n), text(name), int(position), text(body)])?;
            }
            state.map_or(Ok(()), |state| set_state(db, table, n, state))
        })
    }

    fn text(&self, value: &impl Serialize) -> Result<String, ChainError> {
        serde_json::to_string(value).map_err(|error| self.unusable(error))
    }
}

fn set_state(db: &mut Db, table: Table, n: u64, state: &str) -> Result<(), StoreError> {
    let sql = format!(
        "UPDATE {} SET state = ?2, yields = 0 WHERE n = ?1",
        table.name()
    );
    db.run(&sql, &[int(n), text(state)])
}

/// Whether one failed, and none of the others can land: of an EVM account one transaction of each nonce does.
fn is_spent(transactions: &[SignedTx], statuses: &[TxStatus]) -> bool {
    let nonce = |of: &SignedTx| evm::decode(of).ok().map(|it| it.nonce());
    let is_failed = |status: &TxStatus| matches!(status, TxStatus::Failed { .. });
    let both = || transactions.iter().zip(statuses);
    let failed: Vec<&SignedTx> = both().filter(|it| is_failed(it.1)).map(|it| it.0).collect();
    let is_over = |(transaction, status): (&SignedTx, &TxStatus)| match status {
        TxStatus::Failed { .. } | TxStatus::Expired => true,
        TxStatus::Landed(_) => false,
        _ => nonce(transaction)
            .is_some_and(|own| failed.iter().any(|other| nonce(other) == Some(own))),
    };
    !failed.is_empty() && both().all(is_over)
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

    fn looked(&mut self, job: &str, statuses: &[TxStatus]) -> Result<(), ChainError> {
        let table = self.table;
        match self.is_own(job) && is_spent(&self.transactions, statuses) {
            true => self.change(move |db, n| set_state(db, table, n, table.unsigned())), // nothing waits for their nonces
            false => Ok(()),
        }
    }

    fn waiting(&mut self, jobs: &[&str]) {
        if !jobs.is_empty() {
            self.signals.waits.notify_one();
        }
    }

    fn landed(&mut self, landed: &[(&str, Landing)]) -> Result<(), ChainError> {
        let Some((_, landing)) = landed.last() else {
            return Ok(());
        };
        let (body, table) = (self.text(landing)?, self.table.name());
        self.change(move |db, n| {
            let sql = format!(
                "UPDATE {table} SET state = 'landed', landing = ?2, landed_at = ?3, reason = NULL, \
                 not_before = 0, yields = 0 WHERE n = ?1"
            );
            db.run(&sql, &[int(n), text(&body), int(now())])
        })?;
        self.landing = Some(landing.clone());
        self.signals.turned.notify_one();
        Ok(())
    }

    fn reorganised(&mut self, jobs: &[&str]) -> Result<(), ChainError> {
        if jobs.is_empty() {
            return Ok(());
        }
        let table = self.table.name();
        self.change(move |db, n| {
            let sql = format!(
                "UPDATE {table} SET state = 'sent', landing = NULL, landed_at = NULL, \
                 not_before = 0, yields = 0 WHERE n = ?1"
            );
            db.run(&sql, &[int(n)])
        })?;
        self.landing = None;
        self.signals.turned.notify_one();
        Ok(())
    }

    fn finalized(&mut self, jobs: &[&str]) -> Result<(), ChainError> {
        let table = self.table;
        if jobs.is_empty() {
            Ok(())
        } else {
            self.change(move |db, n| set_state(db, table, n, "final"))
        }
    }
}
