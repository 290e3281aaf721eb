use std::{sync::Arc, time::Duration};

use concord_canonical::caip::AccountId;
use concord_files::{AgentId, RegistrationId};
use concord_x402::feedback::{
    FeedbackError, FeedbackJob, FeedbackRegistry, ResponseJob, RevocationJob,
};
use tokio::time::{sleep, timeout};

use super::{Claimed, Parts, error::LaneError, now};
use crate::{
    aggregator::LanePlace,
    store::{
        Found, Phase, ResponseRow, RevocationRow, Row, RowState, Signals, Store, StoreError,
        StoreRecord, Wanted, Work,
    },
};

/// An idle worker looks at the store this often, for work whose next attempt is due.
const TICK: Duration = Duration::from_secs(1);
/// Seconds between attempts: doubled each time, up to the limit.
const BACKOFF: u64 = 1;
const BACKOFF_MAX: u64 = 300;
/// A call that the registry reverts so often, one time after the other, will not succeed later.
const REVERTS: u32 = 3;
/// Seconds for which one thing that failed before is waited for before others have their turn, and the pause that then follows
/// at least. One that has landed and is not final, and one that waits for another block, is looked at once.
const TURN: u64 = 30;
/// Seconds until something that was looked at once has its next turn, at least.
const PAUSE: u64 = 1;
/// After each look at one that has landed and is not final: there may be hundreds, and one node.
const LOOK: Duration = Duration::from_millis(250);
/// Seconds for what never failed, or may be in the chain already.
const LANDING_TURN: u64 = 120;
/// Seconds after which `status` reports that something has not landed, or is not final.
const LATE_TO_LAND: u64 = 600;
const LATE: u64 = 3_600;

/// One connection of a lane's account to its registry.
pub(super) struct Worker {
    registry: Box<dyn FeedbackRegistry>,
    phase: Phase,
    parts: Arc<Parts>,
    /// Something that was begun had its turn for nothing: the next one is of what is not begun.
    fresh_first: bool,
}

/// How an attempt ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// Nothing is left to do.
    Over,
    /// Its transaction landed, or is not in the chain any more: the rest is the other phase's.
    Turned,
    /// It waits for something that takes a while.
    Waits,
}

impl Worker {
    pub fn new(registry: Box<dyn FeedbackRegistry>, phase: Phase, parts: Arc<Parts>) -> Self {
        Self {
            registry,
            phase,
            parts,
            fresh_first: false,
        }
    }

    /// One thing after the other, without an end.
    pub async fn work(&mut self, store: &Store) {
        let mut changes = store.changes();
        loop {
            changes.borrow_and_update();
            match self.next(store) {
                Ok(Some((found, _claimed))) => self.take(store, &found).await,
                Ok(None) => {
                    let _ = timeout(TICK, changes.changed()).await; // either is a reason to look
                }
                Err(error) => {
                    tracing::error!(%error, lane = self.parts.place.name(), "the store failed");
                    sleep(TICK).await;
                }
            }
        }
    }

    /// What is due. Of an agent one thing is brought on chain after the other: on Solana each feedback states its index (R12).
    fn next(&self, store: &Store) -> Result<Option<(Found, Option<Claimed>)>, StoreError> {
        let lane = self.parts.place.name();
        let busy = match self.phase {
            Phase::Landing => self.parts.busy(),
            Phase::Finality => Default::default(), // nothing is signed for it
        };
        let found = store.work(Wanted {
            lane: &lane,
            now: now(),
            phase: self.phase,
            busy: &busy,
            fresh_first: self.fresh_first,
        })?;
        Ok(found.map(|found| match self.phase {
            Phase::Landing => {
                let claimed = self.parts.claim(found.agent.clone());
                (found, Some(claimed))
            }
            Phase::Finality => (found, None),
        }))
    }

    /// One attempt, or one turn of following what landed.
    async fn take(&mut self, store: &Store, found: &Found) {
        let work = &found.work;
        let turn = Duration::from_secs(self.turn(work));
        let ended = timeout(turn, self.attempt(store, work)).await;
        let is_done = matches!(ended, Ok(Ok(End::Over | End::Turned)));
        self.fresh_first = self.phase == Phase::Landing && work.is_begun() && !is_done;
        let done = match ended {
            Ok(Ok(End::Over | End::Turned)) => Ok(()),
            Ok(Ok(End::Waits)) => self.wait(store, found).await,
            Ok(Err(error)) => Err(error),
            Err(_) => self.pass(store, found, self.pause(found, TURN)).await,
        };
        let Err(error) = done else {
            return;
        };
        let (n, kind, attempts, reason) =
            (work.n(), work.kind(), work.attempts(), error.to_string());
        tracing::warn!(n, kind, attempts, reason, "not done");
        if let Err(error) = self.note(store, found, &error).await {
            tracing::error!(%error, n, kind, "the store failed");
            sleep(TICK).await; // it is not asked again at once
        }
    }

