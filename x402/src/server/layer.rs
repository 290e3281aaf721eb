use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Request, Response, header::CACHE_CONTROL};
use http_body::Body;
use tower_layer::Layer;
use tower_service::Service;
use tracing::{debug, warn};

use super::{
    agent::Agent,
    announcement::Announcements,
    grant::GrantIssuer,
    interaction::{RequestSeen, ResponseSeen},
    metrics,
    replay_body::ReplayBody,
    signing_keys::SigningKeys,
};
use crate::wire::{ExternalPrefix, PAYMENT_REQUIRED, PAYMENT_RESPONSE};

/// The layer's limits and settings.
#[derive(Clone)]
pub struct Options {
    /// What a proxy removes from the start of the path before this server sees it (R33).
    pub external_prefix: ExternalPrefix,
    /// Bytes of a request's and of a response's body that are hashed.
    pub body_limit: usize,
    /// How long a body may take to be complete. A stream that never ends is passed on unsigned.
    pub body_timeout: Duration,
    /// How long a signer may take.
    pub signing_timeout: Duration,
    /// The time in unix seconds.
    pub clock: fn() -> u64,
    /// Issues feedback grants (R41).
    pub grants: Option<Arc<dyn GrantIssuer>>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            external_prefix: ExternalPrefix::default(),
            body_limit: 1 << 20,
            body_timeout: Duration::from_secs(10),
            signing_timeout: Duration::from_secs(5),
            clock: unix_seconds,
            grants: None,
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("external_prefix", &self.external_prefix)
            .field("body_limit", &self.body_limit)
            .field("body_timeout", &self.body_timeout)
            .field("signing_timeout", &self.signing_timeout)
            .field("grants", &self.grants.is_some())
            .finish_non_exhaustive()
    }
}

fn unix_seconds() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |it| it.as_secs())
}

/// Wraps a paywall: announces the agent in 402 answers and signs settled responses. Clones share the keys.
#[derive(Clone, Debug)]
pub struct InteractionLayer {
    shared: Arc<Shared>,
}

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) agent: Agent,
    pub(super) keys: Arc<SigningKeys>,
    pub(super) options: Options,
    announcements: Announcements,
}

impl InteractionLayer {
    /// Takes the agent and its keys, which can be rotated later.
    #[must_use]
    pub fn new(agent: Agent, keys: Arc<SigningKeys>) -> Self {
        Self::with_options(agent, keys, Options::default())
    }

    /// As [`Self::new`], with other limits.
    #[must_use]
    pub fn with_options(agent: Agent, keys: Arc<SigningKeys>, options: Options) -> Self {
        let announcements = Announcements::default();
        Self {
            shared: Arc::new(Shared {
                agent,
                keys,
                options,
                announcements,
            }),
        }
    }
}

impl<S> Layer<S> for InteractionLayer {
    type Service = InteractionService<S>;

    fn layer(&self, inner: S) -> InteractionService<S> {
        let shared = self.shared.clone();
        InteractionService { inner, shared }
    }
}

/// The service that [`InteractionLayer`] makes.
#[derive(Clone, Debug)]
pub struct InteractionService<S> {
    inner: S,
    shared: Arc<Shared>,
}

impl<S, B, R> Service<Request<B>> for InteractionService<S>
where
    S: Service<Request<ReplayBody<B>>, Response = Response<R>> + Clone + Send + 'static,
    S::Future: Send,
    B: Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Send,
    R: Body<Data = Bytes> + Send + Unpin + 'static,
    R::Error: Send,
{
    type Response = Response<ReplayBody<R>>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        // the service that is ready is called, not its clone
        let clone = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, clone);
        let shared = self.shared.clone();
        Box::pin(async move {
            let (request, seen) = RequestSeen::of(request, &shared.options).await;
            let response = inner.call(request).await?;
            Ok(shared.answer(&seen, response).await)
        })
    }
}

impl Shared {
    async fn answer<R>(
        &self,
        request: &RequestSeen,
        response: Response<R>,
    ) -> Response<ReplayBody<R>>
    where
        R: Body<Data = Bytes> + Send + Unpin,
        R::Error: Send,
    {
        let (mut parts, body) = response.into_parts();
        if parts.headers.contains_key(PAYMENT_REQUIRED) {
            self.announce(&mut parts);
        }
        if !parts.headers.contains_key(PAYMENT_RESPONSE) {
            return Response::from_parts(parts, ReplayBody::untouched(body));
        }
        set_cache_control(&mut parts, "private");
        let (body, seen) = ResponseSeen::of(&parts, body, request, &self.options).await;
        match self.sign(request, seen, &parts.headers).await {
            Ok((header, task_ref, took)) => {
                parts.headers.insert(name(PAYMENT_RESPONSE), header);
                metrics::signed(took);
                debug!(%task_ref, ?took, "signed a paid response");
            }
            // R34: returned as it is
            Err(reason) => {
                metrics::unsigned(&reason);
                warn!(reason = reason.name(), %reason, "returned a paid response unsigned");
            }
        }
        Response::from_parts(parts, body)
    }

    fn announce(&self, parts: &mut http::response::Parts) {
        let Some(value) = parts.headers.get(PAYMENT_REQUIRED) else {
            return;
        };
        match self.announcements.add(&self.agent, value) {
            Ok(value) => {
                parts.headers.insert(name(PAYMENT_REQUIRED), value);
                set_cache_control(parts, "no-store");
                metrics::announced(true);
            }
            Err(error) => {
                metrics::announced(false);
                warn!(%error, "could not announce the agent in a 402 answer");
            }
        }
    }
}

/// A paid answer is for one client, and an offer for one moment. What the application says counts more.
fn set_cache_control(parts: &mut http::response::Parts, value: &'static str) {
    let value = HeaderValue::from_static(value);
    parts.headers.entry(CACHE_CONTROL).or_insert(value);
}

/// The names of x402's headers are well-formed.
fn name(header: &'static str) -> HeaderName {
    match header {
        PAYMENT_REQUIRED => HeaderName::from_static("payment-required"),
        _ => HeaderName::from_static("payment-response"),
    }
}
