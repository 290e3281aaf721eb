use std::{collections::BTreeSet, time::Duration};

use concord_chain::{
    ChainError,
    submission::{Finality, Landing, SendOutcome, SignedTx, TxStatus},
    svm::{Cluster, Transactions},
};
use tokio::{sync::watch, time::timeout};

use super::Sponsor;
use crate::store::{SponsoredRow, SponsoredState, Store, StoreError};

/// An idle worker looks at the store this often.
const TICK: Duration = Duration::from_secs(1);
/// Transactions that are followed at once.
const TOGETHER: u64 = 80;

/// Sends what both have signed, and follows it until it is final. It never signs anything.
pub struct SponsorWorker {
    transactions: Transactions,
    settlement: String,
    store: Store,
    poll: Duration,
    /// Those whose block hash was too old at the last look. An endpoint with many nodes may ask one for the height and
    /// another one for the transaction, so one look is not enough.
    expired: BTreeSet<u64>,
}

/// Why a look failed.
#[derive(Debug, thiserror::Error)]
enum WorkerError {
    #[error(transparent)]
    Chain(#[from] ChainError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl SponsorWorker {
    /// `poll`: between two looks at the cluster.
    #[must_use]
    pub fn new(sponsor: &Sponsor, store: Store, poll: Duration) -> Self {
        let cluster: Cluster = sponsor.cluster.clone();
        Self {
            transactions: Transactions::new(cluster),
            settlement: sponsor.registry(),
            store,
            poll,
            expired: BTreeSet::new(),
        }
    }

    /// Works until `stop` becomes true. What is under way then continues at the next start. Of several processes that
    /// share the database, one works.
    pub async fn run(mut self, mut stop: watch::Receiver<bool>) {
        let name = format!("sponsored {}", self.settlement);
        let database = self.store.clone();
        loop {
            let leased = tokio::select! {
                leased = database.leased(&name) => leased,
                _ = stop.wait_for(|it| *it) => return,
            };
            self.store = leased.clone();
            let is_stopped = tokio::select! {
                () = self.work() => false,
                () = leased.keep_lease() => false,
                _ = stop.wait_for(|it| *it) => true,
            };
            if is_stopped {
                return leased.let_go().await;
            }
        }
    }

    async fn work(&mut self) {
        let mut changes = self.store.changes();
        loop {
            changes.borrow_and_update();
            match self.look().await {
                Ok(0) => {
                    let _ = timeout(TICK, changes.changed()).await; // either is a reason to look
                }
                Ok(_) => tokio::time::sleep(self.poll).await,
                Err(error) => {
                    tracing::error!(%error, "sponsored feedback waits");
                    tokio::time::sleep(TICK).await;
                }
            }
        }
    }

    /// One look at all that is open. Returns how many those are.
    async fn look(&mut self) -> Result<usize, WorkerError> {
        let rows = self.store.open_sponsored(&self.settlement, TOGETHER)?;
        let with_transaction = rows
            .iter()
            .filter_map(|row| Some((row, row.transaction.clone()?)));
        let (rows, signed): (Vec<&SponsoredRow>, Vec<SignedTx>) = with_transaction.unzip();
        let statuses = self.transactions.statuses(&signed).await?;
        let (mut due, mut executed, mut expired) = (Vec::new(), Vec::new(), BTreeSet::new());
        for ((row, signed), status) in rows.iter().zip(&signed).zip(statuses) {
            match status {
                TxStatus::Landed(landing) => executed.push((*row, landing, None)),
                TxStatus::Failed { reason, landing } => {
                    executed.push((*row, landing, Some(reason)));
                }
                TxStatus::Unknown => due.push((*row, signed.clone())),
                TxStatus::Expired if self.expired.contains(&row.id) => self.expire(row).await?,
                TxStatus::Expired => {
                    expired.insert(row.id);
                }
                TxStatus::Pending | TxStatus::Blocked(_) => {}
            }
        }
        self.expired = expired;
        self.note_executed(&executed).await?;
        self.send(&due).await?;
        Ok(rows.len())
    }

    async fn expire(&self, row: &SponsoredRow) -> Result<(), StoreError> {
        let id = row.id;
        tracing::warn!(id, "expired");
        let store = &self.store;
        store
            .end_sponsored(id, SponsoredState::Expired, row.reason.clone())
            .await
    }

    /// What was executed ends once it is final: before, a reorganisation may take it back.
    async fn note_executed(
        &self,
        executed: &[(&SponsoredRow, Landing, Option<String>)],
    ) -> Result<(), WorkerError> {
        let landings: Vec<Landing> = executed.iter().map(|it| it.1.clone()).collect();
        let finality = if landings.is_empty() {
            Vec::new()
        } else {
            self.transactions.finality(&landings).await?
        };
        for ((row, landing, failure), finality) in executed.iter().zip(finality) {
            let (id, store) = (row.id, &self.store);
            match (finality, failure) {
                (Finality::Reorganised, _) => store.sponsored_landed(id, None).await?,
                (Finality::Final, Some(reason)) => {
                    tracing::warn!(id, reason, "failed");
                    let (state, reason) = (SponsoredState::Refused, Some(reason.clone()));
                    store.end_sponsored(id, state, reason).await?;
                }
                (Finality::NotYet, Some(_)) => {}
                (finality, None) => {
                    if row.landing.as_ref() != Some(landing) {
                        store.sponsored_landed(id, Some(landing)).await?;
                    }
                    if finality == Finality::Final {
                        tracing::info!(id, "final");
                        store.end_sponsored(id, SponsoredState::Final, None).await?;
                    }
                }
            }
        }
        Ok(())
    }

    async fn send(&mut self, due: &[(&SponsoredRow, SignedTx)]) -> Result<(), WorkerError> {
        let signed: Vec<SignedTx> = due.iter().map(|it| it.1.clone()).collect();
        let outcomes = self.transactions.send_all(&signed).await;
        for ((row, _), outcome) in due.iter().zip(outcomes) {
            match outcome? {
                SendOutcome::Accepted if row.state == SponsoredState::Landed => {
                    // it had landed in a block that is gone
                    self.store.sponsored_landed(row.id, None).await?;
                }
                SendOutcome::Accepted => self.store.sponsored_sent(row.id).await?,
                SendOutcome::Underpriced => {}
                SendOutcome::Refused(reason) if row.reason.as_ref() == Some(&reason) => {}
                SendOutcome::Refused(reason) => {
                    tracing::warn!(id = row.id, reason, "not taken");
                    self.store.sponsored_late(row.id, reason).await?;
                }
            }
        }
        Ok(())
    }
}
