use crate::{
    Deployment, SourceError, StoreError, SyncError,
    batch::{Batch, Header},
    source::Source,
    store::{Cursor, DeploymentId, Engine, Store},
};
use concord_registry::event::AgentId;
use std::{
    collections::BTreeSet,
    panic,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{SystemTime, UNIX_EPOCH},
};
use tokio::task::spawn_blocking;

/// How an [`Indexer`] works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// How many headers are kept: the depth of the deepest reorganisation that is undone. A chain
    /// that says which blocks are final keeps at least those that are not.
    pub kept_headers: u64,
    /// While settled blocks are written, those after them are read, until they have at least so many events, or after
    /// [`READS`] reads. One commit takes all of them.
    pub together: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            kept_headers: 256,
            together: 50_000,
        }
    }
}

/// Reads that one commit takes at most: where there is little to find, progress is stored all the same.
pub const READS: usize = 16;

/// Agents and clients whose state is read at once. Solana answers for 100 accounts, and an agent has two.
pub(crate) const SUBJECTS: usize = 50;

/// A step's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Blocks were taken in.
    Advanced {
        /// The first of them.
        from: u64,
        /// The last of them.
        through: u64,
        /// The chain's newest block.
        head: u64,
        /// How many events they had.
        events: usize,
    },
    /// Blocks were taken back.
    Reorganised {
        /// The last block that stayed.
        fork: u64,
        /// How many blocks after it were taken back.
        depth: u64,
    },
    /// Everything is indexed.
    Idle {
        /// The chain's newest block.
        head: u64,
    },
}

/// Reads one deployment from a source into a store. One step is one transaction: whenever the
/// process ends, the store is as some step left it.
#[derive(Debug)]
pub struct Indexer<S, E> {
    source: S,
    /// A commit is written in a thread of its own.
    store: Arc<Mutex<Store<E>>>,
    deployment: DeploymentId,
    start: u64,
    options: Options,
    ahead: Option<Ahead>,
    /// R4: while a state is compared, agents of which an event may have been cut off in a block that was taken in meanwhile.
    suspects: Option<BTreeSet<AgentId>>,
}

/// Settled blocks that were read while those before them were written.
#[derive(Debug)]
struct Ahead {
    from: u64,
    batch: Batch,
}

/// What is known of the chain when a batch is taken in.
#[derive(Debug, Clone, Copy)]
struct Known {
    head: u64,
    final_number: Option<u64>,
    settled: u64,
}

impl<S: Source, E: Engine> Indexer<S, E> {
    /// Claims a deployment in a store.
    ///
    /// # Errors
    /// [`StoreError::SecondWriter`], [`StoreError::OtherDeployment`].
    pub fn new(
        source: S,
        mut store: Store<E>,
        deployment: &Deployment,
        options: Options,
    ) -> Result<Self, StoreError> {
        Ok(Self {
            deployment: store.claim(deployment)?,
            start: deployment.start,
            source,
            store: Arc::new(Mutex::new(store)),
            options,
            ahead: None,
            suspects: None,
        })
    }

