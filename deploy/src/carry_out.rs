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

impl Work<'_> {
    fn land(&mut self, step: &Step) -> Result<(), Fault> {
        let begun = Instant::now();
        let mut sent_at = Instant::now();
        let mut refusals = 0;
        let earlier = self.run.attempts(step).len();
        while !self.target.stands(step)? {
            if begun.elapsed() > self.patience.give_up_after {
                return Err(given_up(step, begun.elapsed()));
            }
            let outbid = sent_at.elapsed() > self.patience.outbid_after;
            let Some(attempt) = self.next_attempt(step, earlier, outbid)? else {
                thread::sleep(self.patience.poll);
                continue;
            };
            sent_at = Instant::now();
            match self.target.send(&attempt)? {
                Answer::Accepted => {
                    self.run.sent(step, &attempt.transaction)?;
                    (self.progress)(step, &format!("sent {}", attempt.transaction));
                    continue; // it may have landed already
                }
                Answer::Underpriced => self.raise_fee(step, &attempt)?,
                Answer::Refused(reason) if refusals == REFUSALS => {
                    return Err(Fault::TransactionRefused {
                        step: step.id.clone(),
                        transaction: attempt.transaction,
                        reason,
                    });
                }
                Answer::Refused(_) => refusals += 1,
            }
            thread::sleep(self.patience.poll);
        }
        self.record_landing(step)
    }

    /// The transaction to send now, on record before it is returned; `None`: wait.
    fn next_attempt(
        &mut self,
        step: &Step,
        earlier: usize,
        outbid: bool,
    ) -> Result<Option<Attempt>, Fault> {
        let attempt = match self.next(step, earlier)? {
            Next::Send(known) => return Ok(Some(known)),
            Next::Wait if outbid => match self.newest(step) {
                Some(newest) => self.target.outbid(step, &newest)?,
                None => None,
            },
            Next::Wait => None,
            Next::Sign { expired } => Some(self.target.sign(step, expired)?),
        };
        if let Some(attempt) = &attempt {
            self.run.signed(step, attempt.clone())?;
            (self.progress)(step, &format!("signed {}", attempt.transaction));
        }
        Ok(attempt)
    }

    fn newest(&self, step: &Step) -> Option<Attempt> {
        self.run.attempts(step).last().cloned()
    }

    fn raise_fee(&mut self, step: &Step, attempt: &Attempt) -> Result<(), Fault> {
        if let Some(raised) = self.target.outbid(step, attempt)? {
            (self.progress)(
                step,
                &format!("signed {} at a higher fee", raised.transaction),
            );
            self.run.signed(step, raised)?;
        }
        Ok(())
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
