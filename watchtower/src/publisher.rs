use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};

use concord_chain::{Amount, ChainError, submission::TxRecord};
use concord_files::parse_feedback;
use concord_x402::{
    feedback::{FeedbackError, FeedbackJob, FeedbackRegistry, FileStore, Submission},
    verify::Registries,
};
use tokio::time::sleep;

use crate::{
    Agent, Budget, OwnAccounts, Signal, SignalState, Store, StoreError, StoreRecord,
    WatchtowerError, target::registry_key,
};

/// Seconds between attempts: doubled each time, up to the limit.
const BACKOFF: u64 = 60;
const BACKOFF_MAX: u64 = 3_600;
/// A call that the registry reverts so often, one time after the other, will not succeed later.
const REVERTS: u32 = 3;

/// How long a pass waits until what landed is final. Solana takes 13 seconds, a rollup's `finalized` 20 minutes.
const PATIENCE: Duration = Duration::from_secs(30);
/// Between two looks.
const LOOK: Duration = Duration::from_secs(1);

/// Publishes the signals of one registry by one account, one after the other. None waits until the one before it is
/// final: `finalized` takes 20 minutes on a rollup.
///
/// It continues from whatever state the store has: what landed is never sent again, and what is on disk as signed
/// is what is sent (R60).
pub struct Publisher {
    registry: Box<dyn FeedbackRegistry>,
    budget: Budget,
    own: OwnAccounts,
    registries: Arc<dyn Registries>,
    files: Arc<dyn FileStore>,
    store: Store,
    patience: Duration,
}

/// How an attempt to publish a signal ended.
enum Attempt {
    /// It is published, or it failed, for a reason of its own.
    Over,
    /// It is in this block, which is not final yet.
    Landed(u64),
    /// It failed, because of the chain.
    OfTheChain,
}

/// The result of one pass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PassReport {
    /// Signals that are final.
    pub published: u64,
    /// Signals that are in a block, which is not final yet.
    pub landed: u64,
    /// Signals that will not be published.
    pub refused: u64,
    /// Signals that wait for their next attempt.
    pub late: u64,
    /// Signals that wait for the next budget.
    pub over_budget: u64,
    /// What was spent, and the most that those cost which are under way.
    pub spent: Amount,
}

impl Publisher {
    /// Publishes with an account, within a budget.
    #[must_use]
    pub fn new(
        registry: Box<dyn FeedbackRegistry>,
        budget: Budget,
        own: OwnAccounts,
        registries: Arc<dyn Registries>,
        files: Arc<dyn FileStore>,
        store: Store,
    ) -> Self {
        Self {
            registry,
            budget,
            own,
            registries,
            files,
            store,
            patience: PATIENCE,
        }
    }

    /// The same, where a pass waits so long until what landed is final. What is not final then is looked at in the
    /// next pass.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// The registry's name in the store.
    #[must_use]
    pub fn registry_key(&self) -> String {
        registry_key(&self.registry.registry())
    }

    /// The account, CAIP-10.
    #[must_use]
    pub fn client(&self) -> String {
        self.registry.client()
    }

    /// The budget.
    #[must_use]
    pub const fn budget(&self) -> Budget {
        self.budget
    }

    /// The most that a signal can cost now.
    ///
    /// # Errors
    /// [`WatchtowerError::Feedback`].
    pub async fn cost(&self, submission: &Submission) -> Result<Amount, WatchtowerError> {
        Ok(self.registry.cost(submission).await?)
    }

    /// Publishes what is due, within the budgets. `now`: unix seconds.
    ///
    /// # Errors
    /// [`StoreError`]. What fails otherwise is noted, and tried again later.
    pub async fn pass(&mut self, now: u64) -> Result<PassReport, StoreError> {
        let mut report = PassReport::default();
        let mut landed = Vec::new();
        for n in self.store.open_signals(&self.registry_key(), now)? {
            let Some(signal) = self.store.signal(n)? else {
                continue;
            };
            if let Some(landing) = &signal.landing {
                landed.push((landing.block, n));
                continue;
            }
            // what was signed is finished, whatever else may still be spent
            let is_new = !self.store.record(&signal)?.is_signed();
            if is_new && report.over_budget > 0 {
                report.over_budget += 1;
                continue;
            }
            match self.attempt(&signal, now, &mut report).await? {
                Attempt::Over => {}
                Attempt::Landed(block) => landed.push((block, n)),
                Attempt::OfTheChain => break,
            }
        }
        self.finish(landed, now, &mut report).await?;
        Ok(report)
    }

