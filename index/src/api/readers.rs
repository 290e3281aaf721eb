//! Connections that only read. Each query has one, a snapshot, and a time limit.
use super::ApiError;
use crate::{
    StoreError,
    store::{Database, Engine, Location, Store},
};
use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::{
    sync::Semaphore,
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

type Connect<E> = dyn Fn() -> Result<Reader<E>, StoreError> + Send + Sync;

/// Connections to one store.
pub struct Readers<E> {
    idle: Mutex<Vec<Reader<E>>>,
    permits: Arc<Semaphore>,
    connect: Box<Connect<E>>,
    limit: Duration,
}

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
        let permit = timeout(self.limit, self.permits.clone().acquire_owned()).await;
        let Ok(Ok(permit)) = permit else {
            return Err(ApiError::Busy);
        };
        let reader = self.reader().await?;
        let interrupt = reader.interrupt.clone();
        let task = spawn_blocking(move || {
            let mut reader = reader;
            let answer = reader.store.snapshot(query);
            drop(permit);
            (reader, answer)
        });
        // A client that goes away drops this future; the limit of its query stays.
        let watched = tokio::spawn(Arc::clone(self).watch(task, interrupt));
        watched.await.unwrap_or(Err(ApiError::Defect))
    }

    /// Waits for a query, and ends it if it takes too long.
    async fn watch<T: Send + 'static>(
        self: Arc<Self>,
        mut task: JoinHandle<(Reader<E>, Result<T, ApiError>)>,
        interrupt: Interrupt,
    ) -> Result<T, ApiError> {
        match timeout(self.limit, &mut task).await {
            Ok(Ok((reader, answer))) => {
                self.idle().push(reader);
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

/// An interrupt between two statements has no effect, so it is repeated. The connection is not used
/// again.
async fn end<T>(task: JoinHandle<T>, interrupt: Interrupt) {
    while !task.is_finished() {
        interrupt();
        sleep(AGAIN).await;
    }
}
