use std::{
    path::{Path, PathBuf},
    sync::mpsc,
    thread,
};

use rusqlite::Connection;
use tokio::sync::{oneshot, watch};

use super::{StoreError, failed};

/// Changes that one commit takes at most.
const TOGETHER: usize = 512;

/// Answers a caller, once it is known whether the commit succeeded.
type Answer = Box<dyn FnOnce(Result<(), StoreError>) + Send>;
type Change = Box<dyn FnOnce(Result<&Connection, StoreError>) -> Answer + Send>;

/// The thread that changes the store.
pub(super) struct Writer {
    path: PathBuf,
    changes: mpsc::Sender<Change>,
}

impl Writer {
    /// Starts the thread, which ends with this value.
    pub fn start(path: &Path, connection: Connection, changed: watch::Sender<u64>) -> Self {
        let (sender, receiver) = mpsc::channel::<Change>();
        let file = path.to_owned();
        thread::spawn(move || {
            while let Ok(first) = receiver.recv() {
                let mut together = vec![first];
                together.extend(receiver.try_iter().take(TOGETHER - 1));
                commit(&file, &connection, together);
                changed.send_modify(|count| *count = count.wrapping_add(1));
            }
        });
        Self {
            path: path.to_owned(),
            changes: sender,
        }
    }

    /// Makes a change, and returns after it was committed.
    pub async fn write<T: Send + 'static>(
        &self,
        change: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (sender, receiver) = oneshot::channel();
        self.enqueue(change, move |done| {
            let _ = sender.send(done); // the caller may have given up
        });
        receiver.await.unwrap_or_else(|_| Err(self.ended()))
    }

    /// As [`Self::write`], for callers that are not asynchronous. It blocks for one commit.
    pub fn write_now<T: Send + 'static>(
        &self,
        change: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (sender, receiver) = mpsc::channel();
        self.enqueue(change, move |done| {
            let _ = sender.send(done);
        });
        receiver.recv().unwrap_or_else(|_| Err(self.ended()))
    }

    fn enqueue<T: Send + 'static>(
        &self,
        change: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
        answer: impl FnOnce(Result<T, StoreError>) + Send + 'static,
    ) {
        let path = self.path.clone();
        let change: Change = Box::new(move |connection| {
            let changed =
                connection.and_then(|it| alone(it, change).map_err(|error| failed(&path, error)));
            Box::new(move |committed| answer(committed.and(changed)))
        });
        // a thread that ended drops the answer's channel, which the caller sees
        let _ = self.changes.send(change);
    }

    fn ended(&self) -> StoreError {
        failed(&self.path, "the writer has ended")
    }
}

/// One change of several: if it fails, the others stay.
fn alone<T>(
    connection: &Connection,
    change: impl FnOnce(&Connection) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    connection.execute_batch("SAVEPOINT one")?;
    let changed = change(connection);
    let end = match changed {
        Ok(_) => "RELEASE one",
        Err(_) => "ROLLBACK TO one; RELEASE one",
    };
    connection.execute_batch(end)?;
    changed
}

fn commit(path: &Path, connection: &Connection, changes: Vec<Change>) {
    let begun = connection.execute_batch("BEGIN IMMEDIATE");
    let begun = begun.map_err(|error| failed(path, error));
    let run = |change: Change| change(begun.clone().map(|()| connection));
    let answers: Vec<Answer> = changes.into_iter().map(run).collect();
    let committed = begun.and_then(|()| {
        let done = connection.execute_batch("COMMIT");
        done.map_err(|error| failed(path, error))
    });
    if committed.is_err() && !connection.is_autocommit() {
        let _ = connection.execute_batch("ROLLBACK"); // it failed already
    }
    for answer in answers {
        answer(committed.clone());
    }
}
