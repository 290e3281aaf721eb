//! The way from a plan to what it plans, for every chain. The same for a first run and for one
//! that is resumed: each turn looks at the chain first, and what landed is never sent again.
use crate::{Answer, Attempt, Depth, Fate, Fault, Landing, Plan, RunFile, Step, Target};
use std::{
    thread,
    time::{Duration, Instant},
};

/// How long to wait for what.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// Between two looks at the chain.
    pub poll: Duration,
    /// For a pending transaction, before its fee is raised.
    pub outbid_after: Duration,
    /// For a step, before the run stops.
    pub give_up_after: Duration,
}

/// Chains go back a block or two now and then; one that always does cannot be deployed to.
const ROUNDS: usize = 5;
/// A transaction that the chain does not take after so many tries is refused for good.
const REFUSALS: usize = 5;
/// A fee that was raised so often (a quarter each time) is not what keeps a transaction out.
const RAISES: usize = 8;
/// So many transactions are on their way together at most, of steps that can be.
const TOGETHER: usize = 64;

/// Carries out every step in turn, and waits until all are final.
///
/// # Errors
/// Whatever the target gives up on; the run file then says how far it got.
pub fn carry_out(
    target: &mut dyn Target,
    plan: &Plan,
    run: &mut RunFile,
    patience: Patience,
    progress: &mut dyn FnMut(&Step, &str),
) -> Result<(), Fault> {
    let mut work = Work {
        target,
        run,
        patience,
        progress,
    };
    let mut round = 1;
    loop {
        let Some(step) = work.round(plan)? else {
            return Ok(());
        };
        if round == ROUNDS {
            return Err(Fault::Reorganised {
                step: step.id.clone(),
                rounds: ROUNDS,
            });
        }
        round += 1;
        (work.progress)(step, "the chain went back behind it");
    }
}

struct Work<'a> {
    target: &'a mut dyn Target,
    run: &'a mut RunFile,
    patience: Patience,
    progress: &'a mut dyn FnMut(&Step, &str),
}

/// What to do next about a step that does not stand yet.
enum Next {
    Wait,
    Send(Attempt),
    Sign { expired: usize },
}

/// What one process has tried for one step.
struct Effort<'p> {
    step: &'p Step,
    /// How many transactions were on record before.
    earlier: usize,
    /// When the first and the last transaction of this process were sent.
    begun: Option<Instant>,
    sent_at: Instant,
    /// How many were expired at the last look.
    expired: usize,
    refusals: usize,
    raises: usize,
}

impl<'p> Effort<'p> {
    fn new(step: &'p Step, earlier: usize) -> Self {
        Self {
            step,
            earlier,
            begun: None,
            sent_at: Instant::now(),
            expired: 0,
            refusals: 0,
            raises: 0,
        }
    }

    /// Whether the last look saw as many expired. An endpoint of many nodes may count a nonce on
    /// one that has the transaction, and look for its receipt on one that does not yet.
    fn saw_expired(&mut self, expired: usize) -> bool {
        std::mem::replace(&mut self.expired, expired) == expired
    }
}

