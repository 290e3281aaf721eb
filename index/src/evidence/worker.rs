use crate::{
    StoreError,
    store::{DeploymentId, Engine, Store},
    table::{File, FileState},
};
use concord_chain::fetch::{FetchError, Fetched, Fetcher};
use futures_util::future::join_all;

/// How a [`Worker`] works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkerOptions {
    /// Files fetched at once.
    pub at_once: usize,
    /// Seconds until a file is fetched again that only its host vouches for.
    pub refresh: i64,
    /// Seconds between the first two attempts. Each pause is twice the one before.
    pub first_pause: i64,
    /// And at most.
    pub longest_pause: i64,
}

impl Default for WorkerOptions {
    fn default() -> Self {
        Self {
            at_once: 16,
            refresh: 24 * 3_600,
            first_pause: 60,
            longest_pause: 24 * 3_600,
        }
    }
}

/// Fetches the files that a deployment's events refer to. It has a connection of its own, so that a
/// slow host never holds up the chain.
pub struct Worker<E> {
    store: Store<E>,
    deployment: DeploymentId,
    fetcher: Fetcher,
    options: WorkerOptions,
}

impl<E: Engine> Worker<E> {
    /// A worker for a deployment that this process indexes.
    pub const fn new(
        store: Store<E>,
        deployment: DeploymentId,
        fetcher: Fetcher,
        options: WorkerOptions,
    ) -> Self {
        Self {
            store,
            deployment,
            fetcher,
            options,
        }
    }

    /// The store.
    pub const fn store(&mut self) -> &mut Store<E> {
        &mut self.store
    }

    /// Fetches some of the files that are due at this time in Unix seconds, and returns how many that
    /// were.
    ///
    /// # Errors
    /// The store cannot be read or written. A file that cannot be fetched is no error.
    pub async fn step(&mut self, now: i64) -> Result<usize, StoreError> {
        let due = self
            .store
            .due_files(self.deployment, now, self.options.at_once)?;
        let fetching = due.iter().map(|file| self.fetcher.fetch(&file.uri));
        let fetched = join_all(fetching).await;
        for (file, fetched) in due.iter().zip(fetched) {
            let taken = self.after(file, fetched, now);
            self.store.take_file(self.deployment, &taken)?;
        }
        Ok(due.len())
    }

    fn after(&self, file: &File, fetched: Result<Fetched, FetchError>, now: i64) -> File {
        let attempts = file.attempts.saturating_add(1);
        let tried = File {
            attempts,
            checked_at: Some(now),
            ..file.clone()
        };
        match fetched {
            Ok(fetched) => File {
                state: FileState::Fetched,
                attempts: 0,
                // What a CID proves stays as it is.
                next_at: match &fetched.host {
                    Some(_) => now.saturating_add(self.options.refresh),
                    None => i64::MAX,
                },
                host: fetched.host,
                bytes: Some(fetched.bytes),
                reason: None,
                ..tried
            },
            Err(error) if error.is_refusal() => File {
                state: FileState::Refused,
                next_at: i64::MAX,
                reason: Some(error.to_string()),
                host: None,
                bytes: None,
                ..tried
            },
            // What was fetched once stays until something else is.
            Err(error) => File {
                state: match file.state {
                    FileState::Fetched => FileState::Fetched,
                    _ => FileState::Failing,
                },
                next_at: now.saturating_add(self.pause(attempts)),
                reason: Some(error.to_string()),
                ..tried
            },
        }
    }

    fn pause(&self, attempts: u64) -> i64 {
        let doublings = u32::try_from(attempts.saturating_sub(1).min(20)).unwrap_or(20);
        let pause = self.options.first_pause.saturating_mul(1 << doublings);
        pause.min(self.options.longest_pause)
    }
}
