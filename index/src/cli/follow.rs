//! One deployment, followed: blocks, then what the state says, then what is missing.
use super::{CliError, arguments::RunOptions, files::FileThread, progress::Meter, target::Target};
use crate::{
    Indexer, Options, Progress, SyncError,
    indexer::SUBJECTS,
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

/// What there was to do without a new block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rest {
    Nothing,
    /// All that there was is done.
    Done,
    /// There is more.
    More,
}

/// A deployment that is being indexed.
pub struct Follower {
    blocking: Blocking,
    indexer: Indexer<Box<dyn Source>, Database>,
    files: Option<FileThread>,
    meter: Meter,
    repairs: Schedule,
    states: Schedule,
    /// How often all that needs no new block was done.
    rounds: u32,
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
        let name = if is_alone {
            String::new()
        } else {
            format!("{chain}: ")
        };
        Ok(Self {
            blocking,
            indexer,
            files,
            meter: Meter::new(deployment.start, name.clone()),
            repairs: Schedule::default(),
            states: Schedule::default(),
            rounds: 0,
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
                Ok(progress) => {
                    self.meter.show(progress);
                    if let Some(head) = self.caught_up(progress)? {
                        self.meter.finish(head);
                        return self.files.map_or(Ok(()), FileThread::finish);
                    }
                }
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

    /// IDX-42: whenever the newest block is reached, what waits for that is done. A chain may have another block by then each
    /// time. Returns the newest block if `--once` is done.
    fn caught_up(&mut self, progress: Progress) -> Result<Option<u64>, CliError> {
        let (head, is_idle) = match progress {
            Progress::Idle { head } => (head, true),
            Progress::Advanced { through, head, .. } if through >= head => (head, false),
            Progress::Advanced { .. } | Progress::Reorganised { .. } => return Ok(None),
        };
        let rest = self.rest()?;
        let is_done = match rest {
            Rest::Nothing => true,
            // What came meanwhile is of later blocks, and there will always be some.
            Rest::Done => !is_idle && self.rounds > 0,
            Rest::More => false,
        };
        self.rounds += u32::from(rest == Rest::Done);
        if self.is_once && is_done {
            return Ok(Some(head));
        }
        if is_idle && rest == Rest::Nothing {
            self.pause();
        }
        Ok(None)
    }

    /// Does what needs no new block.
    fn rest(&mut self) -> Result<Rest, CliError> {
        let compared = self.compare()?;
        if compared >= SUBJECTS {
            return Ok(Rest::More); // gaps are known when the last one is compared
        }
        if self.repair()? || compared > 0 {
            Ok(Rest::Done)
        } else {
            Ok(Rest::Nothing)
        }
    }

    /// R45: an endpoint that does not say what the state is leaves the events as they are; `status` says how much
    /// is unread. Returns how many were compared.
    fn compare(&mut self) -> Result<usize, CliError> {
        if !self.states.is_due(Instant::now()) {
            return Ok(0);
        }
        match self.blocking.wait(self.indexer.compare_state()) {
            Ok(compared) => Ok(compared),
            Err(SyncError::Source(error)) => {
                eprintln!("{}the state was not read: {error}", self.name);
                self.states.note(Instant::now(), Duration::ZERO);
                Ok(0)
            }
            Err(error) if error.is_passing() => Ok(SUBJECTS),
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
    use crate::{
        Contracts, Deployment, Place, SourceError,
        batch::{Batch, Header, IndexedEvent},
        state::{StateRead, Subject},
        store::Location,
    };
    use async_trait::async_trait;
    use concord_chain::ChainId;
    use concord_registry::{
        Event,
        event::{AccountId, AgentId, Position, TransactionId},
        evm::RegistryAddresses,
    };
    use std::sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    };

    /// A chain that has a new block, with a new agent, whenever it is asked for the newest one.
    struct Quick {
        head: Arc<AtomicU64>,
        reads: Arc<AtomicU64>,
    }

    /// It stops there, so that a test that fails ends.
    const LAST: u64 = 500;

    fn word(number: u64) -> [u8; 32] {
        let mut word = [0; 32];
        word[24..].copy_from_slice(&number.to_be_bytes());
        word
    }

    fn header(number: u64) -> Header {
        Header {
            number,
            hash: word(number),
            parent: word(number - 1),
            time: 0,
        }
    }

    fn registered(number: u64) -> IndexedEvent {
        IndexedEvent {
            place: Place::new(number, 0, Position::Evm { log: 0 }),
            registry: AccountId::Evm([1; 20]),
            transaction: TransactionId::Evm([6; 32]),
            time: 0,
            event: Event::AgentRegistered {
                agent: AgentId::Evm(word(number)),
                owner: AccountId::Evm([2; 20]),
                uri: String::new(),
            },
        }
    }

    #[async_trait]
    impl Source for Quick {
        fn name(&self) -> String {
            "quick".to_owned()
        }

        async fn head(&mut self) -> Result<Header, SourceError> {
            let before = self.head.load(Ordering::SeqCst);
            self.head.store((before + 1).min(LAST), Ordering::SeqCst);
            Ok(header(self.head.load(Ordering::SeqCst)))
        }

        async fn final_number(&mut self) -> Result<Option<u64>, SourceError> {
            Ok(None)
        }

        async fn hash(&mut self, number: u64) -> Result<Option<[u8; 32]>, SourceError> {
            Ok(Some(word(number)))
        }

        async fn batch(&mut self, from: u64, to: u64, _: u64) -> Result<Batch, SourceError> {
            Ok(Batch {
                through: header(to),
                parent: Some(word(from - 1)),
                headers: (from..=to).map(header).collect(),
                events: (from..=to).map(registered).collect(),
                undecoded: Vec::new(),
                suspects: Vec::new(),
            })
        }

        async fn state(
            &mut self,
            _: &[Subject],
            at: &Header,
        ) -> Result<Option<StateRead>, SourceError> {
            self.reads.fetch_add(1, Ordering::SeqCst);
            Ok(Some(StateRead {
                block: at.number,
                facts: Vec::new(),
            }))
        }
    }

    /// R45: on a chain whose blocks come faster than they are taken in, the state is read all the same, and `--once` ends.
    #[test]
    fn r45_a_chain_that_is_never_idle_is_compared_too_and_once_ends() {
        let folder = tempfile::tempdir().unwrap();
        let location = Location::File(folder.path().join("index.sqlite"));
        let store = Store::open(location.open().unwrap()).unwrap();
        let deployment = Deployment {
            chain: ChainId::parse("eip155:1").unwrap(),
            contracts: Contracts::Evm(RegistryAddresses {
                identity: [1; 20].into(),
                open_reputation: None,
                authorized_reputation: None,
                validation: None,
            }),
            start: 1,
        };
        let (head, reads) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let quick = Quick {
            head: Arc::clone(&head),
            reads: Arc::clone(&reads),
        };
        let source: Box<dyn Source> = Box::new(quick);
        let follower = Follower {
            blocking: Blocking::new().unwrap(),
            indexer: Indexer::new(source, store, &deployment, Options::default()).unwrap(),
            files: None,
            meter: Meter::new(1, String::new()),
            repairs: Schedule::default(),
            states: Schedule::default(),
            rounds: 0,
            is_once: true,
            name: String::new(),
        };
        follower.follow().unwrap();
        let reads = reads.load(Ordering::SeqCst);
        assert!(reads >= 2, "{reads} reads of the state");
        let head = head.load(Ordering::SeqCst);
        assert!(head < LAST, "it went on to block {head}");
    }

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
