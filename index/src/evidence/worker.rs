use crate::{
    StoreError,
    store::{DeploymentId, Engine, Store},
    table::{File, FileState},
};
use concord_chain::fetch::{FetchError, Fetched, Fetcher};
use futures_util::{StreamExt, stream};
use std::collections::BTreeMap;

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
    /// Files asked of one host in an hour. Anyone can name any host in an event.
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

/// How many files were asked of each host in this hour.
#[derive(Debug, Default)]
struct Asked {
    hour: i64,
    hosts: BTreeMap<String, u32>,
}

impl Asked {
    /// Counts a file; `false` if its host was asked often enough. Files of a gateway have no host.
    fn may_ask(&mut self, uri: &str, now: i64, limit: u32) -> bool {
        let hour = now.div_euclid(HOUR);
        if hour != self.hour {
            *self = Self {
                hour,
                ..Self::default()
            };
        }
        let Some(host) = host(uri) else {
            return true;
        };
        let asked = self.hosts.entry(host).or_default();
        *asked = asked.saturating_add(1);
        *asked <= limit
    }
}

/// The host of a URL, without its port and in one spelling.
fn host(uri: &str) -> Option<String> {
    let (_, rest) = uri.split_once("://")?;
    let is_web = uri
        .get(..4)
        .is_some_and(|it| it.eq_ignore_ascii_case("http"));
    let authority = rest.split(['/', '?', '#', '\\']).next()?;
    let host = authority.rsplit('@').next()?;
    let host = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|it| it.is_ascii_digit()) => name,
        _ => host,
    };
    is_web.then(|| host.trim_end_matches('.').to_ascii_lowercase())
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
        let mut asked = Vec::with_capacity(count);
        for file in due {
            match self.asked.may_ask(&file.uri, now, self.options.per_host) {
                true => asked.push(file),
                false => self.postpone(file, now)?,
            }
        }
        let Self {
            store,
            deployment,
            fetcher,
            options,
            ..
        } = self;
        let fetching = stream::iter(asked).map(async |file| {
            let fetched = fetcher.fetch(&file.uri).await;
            (file, fetched)
        });
        let mut fetched = std::pin::pin!(fetching.buffer_unordered(options.at_once));
        while let Some((file, fetched)) = fetched.next().await {
            let taken = options.after(&file, fetched, now);
            store.take_file(*deployment, &taken)?;
        }
        Ok(count)
    }

    /// Until the next hour.
    fn postpone(&mut self, file: File, now: i64) -> Result<(), StoreError> {
        let next_at = now.div_euclid(HOUR).saturating_add(1).saturating_mul(HOUR);
        let later = File { next_at, ..file };
        self.store.take_file(self.deployment, &later)
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
                host: fetched.host,
                bytes: Some(fetched.bytes),
                reason: None,
                ..tried
            },
            Err(error) if error.is_refusal() && file.bytes.is_none() => File {
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
        let spellings = [
            "https://victim.example/1",
            "http://Victim.Example:8080/2",
            "HTTPS://user@victim.example./3",
        ];
        for (uri, may) in spellings.into_iter().zip([true, true, false]) {
            assert_eq!(asked.may_ask(uri, HOUR, 2), may, "{uri}");
        }
        assert!(asked.may_ask("https://other.example/1", HOUR, 2));
        assert!(asked.may_ask(spellings[0], 2 * HOUR, 2));
        for _ in 0..3 {
            assert!(asked.may_ask("ipfs://bafy", HOUR, 2)); // the gateway's
        }
    }
}
