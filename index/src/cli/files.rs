//! The worker that fetches files, in a thread with a connection of its own.
use super::{CliError, arguments::FileOptions};
use crate::{
    evidence::{Worker, WorkerOptions},
    store::{Database, DeploymentId, Location, Store},
};
use concord_chain::{
    Blocking,
    fetch::{FetchOptions, Fetcher},
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// Between two looks for files that are due.
const PAUSE: Duration = Duration::from_secs(1);

/// A running worker.
pub struct FileThread {
    /// Set: it ends when nothing is due.
    is_last: Arc<AtomicBool>,
    thread: JoinHandle<Result<(), CliError>>,
}

impl FileThread {
    /// Starts it, if files are asked for.
    pub fn start(
        options: &FileOptions,
        location: &Location,
        deployment: DeploymentId,
    ) -> Result<Option<Self>, CliError> {
        if !options.files {
            return Ok(None);
        }
        let fetcher = Fetcher::new(FetchOptions {
            allow_http: options.allow_http,
            allow_private: options.allow_private,
            gateway: options.gateway.clone(),
            ..FetchOptions::default()
        })?;
        let store = Store::open(location.open()?)?;
        let worker = Worker::new(store, deployment, fetcher, WorkerOptions::default());
        let is_last = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&is_last);
        let thread = thread::spawn(move || work(worker, &ends));
        Ok(Some(Self { is_last, thread }))
    }

    /// Fetches what is due, and ends.
    pub fn finish(self) -> Result<(), CliError> {
        self.is_last.store(true, Ordering::SeqCst);
        self.thread.join().unwrap_or(Err(CliError::FileWorker))
    }

    /// Whether the worker ended, which happens only after a failure.
    pub fn is_over(&self) -> bool {
        self.thread.is_finished()
    }

    /// Its failure.
    pub fn failure(self) -> CliError {
        let ended = self.thread.join().unwrap_or(Err(CliError::FileWorker));
        ended.err().unwrap_or(CliError::FileWorker)
    }
}

fn work(mut worker: Worker<Database>, is_last: &AtomicBool) -> Result<(), CliError> {
    let blocking = Blocking::new()?;
    loop {
        let ends = is_last.load(Ordering::SeqCst);
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.map_or(0, |it| it.as_secs().cast_signed());
        match blocking.wait(worker.step(now)) {
            Ok(1..) => continue,
            Ok(0) => (),
            Err(error) if error.is_passing() => {
                eprintln!("files wait: {error}");
                thread::sleep(PAUSE);
                continue;
            }
            Err(error) => return Err(error.into()),
        }
        if ends {
            return Ok(());
        }
        thread::sleep(PAUSE);
    }
}
