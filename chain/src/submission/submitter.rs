use super::{
    Finality, Landing, Resend, SendOutcome, SignedTx, TxChain, TxJob, TxRecord, TxStatus,
    job_progress::{JobProgress, Next},
};
use crate::ChainError;
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// How long to wait for what.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// Between two looks at the chain.
    pub poll: Duration,
    /// For a pending transaction, before its fee is raised.
    pub replace_after: Duration,
    /// For a job, before the run stops.
    pub give_up_after: Duration,
}

impl Timing {
    /// For what is not urgent: polling is slow enough for public endpoints.
    pub const UNHURRIED: Self = Self {
        poll: Duration::from_secs(1),
        replace_after: Duration::from_secs(45),
        give_up_after: Duration::from_secs(600),
    };
}

/// Chains are reorganised by a block or two now and then. One that always is cannot be used.
const ROUNDS: usize = 5;
/// A transaction that the chain does not take after so many tries is refused for good.
const REFUSALS: usize = 5;
/// A fee that was raised so often (a quarter each time) is not what keeps a transaction out.
const RAISES: usize = 8;
/// How often a transaction is looked for whose effect is on the chain already.
const LANDING_LOOKS: usize = 20;
/// So many transactions are pending together at most, of jobs that can be. Twice what public endpoints
/// of Solana take of one method in ten seconds: while the second half waits to be sent, there is room
/// again to ask the status of the first.
const TOGETHER: usize = 80;

/// Submits every job, and waits until all are final. Groups follow each other; the jobs of one
/// group may be pending together. `report` hears of each change.
///
/// # Errors
/// Whatever the chain gives up on, and [`ChainError::TransactionRefused`],
/// [`ChainError::TransactionFailed`], [`ChainError::NotLanded`], [`ChainError::NotFinal`],
/// [`ChainError::Reorganised`]. The record then has everything that was signed.
pub async fn submit<C: TxChain + ?Sized, R: TxRecord + ?Sized>(
    chain: &mut C,
    groups: &[&[C::Job]],
    record: &mut R,
    timing: Timing,
    report: &mut (dyn FnMut(&C::Job, &str) + Send),
) -> Result<(), C::Error> {
    let mut submitter = Submitter {
        chain,
        record,
        timing,
        report,
    };
    let mut round = 1;
    loop {
        let Some(job) = submitter.round(groups).await? else {
            return Ok(());
        };
        if round == ROUNDS {
            let job = job.id().to_owned();
            return Err(ChainError::Reorganised {
                job,
                rounds: ROUNDS,
            }
            .into());
        }
        round += 1;
        (submitter.report)(job, "the chain went back behind it");
    }
}

struct Submitter<'a, C: TxChain + ?Sized, R: ?Sized> {
    chain: &'a mut C,
    record: &'a mut R,
    timing: Timing,
    report: &'a mut (dyn FnMut(&C::Job, &str) + Send),
}

/// Why a group did not land.
enum Stop<E> {
    /// The transaction itself; or what it builds on is gone.
    Transaction(ChainError),
    Other(E),
}

impl<E: From<ChainError>> Stop<E> {
    fn into_error(self) -> E {
        match self {
            Self::Transaction(error) => error.into(),
            Self::Other(error) => error,
        }
    }
}

impl<E: From<ChainError>> From<ChainError> for Stop<E> {
    fn from(error: ChainError) -> Self {
        match error {
            ChainError::TransactionRefused { .. } | ChainError::TransactionFailed { .. } => {
                Self::Transaction(error)
            }
            other => Self::Other(other.into()),
        }
    }
}

