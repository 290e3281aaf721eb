//! Connections that only read. Each query has one, a snapshot, and a time limit.
use super::ApiError;
use crate::{
    StoreError,
    store::{Database, Engine, Location, Store},
};
use std::{
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
    time::Duration,
};
use tokio::{
    runtime::Handle,
    sync::{OwnedSemaphorePermit, Semaphore},
    task::{JoinHandle, spawn_blocking},
    time::{sleep, timeout},
};

/// Ends the statement that a connection is carrying out.
pub type Interrupt = Arc<dyn Fn() + Send + Sync>;

/// A connection that only reads.
pub struct Reader<E> {
    /// The store.
    pub store: Store<E>,
    /// Ends the query that is running.
    pub interrupt: Interrupt,
}

/// What is left of a query.
type Asked<E, T> = (OwnedSemaphorePermit, Reader<E>, Result<T, ApiError>);

type Connect<E> = dyn Fn() -> Result<Reader<E>, StoreError> + Send + Sync;

/// Connections to one store.
pub struct Readers<E> {
    idle: Mutex<Vec<Reader<E>>>,
    permits: Arc<Semaphore>,
    /// For who asks whether the service is well: they do not wait for the queries of others.
    own_permits: Arc<Semaphore>,
    connect: Box<Connect<E>>,
    limit: Duration,
}

/// Connections besides, for health and metrics.
const OWN: usize = 2;

/// Between two attempts to end a statement.
const AGAIN: Duration = Duration::from_millis(10);

impl Readers<Database> {
    /// Readers of a store that exists.
    #[must_use]
    pub fn of_store(location: Location, at_once: usize, limit: Duration) -> Self {
        let connect = move || {
            let engine = location.open_read_only()?;
            let interrupt = engine.interrupt();
            Ok(Reader {
                store: Store::open_read_only(engine)?,
                interrupt,
            })
        };
        Self::new(Box::new(connect), at_once, limit)
    }
}

impl<E: Engine + 'static> Readers<E> {
    /// At most `at_once` connections, and so long for each query.
    #[must_use]
    pub fn new(connect: Box<Connect<E>>, at_once: usize, limit: Duration) -> Self {
        Self {
            idle: Mutex::default(),
            permits: Arc::new(Semaphore::new(at_once)),
            own_permits: Arc::new(Semaphore::new(OWN)),
            connect,
            limit,
        }
    }

    /// Runs a query on a snapshot.
    ///
    /// # Errors
    /// [`ApiError::Busy`], [`ApiError::TimedOut`], and those of the query.
    pub async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        query: impl FnOnce(&mut Store<E>) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        self.read_with(&self.permits, query).await
    }

    /// Runs a query that does not wait for those of [`Self::read`].
    ///
    /// # Errors
    /// As [`Self::read`].
    pub async fn read_beside<T: Send + 'static>(
        self: &Arc<Self>,
        query: impl FnOnce(&mut Store<E>) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        self.read_with(&self.own_permits, query).await
    }

    async fn read_with<T: Send + 'static>(
        self: &Arc<Self>,
        permits: &Arc<Semaphore>,
        query: impl FnOnce(&mut Store<E>) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let permit = timeout(self.limit, permits.clone().acquire_owned()).await;
        let Ok(Ok(permit)) = permit else {
            return Err(ApiError::Busy);
        };
        let reader = self.reader().await?;
        let interrupt = reader.interrupt.clone();
        let task = spawn_blocking(move || {
            let mut reader = reader;
            let answer = reader.store.snapshot(query);
            (permit, reader, answer)
        });
        let watch = Arc::clone(self).watch(task, interrupt);
        Watched(Some(Box::pin(watch))).await
    }

    /// Waits for a query, and ends it if it takes too long.
    async fn watch<T: Send + 'static>(
        self: Arc<Self>,
        mut task: JoinHandle<Asked<E, T>>,
        interrupt: Interrupt,
    ) -> Result<T, ApiError> {
        match timeout(self.limit, &mut task).await {
            Ok(Ok((permit, reader, answer))) => {
                // After its server went away, a connection fails for ever.
                if !matches!(answer, Err(ApiError::Store(_))) {
                    self.idle().push(reader);
                }
                drop(permit);
                answer
            }
            Ok(Err(_)) => Err(ApiError::Defect),
            Err(_) => {
                interrupt();
                tokio::spawn(end(task, interrupt));
                Err(ApiError::TimedOut(self.limit))
            }
        }
    }

    async fn reader(self: &Arc<Self>) -> Result<Reader<E>, ApiError> {
        if let Some(reader) = self.idle().pop() {
            return Ok(reader);
        }
        let readers = Arc::clone(self);
        let connected = spawn_blocking(move || (readers.connect)()).await;
        connected.map_err(|_| ApiError::Defect)?.map_err(Into::into)
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Reader<E>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Watches a query in the caller's task. A client that goes away drops this future; the limit of its query stays.
struct Watched<F: Future<Output: Send> + Send + 'static>(Option<Pin<Box<F>>>);

impl<F: Future<Output: Send> + Send + 'static> Future for Watched<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let Some(watch) = &mut self.0 else {
            return Poll::Pending; // it is ready once
        };
        let polled = watch.as_mut().poll(context);
        if polled.is_ready() {
            self.0 = None;
        }
        polled
    }
}

impl<F: Future<Output: Send> + Send + 'static> Drop for Watched<F> {
    fn drop(&mut self) {
        let Some(watch) = self.0.take() else {
            return;
        };
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(watch);
        }
    }
}

/// An interrupt between two statements has no effect, so it is repeated. The connection is not used
/// again.
async fn end<T>(task: JoinHandle<T>, interrupt: Interrupt) {
    while !task.is_finished() {
        interrupt();
        sleep(AGAIN).await;
    }
}