    /// Notes why an attempt failed: it is tried again, or the registry refuses it for good.
    async fn note(
        &self,
        store: &Store,
        found: &Found,
        error: &LaneError,
    ) -> Result<(), StoreError> {
        let work = &found.work;
        let (n, reason) = (work.n(), error.to_string());
        if self.phase == Phase::Landing && error.lets_others() {
            store.let_others(work).await?;
        }
        let is_reverted = error.is_reverted() && self.is_outsider(work).await;
        if is_reverted && work.reverts() + 1 >= REVERTS {
            return match work {
                Work::Submit(_) => store.set_refused(n, reason).await,
                Work::Revoke(..) => store.refuse_revocation(n, reason).await,
                Work::Respond(..) => store.refuse_response(n, reason).await,
            };
        }
        let backoff = backoff(work.attempts());
        let pause = match error {
            LaneError::NotLanded { .. } | LaneError::NotFinal { .. } => self.pause(found, TURN),
            _ if work.is_begun() && !error.lets_others() => backoff.min(TURN), // others wait for it
            _ => backoff,
        };
        let due = now().saturating_add(pause);
        match work {
            Work::Submit(_) => store.postpone(n, reason, due, is_reverted).await,
            Work::Revoke(..) => store.postpone_revocation(n, reason, due, is_reverted).await,
            Work::Respond(..) => store.postpone_response(n, reason, due, is_reverted).await,
        }
    }

    /// Whether a revert is no effect of R18, which the agent can end.
    async fn is_outsider(&self, work: &Work) -> bool {
        match work {
            Work::Submit(row) => self.require_outsider(row).await.is_ok(),
            Work::Revoke(..) | Work::Respond(..) => true,
        }
    }

    /// Seconds for which it is waited for. What failed on chain is signed again only once the failure is final, so that an agent
    /// could make others wait as long by what it does in its own block.
    fn turn(&self, work: &Work) -> u64 {
        let has_failed = work.attempts() > 0 && !work.is_begun();
        match self.phase {
            Phase::Landing if has_failed => TURN,
            Phase::Landing => LANDING_TURN,
            Phase::Finality => TURN,
        }
    }

    /// Lets others have their turn, and be signed: it waits for something else.
    async fn wait(&self, store: &Store, found: &Found) -> Result<(), LaneError> {
        match self.phase {
            Phase::Landing => store.let_others(&found.work).await?,
            Phase::Finality => sleep(LOOK).await,
        }
        self.pass(store, found, self.pause(found, PAUSE)).await
    }

    /// Lets others have their turn, before one that has not landed, or is not final yet.
    async fn pass(&self, store: &Store, found: &Found, pause: u64) -> Result<(), LaneError> {
        let now = now();
        let seconds = now.saturating_sub(found.since);
        match self.phase {
            Phase::Landing if seconds > LATE_TO_LAND => Err(LaneError::NotLanded { seconds }),
            Phase::Finality if seconds > LATE => Err(LaneError::NotFinal { seconds }),
            _ => Ok(store.pass(&found.work, now.saturating_add(pause)).await?),
        }
    }

    fn pause(&self, found: &Found, least: u64) -> u64 {
        pause(self.phase, now().saturating_sub(found.since), least)
    }

    async fn attempt(&mut self, store: &Store, work: &Work) -> Result<End, LaneError> {
        match work {
            Work::Submit(row) => self.submit(store, row).await,
            Work::Revoke(row, index) => self.revoke(store, row, *index).await,
            Work::Respond(row, index) => self.respond(store, row, *index).await,
        }
    }

    async fn submit(&mut self, store: &Store, row: &Row) -> Result<End, LaneError> {
        if row.state == RowState::Accepted {
            self.store_file(store, row).await?;
        }
        let id = StoreRecord::job_id(row);
        let job = FeedbackJob {
            id: &id,
            submission: &row.submission,
        };
        let mut record = store.record(row)?;
        if matches!(row.state, RowState::Accepted | RowState::Stored) {
            self.require_outsider(row).await?;
        }
        let signals = record.signals();
        let end = until_turned(&signals, self.registry.submit(job, &mut record)).await?;
        if self.is_done(end) {
            self.read_back(store, row, &record).await?;
        }
        Ok(end)
    }

    /// What a worker has brought on chain, another one follows.
    fn is_done(&self, end: End) -> bool {
        end == End::Over && self.phase == Phase::Finality
    }

    async fn read_back(
        &self,
        store: &Store,
        row: &Row,
        record: &StoreRecord,
    ) -> Result<(), LaneError> {
        let (n, id) = (row.receipt.n, StoreRecord::job_id(row));
        let job = FeedbackJob {
            id: &id,
            submission: &row.submission,
        };
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
        store.set_entry(n, entry.index).await?;
        tracing::info!(n, "final");
        Ok(())
    }

