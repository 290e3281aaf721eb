use crate::{
    StoreError,
    store::{DeploymentId, Engine, Store},
    table::{File, FileState},
};
use concord_chain::fetch::{FetchError, Fetched, Fetcher};
use futures_util::{StreamExt, stream};
use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

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
    /// Requests to one host in an hour, redirects included. Anyone can name any host in an event.
    pub per_host: u32,
}

impl Default for WorkerOptions {
    fn default() -> Self {
        Self {
            at_once: 16,
            refresh: 24 * 3_600,
            first_pause: 60,
            longest_pause: 30 * 24 * 3_600,
            per_host: 1_000,
        }
    }
}

/// Files that are due are read from the store for so many rounds: a slow host holds up only one of them.
const ROUNDS: usize = 4;
const HOUR: i64 = 3_600;

/// How often each host was asked in this hour.
#[derive(Debug, Default)]
struct Asked {
    hour: i64,
    hosts: BTreeMap<String, u32>,
}

impl Asked {
    /// Counts a request; `false` if its host was asked often enough.
    fn may_ask(&mut self, host: &str, now: i64, limit: u32) -> bool {
        let hour = now.div_euclid(HOUR);
        if hour != self.hour {
            *self = Self {
                hour,
                ..Self::default()
            };
        }
        // A dot at the end names the same host.
        let host = host.strip_suffix('.').unwrap_or(host);
        let asked = self.hosts.entry(host.to_owned()).or_default();
        *asked = asked.saturating_add(1);
        *asked <= limit
    }
}

/// Fetches the files that a deployment's events refer to. It has a connection of its own, so that a
/// slow host never holds up the chain.
pub struct Worker<E> {
    store: Store<E>,
    deployment: DeploymentId,
    fetcher: Fetcher,
    options: WorkerOptions,
    asked: Asked,
}

impl<E: Engine> Worker<E> {
    /// A worker for a deployment that this process indexes.
    pub fn new(
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
            asked: Asked::default(),
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
    /// The store cannot be read or written. A file that cannot be fetched is not an error.
    pub async fn step(&mut self, now: i64) -> Result<usize, StoreError> {
        self.store.derive_behind(self.deployment)?;
        let limit = self.options.at_once.saturating_mul(ROUNDS);
        let due = self.store.due_files(self.deployment, now, limit)?;
        let count = due.len();
        let Self {
            store,
            deployment,
            fetcher,
            options,
            asked,
        } = self;
        let asked = Mutex::new(asked);
        let may_ask = |host: &str| {
            let mut asked = asked.lock().unwrap_or_else(PoisonError::into_inner);
            asked.may_ask(host, now, options.per_host)
        };
        let fetching = stream::iter(due).map(async |file| {
            let fetched = fetcher.fetch_if(&file.uri, may_ask).await;
            (file, fetched)
        });
        let mut fetched = std::pin::pin!(fetching.buffer_unordered(options.at_once));
        while let Some((file, fetched)) = fetched.next().await {
            let taken = options.after(&file, fetched, now);
            store.take_file(*deployment, &taken)?;
        }
        Ok(count)
    }
}

impl WorkerOptions {
    /// What a file is after an attempt to fetch it.
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
                // Content that a CID proves cannot change.
                next_at: match &fetched.host {
                    Some(_) => now.saturating_add(self.refresh),
                    None => i64::MAX,
                },
                fetched_at: Some(now),
                host: fetched.host,
                bytes: Some(fetched.bytes),
                reason: None,
                ..tried
            },
            // Until the next hour; it was not an attempt.
            Err(FetchError::AskedEnough { .. }) => File {
                next_at: now.div_euclid(HOUR).saturating_add(1).saturating_mul(HOUR),
                ..file.clone()
            },
            Err(error) if error.is_permanent() && file.bytes.is_none() => File {
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
        let pause = self.first_pause.saturating_mul(1 << doublings);
        pause.min(self.longest_pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_asked_so_often_in_an_hour_and_again_in_the_next() {
        let mut asked = Asked::default();
        let requests = ["victim.example", "victim.example.", "victim.example"];
        for (host, may) in requests.into_iter().zip([true, true, false]) {
            assert_eq!(asked.may_ask(host, HOUR, 2), may, "{host}");
        }
        assert!(asked.may_ask("other.example", HOUR, 2));
        assert!(asked.may_ask("victim.example", 2 * HOUR, 2));
    }
}