    /// Locks the store. If a step was dropped before it completed, this waits for its commit.
    pub fn store(&mut self) -> MutexGuard<'_, Store<E>> {
        lock(&self.store)
    }

    /// The deployment in the store.
    #[must_use]
    pub const fn deployment(&self) -> DeploymentId {
        self.deployment
    }

    /// The source.
    pub fn source(&mut self) -> &mut S {
        &mut self.source
    }

    /// Takes in, or takes back, some blocks. Needs a runtime of tokio.
    ///
    /// # Errors
    /// [`SyncError::Source`] that is passing: the same step may succeed later.
    pub async fn step(&mut self) -> Result<Progress, SyncError> {
        let head = self.source.head().await?;
        let cursor = lock(&self.store).cursor(self.deployment)?;
        let Some(cursor) = cursor else {
            return if head.number < self.start {
                Ok(Progress::Idle { head: head.number })
            } else {
                self.advance(self.start, None, &head).await
            };
        };
        if self.lags(&cursor, &head)? {
            return Ok(Progress::Idle { head: head.number });
        }
        if !self.is_on_chain(&cursor.head, &head).await? {
            return self.reorganise(&cursor, &head).await;
        }
        if cursor.head.number == head.number {
            return Ok(Progress::Idle { head: head.number });
        }
        let next = cursor.head.number.saturating_add(1);
        self.advance(next, Some(&cursor), &head).await
    }

    /// R46: reads blocks again in which events are missing, and takes in what was not seen. Returns how
    /// many events that were. What is still missing after it, the endpoint does not have.
    ///
    /// # Errors
    /// As [`Self::step`].
    pub async fn repair(&mut self) -> Result<usize, SyncError> {
        let Some(cursor) = lock(&self.store).cursor(self.deployment)? else {
            return Ok(0);
        };
        let first = lock(&self.store).first_gap(self.deployment, self.start)?;
        let (mut next, last) = (first, cursor.head.number);
        let mut found = 0;
        while let Some(from) = next.filter(|it| *it <= last) {
            let batch = self.source.batch(from, last, last).await?;
            // The blocks that were read are of the fork that is indexed if its head is still there.
            if self.source.hash(last).await? != Some(cursor.head.hash) {
                return Err(self.replaced(last).into());
            }
            found += lock(&self.store).mend(self.deployment, &batch)?;
            next = batch.through.number.checked_add(1);
        }
        Ok(found)
    }

    /// R45, R46: reads the registries' state of some agents and clients whose events changed since it was read
    /// last, and compares it with them. Returns of how many. What the state says wins.
    ///
    /// # Errors
    /// As [`Self::step`].
    pub async fn compare_state(&mut self) -> Result<usize, SyncError> {
        let mut subjects = lock(&self.store).unread(self.deployment, SUBJECTS)?;
        let cursor = lock(&self.store).cursor(self.deployment)?;
        let Some(head) = cursor.map(|it| it.head).filter(|_| !subjects.is_empty()) else {
            return Ok(0);
        };
        let Some(read) = self.source.state(&subjects, &head).await? else {
            return Ok(0);
        };
        let declared = lock(&self.store).declared_bindings(self.deployment, &subjects)?;
        let bindings = self.source.bindings(&declared, &head).await?;
        self.suspects = Some(BTreeSet::new());
        let reached = self.reach(head, read.block).await;
        let suspects = self.suspects.take().unwrap_or_default();
        let Some(head) = reached? else {
            return Ok(0);
        };
        if self.source.hash(head.number).await? != Some(head.hash) {
            return Err(self.replaced(head.number).into());
        }
        let count = subjects.len();
        // The blocks that were taken in may go on after the one of the state.
        subjects.retain(|it| !suspects.contains(&it.agent()));
        lock(&self.store).note_bindings(self.deployment, &bindings)?;
        lock(&self.store).compare(self.deployment, &subjects, &read)?;
        Ok(count)
    }

    /// Takes in the blocks up to one: nothing can be said of events that are not indexed yet. Returns the last block that
    /// was taken in; `None` if the chain does not go on.
    async fn reach(&mut self, mut head: Header, block: u64) -> Result<Option<Header>, SyncError> {
        while head.number < block {
            let Progress::Advanced { .. } = self.step().await? else {
                return Ok(None);
            };
            let cursor = lock(&self.store).cursor(self.deployment)?;
            head = cursor.map_or(head, |it| it.head);
        }
        Ok(Some(head))
    }

    fn replaced(&self, block: u64) -> SourceError {
        SourceError::Inconsistent {
            host: self.source.name(),
            block,
            what: "it was replaced while events were looked for".to_owned(),
        }
    }

    /// Steps until everything up to the chain's newest block is indexed.
    ///
    /// # Errors
    /// As [`Self::step`].
    pub async fn catch_up(&mut self, mut report: impl FnMut(Progress)) -> Result<u64, SyncError> {
        loop {
            let progress = self.step().await?;
            report(progress);
            if let Progress::Idle { head } = progress {
                return Ok(head);
            }
        }
    }

    async fn is_on_chain(&mut self, block: &Header, head: &Header) -> Result<bool, SyncError> {
        if block.number == head.number {
            return Ok(block.hash == head.hash);
        }
        if block.number > head.number {
            return Ok(false);
        }
        Ok(self.source.hash(block.number).await? == Some(block.hash))
    }

    /// The endpoint's newest block is one that was indexed long ago: its node lags. A fork that is
    /// shorter shows as soon as it has another block.
    fn lags(&mut self, cursor: &Cursor, head: &Header) -> Result<bool, StoreError> {
        if head.number >= cursor.head.number {
            return Ok(false);
        }
        let headers = lock(&self.store).headers(self.deployment)?;
        let kept = headers.iter().find(|kept| kept.number == head.number);
        Ok(kept.is_none_or(|kept| kept.hash == head.hash))
    }

    async fn advance(
        &mut self,
        from: u64,
        cursor: Option<&Cursor>,
        head: &Header,
    ) -> Result<Progress, SyncError> {
        let said = self.source.final_number().await?;
        let before = cursor.and_then(|it| it.final_number);
        let final_number = said.max(before); // what was final stays so
        let oldest = head.number.saturating_sub(self.options.kept_headers);
        let known = Known {
            head: head.number,
            final_number,
            settled: final_number.map_or(oldest, |it| it.min(oldest)),
        };
        let batch = match self.ahead.take() {
            Some(it) if it.from == from && it.batch.through.number <= known.settled => it.batch,
            _ => {
                let batch = self.source.batch(from, known.head, known.settled).await;
                batch.map_err(|error| match cursor {
                    Some(_) => error.while_following(),
                    None => error,
                })?
            }
        };
        let is_next = match (batch.parent, cursor) {
            (Some(parent), Some(cursor)) => parent == cursor.head.hash,
            _ => true,
        };
        if let (false, Some(cursor)) = (is_next, cursor) {
            return self.reorganise(cursor, head).await;
        }
        let progress = Progress::Advanced {
            from,
            through: batch.through.number,
            head: head.number,
            events: batch.events.len(),
        };
        self.write(batch, known).await?;
        Ok(progress)
    }

    /// Commits a batch in another thread, and reads ahead while it runs.
    async fn write(&mut self, batch: Batch, known: Known) -> Result<(), SyncError> {
        if let Some(suspects) = &mut self.suspects {
            suspects.extend(&batch.suspects);
        }
        let (through, final_number) = (batch.through, known.final_number);
        let kept = self.kept(through.number, final_number);
        let (store, deployment) = (self.store.clone(), self.deployment);
        let commit =
            spawn_blocking(move || lock(&store).commit(deployment, &batch, final_number, kept));
        let is_written = || commit.is_finished();
        self.ahead = self.read_ahead(through, known, is_written).await;
        let done = match commit.await {
            Ok(done) => done,
            Err(lost) if lost.is_panic() => panic::resume_unwind(lost.into_panic()),
            Err(lost) => Err(StoreError::Database(lost.to_string())),
        };
        Ok(done?)
    }

    /// IDX-50: reads the settled blocks after `last`, once and then until the commit is written. Together they make a larger
    /// commit, which writes each index page once. A failed read ends it; if the failure persists, the next step returns it.
    async fn read_ahead(
        &mut self,
        mut last: Header,
        known: Known,
        is_written: impl Fn() -> bool,
    ) -> Option<Ahead> {
        let mut ahead: Option<Ahead> = None;
        for _ in 0..READS {
            let events = ahead.as_ref().map_or(0, |it| it.batch.events.len());
            if last.number >= known.settled
                || events >= self.options.together
                || ahead.is_some() && is_written()
            {
                break;
            }
            let from = last.number.saturating_add(1);
            let Ok(batch) = self.source.batch(from, known.head, known.settled).await else {
                break;
            };
            if batch.parent.is_some_and(|it| it != last.hash) {
                break;
            }
            last = batch.through;
            match &mut ahead {
                Some(ahead) => ahead.batch.append(batch),
                None => ahead = Some(Ahead { from, batch }),
            }
        }
        ahead
    }

    /// Everything that is not final is kept, even if that is more than asked for.
    fn kept(&self, through: u64, final_number: Option<u64>) -> u64 {
        let unfinal = final_number.map_or(0, |it| through.saturating_sub(it));
        self.options.kept_headers.max(unfinal)
    }

    /// A block that is on the chain was denied a moment before.
    fn contradiction(&self, block: &Header) -> SourceError {
        SourceError::Inconsistent {
            host: self.source.name(),
            block: block.number,
            what: "the next block has another parent".to_owned(),
        }
    }

    /// The newest block that is kept and still on the chain is where the forks part.
    async fn reorganise(&mut self, cursor: &Cursor, head: &Header) -> Result<Progress, SyncError> {
        let headers = lock(&self.store).headers(self.deployment)?;
        for kept in &headers {
            if kept.number <= head.number && self.is_on_chain(kept, head).await? {
                if kept.number == cursor.head.number {
                    return Err(self.contradiction(kept).into());
                }
                lock(&self.store).roll_back(self.deployment, kept, now())?;
                return Ok(Progress::Reorganised {
                    fork: kept.number,
                    depth: cursor.head.number.saturating_sub(kept.number),
                });
            }
        }
        Err(SyncError::ReorgTooDeep {
            block: cursor.head.number,
            oldest: headers.last().map_or(cursor.head.number, |it| it.number),
            kept: self.options.kept_headers,
        })
    }
}

/// Ignores poisoning: [`Indexer::write`] resumes a commit's panic, so the store is not used after one.
fn lock<E>(store: &Mutex<Store<E>>) -> MutexGuard<'_, Store<E>> {
    store.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Unix seconds.
fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |it| it.as_secs().cast_signed())
}