    /// R58
    async fn revoke(
        &mut self,
        store: &Store,
        row: &RevocationRow,
        index: u64,
    ) -> Result<End, LaneError> {
        let id = row.job_id();
        let submission = store.get(row.n)?.ok_or(LaneError::NoSubmission)?;
        let job = RevocationJob {
            id: &id,
            agent_id: &submission.submission.agent_id,
            index,
        };
        let mut record = store.revocation_record(row)?;
        let signals = record.signals();
        let end = until_turned(&signals, self.registry.revoke(job, &mut record)).await?;
        if self.is_done(end) {
            store.set_revoked(row.n).await?;
            tracing::info!(n = row.n, "revoked");
        }
        Ok(end)
    }

    /// R19, R58: anyone may respond, so no insider check is made.
    async fn respond(
        &mut self,
        store: &Store,
        row: &ResponseRow,
        index: u64,
    ) -> Result<End, LaneError> {
        let (n, id, request) = (row.receipt.n, row.job_id(), &row.request);
        let job = ResponseJob {
            id: &id,
            agent_id: &request.agent_id,
            index,
            uri: &request.response_uri,
            hash: request.response_word().map_err(LaneError::Response)?,
        };
        let mut record = store.response_record(row)?;
        let signals = record.signals();
        let end = until_turned(&signals, self.registry.respond(job, &mut record)).await?;
        if self.is_done(end) {
            store.set_responded(n).await?;
            tracing::info!(n, "responded");
        }
        Ok(end)
    }

    /// R18: an agent can make any account one of its operators. Its owner could end the submission of feedback
    /// that way, so it only waits until that is withdrawn.
    async fn require_outsider(&self, row: &Row) -> Result<(), LaneError> {
        let LanePlace {
            registry, client, ..
        } = &self.parts.place;
        let id = &row.submission.agent_id;
        let agent = RegistrationId {
            agent_registry: registry.clone(),
            agent_id: AgentId::parse(&AccountId::parse(registry)?, id)?,
        };
        if self.parts.insiders.is_insider(&agent, client).await? {
            Err(LaneError::ActsForAgent {
                client: client.clone(),
                agent: id.clone(),
            })
        } else {
            Ok(())
        }
    }

    /// Stores the file (R55: before anything is signed).
    async fn store_file(&self, store: &Store, row: &Row) -> Result<(), LaneError> {
        let n = row.receipt.n;
        let file = store.file(n)?.ok_or(LaneError::NoFile)?;
        self.parts.files.store(file.as_bytes()).await?;
        Ok(store.set_stored(n).await?)
    }
}

/// Returns how the call ended. It is dropped, as a kill would end it, once its transaction landed or is not in the chain any
/// more, and once nothing can be done now.
async fn until_turned(
    signals: &Signals,
    call: impl Future<Output = Result<(), FeedbackError>>,
) -> Result<End, LaneError> {
    tokio::select! {
        biased;
        done = call => Ok(done.map(|()| End::Over)?),
        () = signals.turned.notified() => Ok(End::Turned),
        () = signals.waits.notified() => Ok(End::Waits),
    }
}

/// Seconds until the next turn of what has waited for so many seconds: the longer it waits, the fewer turns it has.
fn pause(phase: Phase, waited: u64, least: u64) -> u64 {
    let most = match phase {
        Phase::Landing => LANDING_TURN, // on EVM chains others may wait for its nonce
        Phase::Finality => BACKOFF_MAX,
    };
    (waited / 10).clamp(least, most)
}

fn backoff(attempts: u32) -> u64 {
    let doubled = 1u64.checked_shl(attempts).unwrap_or(BACKOFF_MAX);
    BACKOFF.saturating_mul(doubled).min(BACKOFF_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_longer_has_fewer_turns_and_never_none() {
        for (waited, landing, finality) in [
            (0, 1, 1),
            (19, 1, 1),
            (600, 60, 60),
            (1_200, 120, 120),
            (9_000, 120, 300),
        ] {
            assert_eq!(pause(Phase::Landing, waited, PAUSE), landing, "{waited}");
            assert_eq!(pause(Phase::Finality, waited, PAUSE), finality, "{waited}");
        }
        assert_eq!(pause(Phase::Landing, 19, TURN), 30); // what takes its whole turn
        assert_eq!(pause(Phase::Finality, u64::MAX, TURN), 300);
    }

    #[test]
    fn attempts_that_fail_are_further_and_further_apart() {
        let apart: Vec<u64> = (0..9).map(backoff).collect();
        assert_eq!(apart, [1, 2, 4, 8, 16, 32, 64, 128, 256]);
        for attempts in [9, 63, 64, u32::MAX] {
            assert_eq!(backoff(attempts), 300);
        }
    }
}
