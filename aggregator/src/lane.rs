//! Brings what was accepted on chain: one account of one registry, one submission after the other.
//!
//! Each step is in the store before the next, so a lane that was killed continues from any state. It never
//! gives up: what fails for a passing reason is tried again, later each time.

use std::{
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use concord_canonical::caip::AccountId;
use concord_chain::ChainError;
use concord_files::{AgentId, RegistrationId};
use concord_x402::{
    feedback::{
        FeedbackError, FeedbackJob, FeedbackRegistry, FileStore, ResponseJob, RevocationJob,
    },
    verify::Unavailable,
};
use tokio::{sync::watch, time::timeout};

use crate::{
    Insiders, Refusal,
    aggregator::LanePlace,
    store::{ResponseRow, RevocationRow, Row, RowState, Store, StoreError, StoreRecord},
};

/// An idle lane looks at the store this often, for submissions whose next attempt is due.
const TICK: Duration = Duration::from_secs(1);
/// Seconds between attempts: doubled each time, up to the limit.
const BACKOFF: u64 = 1;
const BACKOFF_MAX: u64 = 300;
/// A call that the registry reverts so often, one time after the other, will not succeed later.
const REVERTS: u32 = 3;

/// A lane.
pub struct Lane {
    registry: Box<dyn FeedbackRegistry>,
    place: LanePlace,
    insiders: Arc<dyn Insiders>,
    files: Arc<dyn FileStore>,
    store: Store,
}

/// What a lane does next.
enum Work {
    Submit(Box<Row>),
    /// With the index of the feedback.
    Revoke(Box<RevocationRow>, u64),
    /// With the index of the feedback.
    Respond(Box<ResponseRow>, u64),
}

/// Why an attempt failed.
#[derive(Debug, thiserror::Error)]
enum LaneError {
    #[error(transparent)]
    Feedback(#[from] FeedbackError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Chain(#[from] ChainError),
    #[error("the transaction that landed is not on record")]
    NoLanding,
    #[error("the submission that is revoked is not on record")]
    NoSubmission,
    #[error("the response on record is malformed: {0}")]
    Response(Refusal),
    #[error("the feedback file is not on record")]
    NoFile,
    #[error("{client} acts for agent {agent}; the registry refuses its feedback meanwhile (R18)")]
    ActsForAgent { client: String, agent: String },
    #[error("who acts for the agent cannot be read: {}", .0.0)]
    Unavailable(#[from] Unavailable),
    #[error("the agent's id is malformed: {0}")]
    Agent(#[from] concord_canonical::Error),
    #[error("the entry on chain has {found}, expected {expected}")]
    OtherEntry { found: String, expected: String },
}

impl Lane {
    /// `settlement`: the registry that records the feedback, CAIP-10.
    #[must_use]
    pub fn new(
        registry: Box<dyn FeedbackRegistry>,
        settlement: &str,
        insiders: Arc<dyn Insiders>,
        files: Arc<dyn FileStore>,
        store: Store,
    ) -> Self {
        let place = LanePlace {
            registry: registry.registry(),
            client: registry.client(),
            settlement: settlement.to_owned(),
        };
        Self {
            registry,
            place,
            insiders,
            files,
            store,
        }
    }

    /// Where it submits.
    #[must_use]
    pub fn place(&self) -> &LanePlace {
        &self.place
    }

    /// Submits until `stop` becomes true. What is under way then continues at the next start. Of several processes that
    /// share the database, one works on the lane.
    pub async fn run(mut self, mut stop: watch::Receiver<bool>) {
        let (lane, database) = (self.place.name(), self.store.clone());
        loop {
            let leased = tokio::select! {
                leased = database.leased(&lane) => leased,
                _ = stop.wait_for(|it| *it) => return,
            };
            self.store = leased.clone();
            let is_stopped = tokio::select! {
                () = self.work(&lane) => false,
                () = leased.keep_lease() => false,
                _ = stop.wait_for(|it| *it) => true,
            };
            if is_stopped {
                return leased.let_go().await;
            }
        }
    }

    /// One submission, revocation or response after the other, without an end.
    async fn work(&mut self, lane: &str) {
        let mut changes = self.store.changes();
        loop {
            changes.borrow_and_update();
            match self.next(lane) {
                Ok(Some(Work::Submit(row))) => self.advance(&row).await,
                Ok(Some(Work::Revoke(row, index))) => self.advance_revocation(&row, index).await,
                Ok(Some(Work::Respond(row, index))) => self.advance_response(&row, index).await,
                Ok(None) => {
                    let _ = timeout(TICK, changes.changed()).await; // either is a reason to look
                }
                Err(error) => {
                    tracing::error!(%error, lane, "the store failed");
                    tokio::time::sleep(TICK).await;
                }
            }
        }
    }

    /// What was accepted first comes first.
    fn next(&self, lane: &str) -> Result<Option<Work>, StoreError> {
        let now = now();
        let row = self.store.next(lane, now)?;
        let revocation = self.store.next_revocation(lane, now)?;
        let response = self.store.next_response(lane, now)?;
        let all = [
            row.map(|row| (row.receipt.accepted_at, Work::Submit(Box::new(row)))),
            revocation.map(|(row, index)| (row.accepted_at, Work::Revoke(Box::new(row), index))),
            response.map(|(row, index)| {
                let accepted_at = row.receipt.accepted_at;
                (accepted_at, Work::Respond(Box::new(row), index))
            }),
        ];
        let first = all.into_iter().flatten().min_by_key(|(at, _)| *at);
        Ok(first.map(|(_, work)| work))
    }

    /// One attempt for one submission.
    async fn advance(&mut self, row: &Row) {
        let n = row.receipt.n;
        let Err(error) = self.submit(row).await else {
            tracing::info!(n, "final");
            return;
        };
        let reason = error.to_string();
        tracing::warn!(n, attempts = row.attempts, reason, "not submitted");
        let is_reverted = is_reverted(&error) && self.require_outsider(row).await.is_ok();
        let noted = match is_reverted && row.reverts + 1 >= REVERTS {
            true => self.store.set_refused(n, reason).await,
            false => {
                let due = now().saturating_add(backoff(row.attempts));
                self.store.postpone(n, reason, due, is_reverted).await
            }
        };
        require_noted(n, noted).await;
    }

    /// One attempt for one revocation (R58).
    async fn advance_revocation(&mut self, row: &RevocationRow, index: u64) {
        let n = row.n;
        let Err(error) = self.revoke(row, index).await else {
            tracing::info!(n, "revoked");
            return;
        };
        let reason = error.to_string();
        tracing::warn!(n, attempts = row.attempts, reason, "not revoked");
        let is_reverted = is_reverted(&error);
        let noted = match is_reverted && row.reverts + 1 >= REVERTS {
            true => self.store.refuse_revocation(n, reason).await,
            false => {
                let due = now().saturating_add(backoff(row.attempts));
                let postponed = self.store.postpone_revocation(n, reason, due, is_reverted);
                postponed.await
            }
        };
        require_noted(n, noted).await;
    }

    async fn revoke(&mut self, row: &RevocationRow, index: u64) -> Result<(), LaneError> {
        let id = row.job_id();
        let submission = self.store.get(row.n)?.ok_or(LaneError::NoSubmission)?;
        let job = RevocationJob {
            id: &id,
            agent_id: &submission.submission.agent_id,
            index,
        };
        let mut record = self.store.revocation_record(row)?;
        self.registry.revoke(job, &mut record).await?;
        Ok(self.store.set_revoked(row.n).await?)
    }

    /// One attempt for one response (R58).
    async fn advance_response(&mut self, row: &ResponseRow, index: u64) {
        let n = row.receipt.n;
        let Err(error) = self.respond(row, index).await else {
            tracing::info!(n, "responded");
            return;
        };
        let reason = error.to_string();
        tracing::warn!(n, attempts = row.attempts, reason, "not responded");
        let is_reverted = is_reverted(&error);
        let noted = match is_reverted && row.reverts + 1 >= REVERTS {
            true => self.store.refuse_response(n, reason).await,
            false => {
                let due = now().saturating_add(backoff(row.attempts));
                let postponed = self.store.postpone_response(n, reason, due, is_reverted);
                postponed.await
            }
        };
        require_noted(n, noted).await;
    }

    /// R19: anyone may respond, so no insider check is made.
    async fn respond(&mut self, row: &ResponseRow, index: u64) -> Result<(), LaneError> {
        let (id, request) = (row.job_id(), &row.request);
        let job = ResponseJob {
            id: &id,
            agent_id: &request.agent_id,
            index,
            uri: &request.response_uri,
            hash: request.response_word().map_err(LaneError::Response)?,
        };
        let mut record = self.store.response_record(row)?;
        self.registry.respond(job, &mut record).await?;
        Ok(self.store.set_responded(row.receipt.n).await?)
    }

    /// R18: an agent can make any account one of its operators. Its owner could end the submission of feedback
    /// that way, so it only waits until that is withdrawn.
    async fn require_outsider(&self, row: &Row) -> Result<(), LaneError> {
        let LanePlace {
            registry, client, ..
        } = &self.place;
        let id = &row.submission.agent_id;
        let agent = RegistrationId {
            agent_registry: registry.clone(),
            agent_id: AgentId::parse(&AccountId::parse(registry)?, id)?,
        };
        match self.insiders.is_insider(&agent, client).await? {
            false => Ok(()),
            true => Err(LaneError::ActsForAgent {
                client: client.clone(),
                agent: id.clone(),
            }),
        }
    }

    /// Stores the file (R55: before anything is signed).
    async fn store_file(&self, row: &Row) -> Result<(), LaneError> {
        let n = row.receipt.n;
        let file = self.store.file(n)?.ok_or(LaneError::NoFile)?;
        self.files.store(file.as_bytes()).await?;
        Ok(self.store.set_stored(n).await?)
    }

    async fn submit(&mut self, row: &Row) -> Result<(), LaneError> {
        let n = row.receipt.n;
        if row.state == RowState::Accepted {
            self.store_file(row).await?;
        }
        if matches!(row.state, RowState::Accepted | RowState::Stored) {
            self.require_outsider(row).await?;
        }
        let id = StoreRecord::job_id(row);
        let job = FeedbackJob {
            id: &id,
            submission: &row.submission,
        };
        let mut record = self.store.record(row)?;
        self.registry.submit(job, &mut record).await?;
        let (landing, signed) = record.landed_transaction().ok_or(LaneError::NoLanding)?;
        let entry = self.registry.entry(job, landing, signed).await?;
        let found = entry
            .file()
            .map(|(uri, hash)| format!("{uri} 0x{}", hex::encode(hash)))
            .unwrap_or_default();
        let expected = format!("{} {}", row.submission.uri, row.submission.hash);
        if found != expected {
            return Err(LaneError::OtherEntry { found, expected });
        }
        Ok(self.store.set_entry(n, entry.index).await?)
    }
}

/// A store that fails is not asked again at once.
async fn require_noted(n: u64, noted: Result<(), StoreError>) {
    if let Err(error) = noted {
        tracing::error!(%error, n, "the store failed");
        tokio::time::sleep(TICK).await;
    }
}

/// Only a simulation says so before anything is signed, and only if no earlier transaction can land.
fn is_reverted(error: &LaneError) -> bool {
    match error {
        LaneError::Feedback(FeedbackError::Chain(ChainError::SimulationFailed {
            reason, ..
        })) => reason.contains("revert"),
        _ => false,
    }
}

fn backoff(attempts: u32) -> u64 {
    let doubled = 1u64.checked_shl(attempts).unwrap_or(BACKOFF_MAX);
    BACKOFF.saturating_mul(doubled).min(BACKOFF_MAX)
}

/// Unix seconds.
pub(crate) fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |it| it.as_secs())
}