    /// Waits for a while until what landed is final: blocks, and the signals in them. A later block is not final before
    /// an earlier one.
    async fn finish(
        &mut self,
        mut landed: Vec<(u64, u64)>,
        now: u64,
        report: &mut PassReport,
    ) -> Result<(), StoreError> {
        landed.sort_unstable();
        let (begun, mut left) = (Instant::now(), VecDeque::from(landed));
        while let Some((block, n)) = left.front().copied() {
            let attempt = match self.store.signal(n)? {
                Some(signal) => self.attempt(&signal, now, report).await?,
                None => Attempt::Over,
            };
            match attempt {
                Attempt::Landed(_) if begun.elapsed() < self.patience => sleep(LOOK).await,
                Attempt::Landed(_) => {
                    tracing::info!(n, block, "landed, and not final yet");
                    break;
                }
                Attempt::Over => drop(left.pop_front()),
                Attempt::OfTheChain => {
                    left.pop_front();
                    break;
                }
            }
        }
        report.landed = left.len() as u64;
        Ok(())
    }

    /// One attempt to publish a signal, noted and counted.
    async fn attempt(
        &mut self,
        signal: &Signal,
        now: u64,
        report: &mut PassReport,
    ) -> Result<Attempt, StoreError> {
        match self.publish(signal, now, &mut report.spent).await {
            Ok(None) => {
                let Signal { n, agent, tag, .. } = signal;
                tracing::info!(n, agent, tag, "published");
                report.published += 1;
                Ok(Attempt::Over)
            }
            Ok(Some(block)) => Ok(Attempt::Landed(block)),
            Err(error) => {
                self.note(signal, &error, now, report)?;
                Ok(if error.is_of_the_chain() {
                    Attempt::OfTheChain
                } else {
                    Attempt::Over
                })
            }
        }
    }

    /// What follows from a failure.
    fn note(
        &self,
        signal: &Signal,
        error: &WatchtowerError,
        now: u64,
        report: &mut PassReport,
    ) -> Result<(), StoreError> {
        let (n, reason) = (signal.n, error.to_string());
        tracing::warn!(
            n,
            agent = signal.agent,
            tag = signal.tag,
            reason,
            "not published"
        );
        let reverts = match error {
            WatchtowerError::Undecided => signal.reverts, // the revert itself may be what is not final
            _ if error.is_reverted() => signal.reverts.saturating_add(1),
            _ => 0,
        };
        match error {
            WatchtowerError::NoAgent(_) => {
                report.refused += 1;
                self.store.set_refused(n, &reason)
            }
            WatchtowerError::OverBudget { .. } => {
                report.over_budget += 1;
                self.store.postpone(n, &reason, now, signal.reverts) // it was not tried
            }
            _ if reverts >= REVERTS => {
                report.refused += 1;
                self.store.set_refused(n, &reason)
            }
            _ => {
                report.late += 1;
                let due = now.saturating_add(backoff(signal.attempts));
                self.store.postpone(n, &reason, due, reverts)
            }
        }
    }

    /// `Some`: it is in this block, which is not final yet.
    async fn publish(
        &mut self,
        signal: &Signal,
        now: u64,
        spent: &mut Amount,
    ) -> Result<Option<u64>, WatchtowerError> {
        self.require_same_account(signal)?;
        let n = signal.n;
        let mut record = self.store.record(signal)?;
        if !record.is_signed() {
            self.prepare(signal, now, *spent).await?;
        } else if record.has_failed() {
            self.reserve(signal, record.cost(), now, *spent).await?;
        }
        let id = StoreRecord::job_id(n);
        let submission = &signal.submission;
        let job = FeedbackJob {
            id: &id,
            submission,
        };
        let waits = record.waits();
        // The call is dropped as a kill would end it.
        let submitted = tokio::select! {
            biased;
            done = self.registry.submit(job, &mut record) => done.map(|()| true),
            () = waits.notified() => Ok(false),
        };
        let is_final = match submitted {
            Err(FeedbackError::Chain(ChainError::NotFinal { .. })) => Ok(false),
            // it keeps no other signal waiting
            Ok(false) if record.landing(&id).is_none() => Err(WatchtowerError::Undecided),
            other => other.map_err(WatchtowerError::from),
        };
        if is_final.is_err() && !record.is_signed() {
            self.store.release(n)?;
        }
        let reserved = self.store.signal(n)?.and_then(|it| it.reserved);
        // what landed before this pass was spent before it
        let is_spent_now = signal.landing.is_none();
        let cost = match &is_final {
            Ok(_) => record.cost(),
            Err(_) => reserved.unwrap_or_default(),
        };
        if is_spent_now {
            *spent = spent.saturating_add(cost);
        }
        if is_final? {
            self.read_back(signal, job, &record).await?;
            return Ok(None);
        }
        let landed = record.landed_transaction();
        let (landing, _) = landed.ok_or(WatchtowerError::NoLanding)?;
        Ok(Some(landing.block))
    }

