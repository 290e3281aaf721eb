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
        for step in &plan.steps {
            work.land(step)?;
        }
        let Some(step) = work.wait_until_final(plan)? else {
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
struct Effort {
    begun: Instant,
    sent_at: Instant,
    /// How many transactions were on record before.
    earlier: usize,
    /// How many were expired at the last look.
    expired: usize,
    refusals: usize,
    raises: usize,
}

impl Effort {
    fn new(earlier: usize) -> Self {
        Self {
            begun: Instant::now(),
            sent_at: Instant::now(),
            earlier,
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
    fn land(&mut self, step: &Step) -> Result<(), Fault> {
        let mut effort = Effort::new(self.run.attempts(step).len());
        while !self.target.stands(step)? {
            if effort.begun.elapsed() > self.patience.give_up_after {
                return Err(given_up(step, effort.begun.elapsed()));
            }
            let sent_and_taken = match self.next_attempt(step, &mut effort)? {
                Some(attempt) => self.send(step, &attempt, &mut effort)?,
                None => false,
            };
            if !sent_and_taken {
                thread::sleep(self.patience.poll); // else it may have landed already
            }
        }
        self.record_landing(step)
    }

    /// Whether the chain took it.
    fn send(&mut self, step: &Step, attempt: &Attempt, effort: &mut Effort) -> Result<bool, Fault> {
        effort.sent_at = Instant::now();
        match self.target.send(attempt)? {
            Answer::Accepted => {
                self.run.sent(step, &attempt.transaction)?;
                (self.progress)(step, &format!("sent {}", attempt.transaction));
                return Ok(true);
            }
            Answer::Underpriced => {
                if let Some(raised) = self.raised(step, attempt, effort)? {
                    self.record_signed(step, raised)?;
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

    /// The transaction to send now, on record before it is returned; `None`: wait.
    fn next_attempt(&mut self, step: &Step, effort: &mut Effort) -> Result<Option<Attempt>, Fault> {
        let is_late = effort.sent_at.elapsed() > self.patience.outbid_after;
        let newest = self.run.attempts(step).last().cloned();
        let attempt = match (self.next(step, effort.earlier)?, newest) {
            (Next::Send(known), _) => return Ok(Some(known)),
            (Next::Wait, Some(newest)) if is_late => self.raised(step, &newest, effort)?,
            (Next::Wait, _) => None,
            (Next::Sign { expired }, _) if effort.saw_expired(expired) => {
                Some(self.target.sign(step, expired)?)
            }
            (Next::Sign { .. }, _) => None,
        };
        if let Some(attempt) = &attempt {
            self.record_signed(step, attempt.clone())?;
        }
        Ok(attempt)
    }

    fn raised(
        &mut self,
        step: &Step,
        attempt: &Attempt,
        effort: &mut Effort,
    ) -> Result<Option<Attempt>, Fault> {
        if effort.raises == RAISES {
            return Ok(None);
        }
        effort.raises += 1;
        self.target.outbid(step, attempt)
    }

    fn record_signed(&mut self, step: &Step, attempt: Attempt) -> Result<(), Fault> {
        (self.progress)(step, &format!("signed {}", attempt.transaction));
        self.run.signed(step, attempt)
    }

    /// Looks at every transaction that was ever signed for the step, the newest first. A failure of
    /// one of the `earlier` ones, from before this process, is what the run was resumed for.
    fn next(&mut self, step: &Step, earlier: usize) -> Result<Next, Fault> {
        let attempts = self.run.attempts(step).to_vec();
        let mut unknown = None;
        let mut expired = 0;
        for (index, attempt) in attempts.iter().enumerate().rev() {
            match self.target.fate(attempt)? {
                // It landed, and yet the step did not stand a moment ago: look again.
                Fate::Landed(_) | Fate::Pending => return Ok(Next::Wait),
                Fate::Unknown => unknown = unknown.or(Some(attempt)),
                Fate::Expired => expired += 1,
                Fate::Failed(_) if index < earlier => expired += 1,
                Fate::Failed(reason) => {
                    return Err(Fault::TransactionFailed {
                        step: step.id.clone(),
                        reason: format!("{} failed: {reason}", attempt.transaction),
                    });
                }
            }
        }
        Ok(unknown.map_or(Next::Sign { expired }, |attempt| {
            Next::Send(attempt.clone())
        }))
    }

    /// The step stands: which of its transactions was it?
    fn record_landing(&mut self, step: &Step) -> Result<(), Fault> {
        if self.run.landing(step).is_some() {
            return Ok(());
        }
        for attempt in self.run.attempts(step).to_vec().iter().rev() {
            if let Fate::Landed(landing) = self.target.fate(attempt)? {
                (self.progress)(step, &landed(&landing));
                return self.run.landed(step, landing);
            }
        }
        Ok(()) // somebody else's, or from before this run
    }

    /// `Some(step)`: the chain went back behind that one.
    fn wait_until_final<'p>(&mut self, plan: &'p Plan) -> Result<Option<&'p Step>, Fault> {
        let begun = Instant::now();
        for step in &plan.steps {
            while let Some(landing) = self.run.landing(step).cloned() {
                match self.target.depth(&landing)? {
                    Depth::Final => break,
                    Depth::Gone => {
                        self.run.withdrawn(step)?;
                        return Ok(Some(step));
                    }
                    Depth::Shallow if begun.elapsed() > self.patience.give_up_after => {
                        return Err(given_up(step, begun.elapsed()));
                    }
                    Depth::Shallow => thread::sleep(self.patience.poll),
                }
            }
        }
        for step in &plan.steps {
            if !self.target.stands(step)? {
                self.run.withdrawn(step)?;
                return Ok(Some(step));
            }
        }
        Ok(None)
    }
}

fn landed(landing: &Landing) -> String {
    format!("landed in block {}", landing.block)
}

fn given_up(step: &Step, waited: Duration) -> Fault {
    Fault::NotLanded {
        step: step.id.clone(),
        seconds: waited.as_secs(),
    }
}
