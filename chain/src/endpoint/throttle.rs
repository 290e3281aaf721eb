//! A layer that keeps requests within an endpoint's limits, stated or learned. Alloy's
//! `ThrottleLayer` knows one rate per second, no methods, and learns nothing.
use super::{
    RequestLimits,
    http::{RequestLimit, limit},
    window::{Admission, Window},
};
use alloy::{
    rpc::json_rpc::{RequestPacket, ResponsePacket},
    transports::{TransportError, TransportFut},
};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
    time::{Duration, Instant},
};
use tokio::{sync::Notify, time::timeout_at};
use tower_layer::Layer;
use tower_service::Service;

/// How often each method is in a packet.
type Methods = BTreeMap<String, u32>;

#[derive(Clone, Debug)]
pub(super) struct LimitLayer {
    throttle: Arc<Throttle>,
}

impl LimitLayer {
    /// `pause`: after a refusal that does not say how long.
    pub(crate) fn new(limits: Option<RequestLimits>, pause: Duration) -> Self {
        let length = limits.map_or(RequestLimits::WINDOW, |limits| limits.window);
        let in_total = limits.map(|limits| limits.in_total.get());
        let windows = Windows {
            length,
            per_method: limits.map(|limits| limits.per_method.get()),
            methods: BTreeMap::new(),
            total: Window::new(length, in_total, Instant::now()),
        };
        let throttle = Throttle {
            windows: Mutex::new(windows),
            answered: Notify::new(),
            pause,
        };
        Self {
            throttle: Arc::new(throttle),
        }
    }
}

impl<S> Layer<S> for LimitLayer {
    type Service = Limited<S>;

    fn layer(&self, inner: S) -> Limited<S> {
        Limited {
            inner,
            throttle: self.throttle.clone(),
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Limited<S> {
    inner: S,
    throttle: Arc<Throttle>,
}

impl<S> Service<RequestPacket> for Limited<S>
where
    S: Service<RequestPacket, Response = ResponsePacket, Error = TransportError>
        + Clone
        + Send
        + 'static,
    S::Future: Send + 'static,
{
    type Response = ResponsePacket;
    type Error = TransportError;
    type Future = TransportFut<'static>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, packet: RequestPacket) -> Self::Future {
        let throttle = self.throttle.clone();
        let mut inner = self.inner.clone();
        Box::pin(async move {
            let mut methods = Methods::new();
            for request in packet.requests() {
                *methods.entry(request.method().to_owned()).or_default() += 1;
            }
            let mut sent = throttle.admit(methods).await;
            let answer = inner.call(packet).await;
            sent.refused = answer.as_ref().err().and_then(limit);
            answer
        })
    }
}

#[derive(Debug)]
struct Throttle {
    windows: Mutex<Windows>,
    answered: Notify,
    pause: Duration,
}

impl Throttle {
    /// Waits until the packet may be sent.
    async fn admit(self: Arc<Self>, methods: Methods) -> Sent {
        loop {
            let answered = self.answered.notified(); // from here on, so that none is missed
            let admission = self.windows().admit(&methods, Instant::now());
            match admission {
                Admission::Now => break,
                Admission::AfterAnswer => answered.await,
                Admission::At(time) => {
                    let _ = timeout_at(time.into(), answered).await; // either may have made room
                }
            }
        }
        Sent {
            throttle: self,
            methods,
            refused: None,
        }
    }

    /// A thread that panicked has left whole windows behind.
    fn windows(&self) -> MutexGuard<'_, Windows> {
        self.windows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A packet on its way. Dropped when it was answered, or is not waited for any more.
struct Sent {
    throttle: Arc<Throttle>,
    methods: Methods,
    refused: Option<RequestLimit>,
}

impl Drop for Sent {
    fn drop(&mut self) {
        let (now, pause) = (Instant::now(), self.throttle.pause);
        let mut windows = self.throttle.windows();
        if let Some(refused) = &self.refused {
            windows.refuse(&self.methods, refused, pause, now);
        }
        windows.leave(&self.methods, self.refused.is_some(), now);
        drop(windows);
        self.throttle.answered.notify_waiters();
    }
}

#[derive(Debug)]
struct Windows {
    length: Duration,
    /// What the endpoint states.
    per_method: Option<u32>,
    methods: BTreeMap<String, Window>,
    total: Window,
}

impl Windows {
    fn admit(&mut self, methods: &Methods, now: Instant) -> Admission {
        let mut admission = self.total.admission(methods.values().sum(), now);
        for (method, count) in methods {
            admission = later(admission, self.of(method, now).admission(*count, now));
        }
        if admission == Admission::Now {
            self.total.enter(methods.values().sum());
            for (method, count) in methods {
                self.of(method, now).enter(*count);
            }
        }
        admission
    }

    fn leave(&mut self, methods: &Methods, is_refused: bool, now: Instant) {
        self.total.leave(methods.values().sum(), is_refused, now);
        for (method, count) in methods {
            self.of(method, now).leave(*count, is_refused, now);
        }
    }

    /// An endpoint seldom says which of its limits was reached. It is taken for the method's if most
    /// of the latest requests were of that method, else for the one in total.
    fn refuse(&mut self, methods: &Methods, limit: &RequestLimit, pause: Duration, now: Instant) {
        let total = self.total.used();
        let is_most = |used: u32| used.saturating_mul(2) > total;
        let most = methods
            .keys()
            .find(|method| is_most(self.methods.get(*method).map_or(0, Window::used)));
        let window = match most {
            Some(method) => self.of(method, now),
            None => &mut self.total,
        };
        window.refuse(limit.retry_after, pause, now);
    }

    fn of(&mut self, method: &str, now: Instant) -> &mut Window {
        let (length, stated) = (self.length, self.per_method);
        let window = || Window::new(length, stated, now);
        self.methods.entry(method.to_owned()).or_insert_with(window)
    }
}

fn later(one: Admission, other: Admission) -> Admission {
    match (one, other) {
        (Admission::Now, it) | (it, Admission::Now) => it,
        (Admission::At(one), Admission::At(other)) => Admission::At(one.max(other)),
        _ => Admission::AfterAnswer,
    }
}