    /// What comes before anything is signed.
    async fn prepare(
        &self,
        signal: &Signal,
        now: u64,
        spent: Amount,
    ) -> Result<(), WatchtowerError> {
        let n = signal.n;
        self.store.release(n)?; // of an attempt that ended before it signed
        self.require_other(signal).await?;
        if signal.state == SignalState::Intended {
            self.files.store(signal.file.as_bytes()).await?;
            self.store.set_stored(n)?;
        }
        self.reserve(signal, Amount::default(), now, spent).await
    }

    /// Takes the most that the next transaction can cost out of the budgets. `paid`: what earlier ones cost. What was
    /// reserved for those counts until then.
    async fn reserve(
        &self,
        signal: &Signal,
        paid: Amount,
        now: u64,
        spent: Amount,
    ) -> Result<(), WatchtowerError> {
        let cost = self.registry.cost(&signal.submission).await?;
        let today = self.store.spent_on_day(&self.registry_key(), now)?;
        self.budget.require(cost, today, spent)?;
        let most = paid.saturating_add(cost);
        Ok(self.store.reserve(signal.n, most, now)?)
    }

    /// R60: the signal's file says who publishes it.
    fn require_same_account(&self, signal: &Signal) -> Result<(), WatchtowerError> {
        let parsed = parse_feedback(signal.file.as_bytes());
        let file = parsed.map_err(|error| WatchtowerError::Evidence {
            agent: signal.agent.clone(),
            error,
        })?;
        let drafted = &file.view().head().client_address;
        let present = self.client();
        if *drafted == present {
            Ok(())
        } else {
            Err(WatchtowerError::OtherAccount {
                drafted: drafted.clone(),
                present,
            })
        }
    }

    /// R60: the agent may have become an own one since it was probed.
    async fn require_other(&self, signal: &Signal) -> Result<(), WatchtowerError> {
        let agent = Agent::of_key(&signal.agent)?;
        if let Some(reason) = self.store.own_by_file(&signal.agent)? {
            return Err(WatchtowerError::Own(reason));
        }
        let record = self.registries.agent(agent.registration(), None).await?;
        let record = record.ok_or_else(|| WatchtowerError::NoAgent(signal.agent.clone()))?;
        match self.own.by_chain(&agent, &record).await? {
            Some(reason) => Err(WatchtowerError::Own(reason)),
            None => Ok(()),
        }
    }

    /// The entry on chain must be the one that was written down.
    async fn read_back(
        &self,
        signal: &Signal,
        job: FeedbackJob<'_>,
        record: &StoreRecord,
    ) -> Result<(), WatchtowerError> {
        let landed = record.landed_transaction();
        let (landing, signed) = landed.ok_or(WatchtowerError::NoLanding)?;
        let entry = self.registry.entry(job, landing, signed).await?;
        let found = entry
            .file()
            .map(|(uri, hash)| format!("{uri} 0x{}", hex::encode(hash)))
            .unwrap_or_default();
        let expected = format!("{} {}", signal.submission.uri, signal.submission.hash);
        if found != expected {
            return Err(WatchtowerError::OtherEntry { found, expected });
        }
        Ok(self.store.set_entry(signal.n, entry.index, record.cost())?)
    }
}

fn backoff(attempts: u32) -> u64 {
    let doubled = 1u64.checked_shl(attempts).unwrap_or(BACKOFF_MAX);
    BACKOFF.saturating_mul(doubled).min(BACKOFF_MAX)
}