impl Work<'_> {
    /// Brings every step to stand, and waits until all are final. `Some(step)`: the chain went back
    /// behind that one.
    fn round<'p>(&mut self, plan: &'p Plan) -> Result<Option<&'p Step>, Fault> {
        let mut before = 0;
        for wave in plan.waves() {
            match self.land(wave) {
                Ok(()) => before += wave.len(),
                // What it builds on may be gone.
                Err(
                    fault @ (Fault::TransactionRefused { .. } | Fault::TransactionFailed { .. }),
                ) => {
                    let fallen = self.fallen(&plan.steps[..before])?;
                    return fallen.map(Some).ok_or(fault);
                }
                Err(fault) => return Err(fault),
            }
        }
        self.wait_until_final(plan)
    }

    /// The first of these that does not stand (any more).
    fn fallen<'p>(&mut self, steps: &'p [Step]) -> Result<Option<&'p Step>, Fault> {
        let all: Vec<&Step> = steps.iter().collect();
        let standing = self.target.standing(&all)?;
        let all = all.into_iter().zip(standing);
        let fallen: Vec<&Step> = all
            .filter_map(|(step, stands)| (!stands).then_some(step))
            .collect();
        self.run.withdrawn(&fallen)?;
        Ok(fallen.first().copied())
    }

    /// Brings every step of the wave to stand, several at a time.
    fn land(&mut self, wave: &[Step]) -> Result<(), Fault> {
        let effort = |step| Effort::new(step, self.run.attempts(step).len());
        let mut open: Vec<Effort<'_>> = wave.iter().map(effort).collect();
        loop {
            let steps: Vec<&Step> = open.iter().map(|effort| effort.step).collect();
            let mut standing = self.target.standing(&steps)?.into_iter();
            let mut done = Vec::new();
            open.retain(|effort| {
                let stands = standing.next().unwrap_or(false);
                if stands {
                    done.push(effort.step);
                }
                !stands
            });
            self.record_landings(&done)?;
            if let (Some(last), true) = (done.last(), wave.len() > 1) {
                let words = format!("{} of {} stand", wave.len() - open.len(), wave.len());
                (self.progress)(last, &words);
            }
            if open.is_empty() {
                return Ok(());
            }
            let window = open.len().min(TOGETHER);
            self.turn(&mut open[..window])?;
        }
    }

    /// One look at what became of these, and whatever is to be sent about it.
    fn turn(&mut self, open: &mut [Effort<'_>]) -> Result<(), Fault> {
        for effort in &mut *open {
            let begun = *effort.begun.get_or_insert_with(Instant::now);
            if begun.elapsed() > self.patience.give_up_after {
                return Err(given_up(effort.step, begun.elapsed()));
            }
        }
        let attempts = self.next_attempts(open)?;
        let mut all_taken = !attempts.is_empty();
        let mut taken = Vec::new();
        for (effort, attempt) in open.iter_mut().zip(attempts) {
            let Some(attempt) = attempt else {
                all_taken = false;
                continue;
            };
            match self.send(&attempt, effort) {
                Ok(true) => taken.push((effort.step, attempt)),
                Ok(false) => all_taken = false,
                Err(fault) => {
                    self.run.sent(&taken)?;
                    return Err(fault);
                }
            }
        }
        self.run.sent(&taken)?;
        if !all_taken || open.len() > 1 {
            thread::sleep(self.patience.poll); // else it may have landed already
        }
        Ok(())
    }

    /// Whether the chain took it.
    fn send(&mut self, attempt: &Attempt, effort: &mut Effort<'_>) -> Result<bool, Fault> {
        let step = effort.step;
        effort.sent_at = Instant::now();
        match self.target.send(attempt)? {
            Answer::Accepted => {
                self.tell(step, || format!("sent {}", attempt.transaction));
                return Ok(true);
            }
            Answer::Underpriced => {
                if let Some(raised) = self.raised(attempt, effort)? {
                    self.record_signed(&[(step, raised)])?;
                }
            }
            Answer::Refused(reason) if effort.refusals == REFUSALS => {
                return Err(Fault::TransactionRefused {
                    step: step.id.clone(),
                    transaction: attempt.transaction.clone(),
                    reason,
                });
            }
            Answer::Refused(_) => effort.refusals += 1,
        }
        Ok(false)
    }

    /// The transaction to send now for each, all on record before they are returned; `None`: wait.
    fn next_attempts(&mut self, open: &mut [Effort<'_>]) -> Result<Vec<Option<Attempt>>, Fault> {
        let next = self.next(open)?;
        let mut attempts = Vec::with_capacity(open.len());
        let mut new = Vec::new();
        for (effort, next) in open.iter_mut().zip(next) {
            let is_late = effort.sent_at.elapsed() > self.patience.outbid_after;
            let newest = self.run.attempts(effort.step).last().cloned();
            let attempt = match (next, newest) {
                (Next::Send(known), _) => {
                    attempts.push(Some(known));
                    continue;
                }
                (Next::Wait, Some(newest)) if is_late => self.raised(&newest, effort)?,
                (Next::Wait, _) => None,
                (Next::Sign { expired }, _) if effort.saw_expired(expired) => {
                    Some(self.target.sign(effort.step, expired)?)
                }
                (Next::Sign { .. }, _) => None,
            };
            if let Some(attempt) = &attempt {
                new.push((effort.step, attempt.clone()));
            }
            attempts.push(attempt);
        }
        self.record_signed(&new)?;
        Ok(attempts)
    }

    fn raised(
        &mut self,
        attempt: &Attempt,
        effort: &mut Effort<'_>,
    ) -> Result<Option<Attempt>, Fault> {
        if effort.raises == RAISES {
            return Ok(None);
        }
        effort.raises += 1;
        self.target.outbid(effort.step, attempt)
    }

    fn record_signed(&mut self, signed: &[(&Step, Attempt)]) -> Result<(), Fault> {
        for (step, attempt) in signed {
            self.tell(step, || format!("signed {}", attempt.transaction));
        }
        self.run.signed(signed)
    }

    /// Of steps that come by the hundred only their number is told.
    fn tell(&mut self, step: &Step, words: impl FnOnce() -> String) {
        if !step.parallel {
            (self.progress)(step, &words());
        }
    }

    /// Looks at every transaction that was ever signed for these steps.
    fn next(&mut self, open: &[Effort<'_>]) -> Result<Vec<Next>, Fault> {
        let attempts = |effort: &Effort<'_>| self.run.attempts(effort.step).to_vec();
        let attempts: Vec<Vec<Attempt>> = open.iter().map(attempts).collect();
        let mut fates = self.target.fates(&attempts.concat())?.into_iter();
        let both = open.iter().zip(attempts);
        both.map(|(effort, attempts)| next_of(effort, &attempts, &mut fates))
            .collect()
    }

    /// The steps stand: which of their transactions was it?
    fn record_landings(&mut self, steps: &[&Step]) -> Result<(), Fault> {
        let mut landed = Vec::new();
        let unknown = |step: &&&Step| self.run.landing(step).is_none();
        let steps: Vec<&Step> = steps.iter().filter(unknown).copied().collect();
        let attempts = |step: &&Step| self.run.attempts(step).to_vec();
        let attempts: Vec<Vec<Attempt>> = steps.iter().map(attempts).collect();
        let mut fates = self.target.fates(&attempts.concat())?.into_iter();
        for (step, attempts) in steps.into_iter().zip(attempts) {
            let fates: Vec<Fate> = fates.by_ref().take(attempts.len()).collect();
            // None: somebody else's, or from before this run
            for fate in fates {
                if let Fate::Landed(landing) = fate {
                    self.tell(step, || format!("landed in block {}", landing.block));
                    landed.push((step, landing));
                }
            }
        }
        self.run.landed(&landed)
    }

    /// `Some(step)`: the chain went back behind that one.
    fn wait_until_final<'p>(&mut self, plan: &'p Plan) -> Result<Option<&'p Step>, Fault> {
        let begun = Instant::now();
        let landing = |step: &'p Step| Some((step, self.run.landing(step).cloned()?));
        let mut shallow: Vec<(&Step, Landing)> = plan.steps.iter().filter_map(landing).collect();
        loop {
            let landings: Vec<Landing> = shallow.iter().map(|(_, it)| it.clone()).collect();
            let depths = self.target.depths(&landings)?;
            let both = || shallow.iter().zip(&depths);
            let gone: Vec<&Step> = both()
                .filter_map(|((step, _), depth)| (*depth == Depth::Gone).then_some(*step))
                .collect();
            if let Some(first) = gone.first() {
                self.run.withdrawn(&gone)?;
                return Ok(Some(first));
            }
            shallow = both()
                .filter(|(_, depth)| **depth == Depth::Shallow)
                .map(|(landed, _)| landed.clone())
                .collect();
            match shallow.first() {
                None => break,
                Some((step, _)) if begun.elapsed() > self.patience.give_up_after => {
                    return Err(given_up(step, begun.elapsed()));
                }
                Some(_) => thread::sleep(self.patience.poll),
            }
        }
        self.fallen(&plan.steps)
    }
}

