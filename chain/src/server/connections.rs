//! The connections that are open, and which of them makes room for another one.
use super::ServerLimits;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Instant,
};
use tokio::sync::watch;

/// What a connection is asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ask {
    /// Take requests.
    Go,
    /// Answer the request that has begun, and close.
    Finish,
    /// Close at once.
    Close,
}

/// By number: older connections have smaller ones.
type Open = Mutex<BTreeMap<u64, Weak<Connection>>>;

pub(crate) struct Connections {
    open: Arc<Open>,
    limits: ServerLimits,
    next: Mutex<u64>,
}

/// A connection, until it is dropped.
pub(crate) struct Connection {
    number: u64,
    open: Arc<Open>,
    ask: watch::Sender<Ask>,
    requests: Mutex<Requests>,
}

#[derive(Default)]
struct Requests {
    /// More than one only while an answer ends and the next request begins.
    count: usize,
    since: Option<Instant>,
}

/// A request of a connection, until it is dropped.
pub(crate) struct Request(Arc<Connection>);

impl Connections {
    pub(crate) fn new(limits: ServerLimits) -> Self {
        Self {
            open: Arc::default(),
            limits,
            next: Mutex::new(0),
        }
    }

    /// `None` if no connection makes room.
    pub(crate) fn open(&self) -> Option<Arc<Connection>> {
        let is_full = locked(&self.open).len() >= self.limits.connections;
        if is_full && !self.make_room() {
            return None;
        }
        let mut next = locked(&self.next);
        *next += 1;
        let connection = Arc::new(Connection {
            number: *next,
            open: Arc::clone(&self.open),
            ask: watch::Sender::new(Ask::Go),
            requests: Mutex::default(),
        });
        locked(&self.open).insert(*next, Arc::downgrade(&connection));
        Some(connection)
    }

    /// Closes the oldest connection without a request, or else the one with the oldest request if that
    /// takes too long. Returns whether there was one.
    pub(crate) fn make_room(&self) -> bool {
        let all = self.all();
        let begun = all.iter().map(|it| (it, it.since()));
        let (busy, idle): (Vec<_>, Vec<_>) = begun.partition(|(_, since)| since.is_some());
        let slow = || {
            let oldest = busy.iter().min_by_key(|(_, since)| *since)?;
            let took = oldest.1?.elapsed();
            (took > self.limits.request).then_some(oldest.0)
        };
        let found = idle.first().map(|(it, _)| *it).or_else(slow);
        if let Some(connection) = found {
            // It no longer counts, although its task takes a moment to end.
            locked(&self.open).remove(&connection.number);
            connection.ask.send_replace(Ask::Close);
        }
        found.is_some()
    }

    /// Asks all to end.
    pub(crate) fn end(&self) {
        for connection in self.all() {
            let ask = match connection.since() {
                Some(_) => Ask::Finish,
                None => Ask::Close,
            };
            connection.ask.send_replace(ask);
        }
    }

    /// The oldest one first.
    fn all(&self) -> Vec<Arc<Connection>> {
        let open = locked(&self.open);
        open.values().filter_map(Weak::upgrade).collect()
    }
}

impl Connection {
    pub(crate) fn asked(&self) -> watch::Receiver<Ask> {
        self.ask.subscribe()
    }

    /// Notes a request.
    pub(crate) fn begin(self: &Arc<Self>) -> Request {
        let mut requests = locked(&self.requests);
        requests.count += 1;
        requests.since = Some(Instant::now());
        drop(requests);
        Request(Arc::clone(self))
    }

    /// Since when it has had a request.
    fn since(&self) -> Option<Instant> {
        locked(&self.requests).since
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        locked(&self.open).remove(&self.number);
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        let mut requests = locked(&self.0.requests);
        requests.count -= 1;
        if requests.count == 0 {
            requests.since = None;
        }
    }
}

/// A panic while it was locked left it whole: nothing in between can panic.
fn locked<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}
