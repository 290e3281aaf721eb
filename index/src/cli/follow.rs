//! One deployment, followed: blocks, then what the state says, then what is missing.
use super::{CliError, arguments::RunOptions, files::FileThread, progress::Meter, target::Target};
use crate::{
    Indexer, Options, Progress, SyncError,
    source::Source,
    store::{Database, Store},
};
use concord_chain::Blocking;
use std::time::{Duration, Instant};

/// Between two looks at a chain that has nothing new, and after a failure that may pass.
const PAUSE: Duration = Duration::from_secs(1);

/// Between two searches for missing events, and after an endpoint did not say what the state is.
const REPAIR: Duration = Duration::from_secs(600);
/// A search reads blocks again, and nothing else is indexed meanwhile. What an endpoint does not have, none
/// finds: at most a tenth of the time is spent on it.
const SHARE: u32 = 9;

/// When something is done again.
#[derive(Default)]
struct Schedule {
    next: Option<Instant>,
}

impl Schedule {
    fn is_due(&self, now: Instant) -> bool {
        self.next.is_none_or(|next| next <= now)
    }

    /// Notes that it was done, and how long it took.
    fn note(&mut self, now: Instant, took: Duration) {
        self.next = now.checked_add(REPAIR.max(took.saturating_mul(SHARE)));
    }
}

/// A deployment that is being indexed.
pub struct Follower {
    blocking: Blocking,
    indexer: Indexer<Box<dyn Source>, Database>,
    files: Option<FileThread>,
    meter: Meter,
    repairs: Schedule,
    states: Schedule,
    is_once: bool,
    /// Before each line, if several chains are indexed.
    name: String,
}

impl Follower {
    /// Connects, and claims the deployment. `is_alone`: no other one is indexed by this process.
    pub fn start(target: &Target, options: &RunOptions, is_alone: bool) -> Result<Self, CliError> {
        let blocking = Blocking::new()?;
        let (deployment, source) = blocking.wait(target.connect(options))?;
        let store = Store::open(options.store.store.open()?)?;
        let settings = Options {
            kept_headers: options.headers,
            ..Options::default()
        };
        let indexer = Indexer::new(source, store, &deployment, settings)?;
        let (registry, chain) = (deployment.registry(), &deployment.chain);
        eprintln!("indexing {registry} on {chain}");
        let location = &options.store.store;
        let files = FileThread::start(&options.files, location, indexer.deployment())?;
        let name = match is_alone {
            true => String::new(),
            false => format!("{chain}: "),
        };
        Ok(Self {
            blocking,
            indexer,
            files,
            meter: Meter::new(deployment.start, name.clone()),
            repairs: Schedule::default(),
            states: Schedule::default(),
            is_once: options.once,
            name,
        })
    }

    /// Follows the chain until something fails; with `--once`, until everything is indexed.
    pub fn follow(mut self) -> Result<(), CliError> {
        loop {
            self.files = match self.files {
                Some(ended) if ended.is_over() => return Err(ended.failure()),
                running => running,
            };
            match self.blocking.wait(self.indexer.step()) {
                Ok(Progress::Idle { head }) => {
                    if self.is_busy()? {
                        continue;
                    }
                    if self.is_once {
                        self.meter.finish(head);
                        return self.files.map_or(Ok(()), FileThread::finish);
                    }
                    self.pause();
                }
                Ok(progress) => self.meter.show(progress),
                // A chain that does not answer may again, and a store that is busy is free after a while; what
                // is stored stays right meanwhile.
                Err(error) if error.is_passing() && self.may_wait(&error) => {
                    eprintln!("{}waiting: {error}", self.name);
                    self.pause();
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Does what waits for a moment without new blocks. Returns whether there was something to do.
    fn is_busy(&mut self) -> Result<bool, CliError> {
        Ok(self.compare()? || self.repair()?)
    }

    /// R45: an endpoint that does not say what the state is leaves the events as they are; `status` says how much
    /// is unread.
    fn compare(&mut self) -> Result<bool, CliError> {
        if !self.states.is_due(Instant::now()) {
            return Ok(false);
        }
        match self.blocking.wait(self.indexer.compare_state()) {
            Ok(is_compared) => Ok(is_compared),
            Err(SyncError::Source(error)) => {
                eprintln!("{}the state was not read: {error}", self.name);
                self.states.note(Instant::now(), Duration::ZERO);
                Ok(false)
            }
            Err(error) if error.is_passing() => Ok(true),
            Err(error) => Err(error.into()),
        }
    }

    /// R46: what is missing is looked for again; if it stays so, `status` says it.
    fn repair(&mut self) -> Result<bool, CliError> {
        let begun = Instant::now();
        if !self.repairs.is_due(begun) {
            return Ok(false);
        }
        let repaired = self.blocking.wait(self.indexer.repair());
        self.repairs.note(Instant::now(), begun.elapsed());
        match repaired {
            Ok(0) => (),
            Ok(events) => eprintln!("{}repaired: {events} events had been missed", self.name),
            Err(SyncError::Source(error)) => eprintln!("{}not repaired: {error}", self.name),
            Err(error) if error.is_passing() => eprintln!("{}not repaired: {error}", self.name),
            Err(error) => return Err(error.into()),
        }
        Ok(true)
    }

    /// A timer is made within the runtime that it is for.
    fn pause(&self) {
        let sleep = async { tokio::time::sleep(PAUSE).await };
        self.blocking.wait(sleep);
    }

    /// With `--once`, a chain that does not answer is an error.
    const fn may_wait(&self, error: &SyncError) -> bool {
        !self.is_once || matches!(error, SyncError::Store(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r46_a_search_that_takes_long_comes_seldom() {
        let now = Instant::now();
        let mut repairs = Schedule::default();
        assert!(repairs.is_due(now));
        for (took, pause) in [(1, 600), (60, 600), (3_600, 9 * 3_600)] {
            repairs.note(now, Duration::from_secs(took));
            let after = |seconds| now + Duration::from_secs(seconds);
            assert!(!repairs.is_due(after(pause - 1)), "{took}");
            assert!(repairs.is_due(after(pause)), "{took}");
        }
    }
}