/// The newest first. A failure of one of the earlier ones, from before this process, is what the
/// run was resumed for.
fn next_of(
    effort: &Effort<'_>,
    attempts: &[Attempt],
    fates: &mut impl Iterator<Item = Fate>,
) -> Result<Next, Fault> {
    let fates: Vec<Fate> = fates.take(attempts.len()).collect();
    let mut unknown = None;
    let mut expired = 0;
    for (index, (attempt, fate)) in attempts.iter().zip(fates).enumerate().rev() {
        match fate {
            // It landed, and yet the step did not stand a moment ago: look again.
            Fate::Landed(_) | Fate::Pending => return Ok(Next::Wait),
            Fate::Unknown => unknown = unknown.or(Some(attempt)),
            Fate::Expired => expired += 1,
            Fate::Failed(_) if index < effort.earlier => expired += 1,
            Fate::Failed(reason) => {
                return Err(Fault::TransactionFailed {
                    step: effort.step.id.clone(),
                    reason: format!("{} failed: {reason}", attempt.transaction),
                });
            }
        }
    }
    Ok(unknown.map_or(Next::Sign { expired }, |attempt| {
        Next::Send(attempt.clone())
    }))
}

fn given_up(step: &Step, waited: Duration) -> Fault {
    Fault::NotLanded {
        step: step.id.clone(),
        seconds: waited.as_secs(),
    }
}
