use std::sync::Arc;

use concord_chain::Amount;
use concord_files::parse_feedback;
use concord_x402::{
    feedback::{FeedbackJob, FeedbackRegistry, FileStore, Submission},
    verify::Registries,
};

use crate::{
    Agent, Budget, OwnAccounts, Signal, SignalState, Store, StoreError, StoreRecord,
    WatchtowerError, target::registry_key,
};

/// Seconds between attempts: doubled each time, up to the limit.
const BACKOFF: u64 = 60;
const BACKOFF_MAX: u64 = 3_600;
/// A call that the registry reverts so often, one time after the other, will not succeed later.
const REVERTS: u32 = 3;

/// Publishes the signals of one registry by one account, one after the other.
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
}

/// The result of one pass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PassReport {
    /// Signals that are final.
    pub published: u64,
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
        }
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
        for n in self.store.open_signals(&self.registry_key(), now)? {
            let Some(signal) = self.store.signal(n)? else {
                continue;
            };
            // what was signed is finished, whatever else may still be spent
            let is_new = !self.store.record(&signal)?.is_signed();
            if is_new && report.over_budget > 0 {
                report.over_budget += 1;
                continue;
            }
            match self.publish(&signal, now, &mut report.spent).await {
                Ok(()) => {
                    tracing::info!(n, agent = signal.agent, tag = signal.tag, "published");
                    report.published += 1;
                }
                Err(error) => {
                    let stops = error.is_of_the_chain();
                    self.note(&signal, &error, now, &mut report)?;
                    if stops {
                        break;
                    }
                }
            }
        }
        Ok(report)
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
        let reverts = match error.is_reverted() {
            true => signal.reverts.saturating_add(1),
            false => 0,
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

    async fn publish(
        &mut self,
        signal: &Signal,
        now: u64,
        spent: &mut Amount,
    ) -> Result<(), WatchtowerError> {
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
        let submitted = self.registry.submit(job, &mut record).await;
        if submitted.is_err() && !record.is_signed() {
            self.store.release(n)?;
        }
        let reserved = self.store.signal(n)?.and_then(|it| it.reserved);
        let Err(error) = submitted else {
            *spent = spent.saturating_add(record.cost());
            return self.read_back(signal, job, &record).await;
        };
        *spent = spent.saturating_add(reserved.unwrap_or_default());
        Err(error.into())
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
        match *drafted == present {
            true => Ok(()),
            false => Err(WatchtowerError::OtherAccount {
                drafted: drafted.clone(),
                present,
            }),
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
