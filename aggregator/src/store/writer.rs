use std::{sync::mpsc, thread};

use concord_sql::Location;
use tokio::sync::{oneshot, watch};

use super::{StoreError, db::Db, failed};

/// Changes that one commit takes at most.
const TOGETHER: usize = 512;

/// Answers a caller, once it is known whether the commit succeeded.
type Answer = Box<dyn FnOnce(Result<(), StoreError>) + Send>;
type Change = Box<dyn FnOnce(Result<&mut Db, StoreError>) -> Answer + Send>;

/// The thread that changes the store.
pub(super) struct Writer {
    location: Location,
    changes: mpsc::Sender<Change>,
}

impl Writer {
    /// Starts the thread, which ends with this value.
    pub fn start(location: &Location, mut db: Db, changed: watch::Sender<u64>) -> Self {
        let (sender, receiver) = mpsc::channel::<Change>();
        thread::spawn(move || {
            while let Ok(first) = receiver.recv() {
                let mut together = vec![first];
                together.extend(receiver.try_iter().take(TOGETHER - 1));
                commit(&mut db, together);
                changed.send_modify(|count| *count = count.wrapping_add(1));
            }
        });
        Self {
            location: location.clone(),
            changes: sender,
        }
    }

    /// Makes a change, and returns after it was committed.
    pub async fn write<T: Send + 'static>(
        &self,
        change: impl FnOnce(&mut Db) -> Result<T, StoreError> + Send + 'static,
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
        change: impl FnOnce(&mut Db) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (sender, receiver) = mpsc::channel();
        self.enqueue(change, move |done| {
            let _ = sender.send(done);
        });
        receiver.recv().unwrap_or_else(|_| Err(self.ended()))
    }

    fn enqueue<T: Send + 'static>(
        &self,
        change: impl FnOnce(&mut Db) -> Result<T, StoreError> + Send + 'static,
        answer: impl FnOnce(Result<T, StoreError>) + Send + 'static,
    ) {
        let change: Change = Box::new(move |db| {
            let changed = db.and_then(|it| alone(it, change));
            Box::new(move |committed| answer(committed.and(changed)))
        });
        // a thread that ended drops the answer's channel, which the caller sees
        let _ = self.changes.send(change);
    }

    fn ended(&self) -> StoreError {
        failed(&self.location, "the writer has ended")
    }
}

/// One change of several: if it fails, the others stay.
fn alone<T>(
    db: &mut Db,
    change: impl FnOnce(&mut Db) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    db.script("SAVEPOINT one")?;
    // a server may report a statement's error with the one after it
    let changed = change(db).and_then(|it| db.script("RELEASE one").map(|()| it));
    if changed.is_err() {
        db.last_receipt = None; // it may be what is undone
        db.script("ROLLBACK TO one; RELEASE one")?;
    }
    changed
}

fn commit(db: &mut Db, changes: Vec<Change>) {
    let begun = db.begin().or_else(|_| {
        db.disconnect(); // a server that was away is back, or is not
        db.begin()
    });
    let run = |change: Change| {
        let db = match &begun {
            Ok(()) => Ok(&mut *db),
            Err(error) => Err(error.clone()),
        };
        change(db)
    };
    let answers: Vec<Answer> = changes.into_iter().map(run).collect();
    let committed = begun.and_then(|()| db.script("COMMIT"));
    if committed.is_err() {
        db.disconnect(); // which ends the transaction, if there is one
    }
    for answer in answers {
        answer(committed.clone());
    }
}