impl<C: TxChain + ?Sized, R: TxRecord + ?Sized> Submitter<'_, C, R> {
    /// Gets every job done, and waits until all are final. `Some(job)`: the chain was reorganised
    /// behind that one.
    async fn round<'j>(&mut self, groups: &[&'j [C::Job]]) -> Result<Option<&'j C::Job>, C::Error> {
        let mut before: Vec<&C::Job> = Vec::new();
        for group in groups {
            match self.land(group).await {
                Ok(()) => before.extend(*group),
                Err(stop @ Stop::Transaction(_)) => {
                    let undone = self.first_undone(&before).await?;
                    return undone.map(Some).ok_or_else(|| stop.into_error());
                }
                Err(stop) => return Err(stop.into_error()),
            }
        }
        let all: Vec<&C::Job> = groups.iter().copied().flatten().collect();
        self.wait_until_final(&all).await
    }

    /// Whether each job is done: by its effect, or else by the landing on record.
    async fn done(&mut self, jobs: &[&C::Job]) -> Result<Vec<bool>, C::Error> {
        let effects = self.chain.effects(jobs).await?;
        let landed = |job: &C::Job| self.record.landing(job.id()).is_some();
        let both = jobs.iter().zip(effects);
        Ok(both
            .map(|(job, effect)| effect.unwrap_or_else(|| landed(job)))
            .collect())
    }

    /// The first of these that is not done (any more).
    async fn first_undone<'j>(
        &mut self,
        jobs: &[&'j C::Job],
    ) -> Result<Option<&'j C::Job>, C::Error> {
        let done = self.done(jobs).await?;
        let undone: Vec<&C::Job> = (jobs.iter().zip(done))
            .filter_map(|(job, is_done)| (!is_done).then_some(*job))
            .collect();
        self.record.reorganised(&ids(&undone))?;
        Ok(undone.first().copied())
    }

    /// Gets every job of the group done, several at a time.
    async fn land(&mut self, group: &[C::Job]) -> Result<(), Stop<C::Error>> {
        let earlier = |job: &C::Job| self.record.transactions(job.id()).len();
        let mut open: Vec<JobProgress<'_, C::Job>> = (group.iter())
            .map(|job| JobProgress::new(job, earlier(job)))
            .collect();
        loop {
            let jobs: Vec<&C::Job> = open.iter().map(|it| it.job).collect();
            let mut is_done = self.done(&jobs).await.map_err(Stop::Other)?.into_iter();
            let mut done = Vec::new();
            open.retain(|it| {
                let is_done = is_done.next().unwrap_or(false);
                if is_done {
                    done.push(it.job);
                }
                !is_done
            });
            self.record_landings(&done).await.map_err(Stop::Other)?;
            if let (Some(last), true) = (done.last(), group.len() > 1) {
                let words = format!(
                    "{} of {} are on chain",
                    group.len() - open.len(),
                    group.len()
                );
                (self.report)(last, &words);
            }
            if open.is_empty() {
                return Ok(());
            }
            let window = open.len().min(TOGETHER);
            self.turn(&mut open[..window]).await?;
        }
    }

    /// Asks once what became of these, and sends whatever is to be sent.
    async fn turn(&mut self, open: &mut [JobProgress<'_, C::Job>]) -> Result<(), Stop<C::Error>> {
        for it in &mut *open {
            let begun = *it.begun.get_or_insert_with(Instant::now);
            if begun.elapsed() > self.timing.give_up_after {
                return Err(not_landed(it.job, begun.elapsed()).into());
            }
        }
        let transactions = self.next_transactions(open).await?;
        let due: Vec<SignedTx> = transactions.iter().flatten().cloned().collect();
        let outcomes = self.chain.send_all(&due).await;
        let mut all_taken = !due.is_empty() && due.len() == open.len();
        let (mut taken, mut stopped) = (Vec::new(), None);
        let sent = open.iter_mut().zip(transactions);
        let sent = sent.filter_map(|(it, transaction)| Some((it, transaction?)));
        for ((it, transaction), outcome) in sent.zip(outcomes) {
            match self.note_outcome(&transaction, outcome, it).await {
                Ok(true) => taken.push((it.job.id(), transaction)),
                Ok(false) => all_taken = false,
                Err(stop) => {
                    stopped.get_or_insert(stop);
                }
            }
        }
        self.record.sent(&taken)?;
        if let Some(stop) = stopped {
            return Err(stop);
        }
        if !all_taken || open.len() > 1 {
            sleep(self.timing.poll).await; // else it may have landed already
        }
        Ok(())
    }

    /// Returns whether the chain took it.
    async fn note_outcome(
        &mut self,
        transaction: &SignedTx,
        outcome: Result<SendOutcome, C::Error>,
        progress: &mut JobProgress<'_, C::Job>,
    ) -> Result<bool, Stop<C::Error>> {
        let job = progress.job;
        progress.sent_at = Instant::now();
        match outcome.map_err(Stop::Other)? {
            SendOutcome::Accepted => {
                self.report(job, || format!("sent {}", transaction.transaction));
                return Ok(true);
            }
            SendOutcome::Underpriced => {
                if let Some(raised) = self.raised(transaction, progress).await? {
                    self.record_signed(&[(job, raised)])?;
                }
            }
            SendOutcome::Refused(reason) if progress.refusals == REFUSALS => {
                return Err(Stop::Transaction(ChainError::TransactionRefused {
                    job: job.id().to_owned(),
                    transaction: transaction.transaction.clone(),
                    reason,
                }));
            }
            SendOutcome::Refused(_) => progress.refusals += 1,
        }
        Ok(false)
    }

    /// The transaction to send now for each, all on record before they are returned; `None`: wait.
    async fn next_transactions(
        &mut self,
        open: &mut [JobProgress<'_, C::Job>],
    ) -> Result<Vec<Option<SignedTx>>, Stop<C::Error>> {
        let next = self.next(open).await?;
        let mut transactions = Vec::with_capacity(open.len());
        let (mut new, mut waiting) = (Vec::new(), Vec::new());
        for (it, next) in open.iter_mut().zip(next) {
            let is_late = it.sent_at.elapsed() > self.timing.replace_after;
            if !matches!(next, Next::Sign { .. }) {
                it.forget_expired(); // two looks in a row must say it
            }
            let newest = self.record.transactions(it.job.id()).last().cloned();
            let transaction = match (next, newest) {
                (Next::Send(known), _) => {
                    let resend = self.chain.resend(it.job, &known).await;
                    match resend.map_err(Stop::Other)? {
                        Resend::Instead(instead) => Some(instead),
                        Resend::Wait => None,
                        Resend::Same => {
                            transactions.push(Some(known));
                            continue;
                        }
                    }
                }
                (Next::Blocked(reason), _) => {
                    if it.is_newly_blocked_by(&reason) {
                        (self.report)(it.job, &reason)
                    } else {
                        waiting.push(it.job.id())
                    }
                    None
                }
                (Next::Wait, Some(newest)) if is_late => self.raised(&newest, it).await?,
                (Next::Wait, _) => None,
                (Next::Sign { expired }, _) if it.saw_expired(expired) => {
                    let signed = self.chain.sign(it.job, expired).await;
                    Some(signed.map_err(Stop::Other)?)
                }
                (Next::Sign { .. }, _) => None,
            };
            if let Some(transaction) = &transaction {
                new.push((it.job, transaction.clone()));
            }
            transactions.push(transaction);
        }
        self.record_signed(&new)?;
        self.record.waiting(&waiting);
        Ok(transactions)
    }

    async fn raised(
        &mut self,
        transaction: &SignedTx,
        progress: &mut JobProgress<'_, C::Job>,
    ) -> Result<Option<SignedTx>, Stop<C::Error>> {
        if progress.raises == RAISES {
            return Ok(None);
        }
        progress.raises += 1;
        let raised = self.chain.replace(progress.job, transaction).await;
        raised.map_err(Stop::Other)
    }

    fn record_signed(&mut self, signed: &[(&C::Job, SignedTx)]) -> Result<(), ChainError> {
        for (job, transaction) in signed {
            self.report(job, || format!("signed {}", transaction.transaction));
        }
        let signed: Vec<(&str, SignedTx)> = (signed.iter())
            .map(|(job, transaction)| (job.id(), transaction.clone()))
            .collect();
        self.record.signed(&signed)
    }

    /// Of jobs that come by the hundred, only their number is reported.
    fn report(&mut self, job: &C::Job, words: impl FnOnce() -> String) {
        if !job.is_one_of_many() {
            (self.report)(job, &words());
        }
    }

    /// What became of every transaction that was ever signed for these jobs.
    async fn statuses(
        &mut self,
        jobs: &[&C::Job],
    ) -> Result<Vec<(Vec<SignedTx>, Vec<TxStatus>)>, C::Error> {
        let transactions: Vec<Vec<SignedTx>> = (jobs.iter())
            .map(|job| self.record.transactions(job.id()).to_vec())
            .collect();
        let statuses = self.chain.statuses(&transactions.concat()).await?;
        let mut statuses = statuses.into_iter();
        let with_statuses = transactions.into_iter().map(|transactions| {
            let statuses = statuses.by_ref().take(transactions.len()).collect();
            (transactions, statuses)
        });
        Ok(with_statuses.collect())
    }

    async fn next(
        &mut self,
        open: &[JobProgress<'_, C::Job>],
    ) -> Result<Vec<Next>, Stop<C::Error>> {
        let jobs: Vec<&C::Job> = open.iter().map(|it| it.job).collect();
        let statuses = self.statuses(&jobs).await;
        let mut statuses = statuses.map_err(Stop::Other)?;
        self.record_failed(&jobs, &statuses)?;
        for (job, (_, statuses)) in jobs.iter().zip(&statuses) {
            self.record.looked(job.id(), statuses)?;
        }
        let failed = self.wait_for_failures(open, &mut statuses).await;
        failed.map_err(Stop::Other)?;
        let mut next = Vec::with_capacity(open.len());
        let mut landed = Vec::new();
        for (it, (transactions, statuses)) in open.iter().zip(statuses) {
            if let Some(landing) = statuses.iter().find_map(landing) {
                landed.push((it.job, landing.clone()));
            }
            next.push(it.next(&transactions, &statuses)?);
        }
        self.record_landed(&landed)?;
        Ok(next)
    }

    /// A job whose transaction failed before this process is tried again. Not before the failure is final:
    /// after a reorganisation the same transaction may succeed, and both would land.
    async fn wait_for_failures(
        &mut self,
        open: &[JobProgress<'_, C::Job>],
        statuses: &mut [(Vec<SignedTx>, Vec<TxStatus>)],
    ) -> Result<(), C::Error> {
        let of_jobs = open.iter().zip(statuses);
        let earlier = of_jobs.flat_map(|(it, (_, statuses))| statuses.iter_mut().take(it.earlier));
        let failed = earlier.filter_map(|status| match status {
            TxStatus::Failed { landing, .. } => Some((landing.clone(), status)),
            _ => None,
        });
        let (landings, failed): (Vec<Landing>, Vec<&mut TxStatus>) = failed.unzip();
        if landings.is_empty() {
            return Ok(());
        }
        let finality = self.chain.finality(&landings).await?;
        for ((landing, status), finality) in landings.iter().zip(failed).zip(finality) {
            if finality != Finality::Final {
                let Landing {
                    transaction, block, ..
                } = landing;
                *status = TxStatus::Blocked(format!(
                    "{transaction} failed in block {block}, which is not final yet: it is tried again when it is"
                ));
            }
        }
        Ok(())
    }

    /// What failed was paid for, too.
    fn record_failed(
        &mut self,
        jobs: &[&C::Job],
        statuses: &[(Vec<SignedTx>, Vec<TxStatus>)],
    ) -> Result<(), ChainError> {
        let mut failed = Vec::new();
        for (job, (transactions, statuses)) in jobs.iter().zip(statuses) {
            for (transaction, status) in transactions.iter().zip(statuses) {
                if let (TxStatus::Failed { landing, .. }, None) = (status, transaction.failure_cost)
                {
                    let failure_cost = Some(landing.cost);
                    failed.push((
                        job.id(),
                        SignedTx {
                            failure_cost,
                            ..transaction.clone()
                        },
                    ));
                }
            }
        }
        self.record.failed(&failed)
    }

    fn record_landed(&mut self, landed: &[(&C::Job, Landing)]) -> Result<(), ChainError> {
        let mut new = Vec::with_capacity(landed.len());
        for (job, landing) in landed {
            if self.record.landing(job.id()) != Some(landing) {
                self.report(job, || format!("landed in block {}", landing.block));
                new.push((job.id(), landing.clone()));
            }
        }
        self.record.landed(&new)
    }

    /// The jobs are done: which of their transactions was it? A node that lags behind may show the
    /// effect before the transaction. That is waited for.
    async fn record_landings(&mut self, jobs: &[&C::Job]) -> Result<(), C::Error> {
        let is_new = |job: &&&C::Job| self.record.landing(job.id()).is_none();
        let mut jobs: Vec<&C::Job> = jobs.iter().filter(is_new).copied().collect();
        for look in 0..LANDING_LOOKS {
            if look > 0 {
                sleep(self.timing.poll).await;
            }
            jobs = self.look_for_landings(&jobs).await?;
            if jobs.is_empty() {
                break;
            }
        }
        Ok(()) // another's transaction, or one from before this record
    }

    /// Returns those whose transactions are still pending.
    async fn look_for_landings<'j>(
        &mut self,
        jobs: &[&'j C::Job],
    ) -> Result<Vec<&'j C::Job>, C::Error> {
        let all = self.statuses(jobs).await?;
        let (mut landed, mut pending) = (Vec::new(), Vec::new());
        for (job, (_, statuses)) in jobs.iter().zip(all) {
            match statuses.iter().find_map(landing) {
                Some(landing) => landed.push((*job, landing.clone())),
                None if statuses.iter().any(is_pending) => pending.push(*job),
                None => {}
            }
        }
        self.record_landed(&landed)?;
        Ok(pending)
    }

    /// `Some(job)`: the chain was reorganised behind that one.
    async fn wait_until_final<'j>(
        &mut self,
        jobs: &[&'j C::Job],
    ) -> Result<Option<&'j C::Job>, C::Error> {
        let begun = Instant::now();
        let landing = |job: &&'j C::Job| {
            if self.record.is_final(job.id()) {
                None
            } else {
                Some((*job, self.record.landing(job.id()).cloned()?))
            }
        };
        let mut open: Vec<(&C::Job, Landing)> = jobs.iter().filter_map(landing).collect();
        loop {
            let landings: Vec<Landing> = open.iter().map(|(_, it)| it.clone()).collect();
            let finality = self.chain.finality(&landings).await?;
            let having = |wanted: Finality| {
                let both = open.iter().zip(&finality);
                both.filter_map(move |(landed, found)| (*found == wanted).then_some(landed))
            };
            let gone: Vec<&C::Job> = having(Finality::Reorganised).map(|it| it.0).collect();
            if let Some(first) = gone.first() {
                self.record.reorganised(&ids(&gone))?;
                return Ok(Some(first));
            }
            let done: Vec<&C::Job> = having(Finality::Final).map(|it| it.0).collect();
            self.record.finalized(&ids(&done))?;
            open = having(Finality::NotYet).cloned().collect();
            match open.first() {
                None => break,
                Some((job, landing)) if begun.elapsed() > self.timing.give_up_after => {
                    return Err(ChainError::NotFinal {
                        job: job.id().to_owned(),
                        block: landing.block,
                        seconds: begun.elapsed().as_secs(),
                    }
                    .into());
                }
                Some(_) => {}
            }
            let waiting: Vec<&C::Job> = open.iter().map(|it| it.0).collect();
            self.record.waiting(&ids(&waiting));
            sleep(self.timing.poll).await;
        }
        self.first_undone(jobs).await
    }
}

fn ids<'j, J: TxJob>(jobs: &[&'j J]) -> Vec<&'j str> {
    jobs.iter().map(|job| job.id()).collect()
}

fn landing(status: &TxStatus) -> Option<&Landing> {
    match status {
        TxStatus::Landed(landing) => Some(landing),
        _ => None,
    }
}

const fn is_pending(status: &TxStatus) -> bool {
    matches!(status, TxStatus::Pending | TxStatus::Blocked(_))
}

fn not_landed(job: &impl TxJob, waited: Duration) -> ChainError {
    ChainError::NotLanded {
        job: job.id().to_owned(),
        seconds: waited.as_secs(),
    }
}
