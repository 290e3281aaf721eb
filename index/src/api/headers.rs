//! What every answer has, and what every request is measured by.
use super::{Api, ApiError, Metrics};
use crate::store::Engine;
use axum::{
    extract::{MatchedPath, Request, State},
    http::{HeaderName, HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use std::{sync::Arc, time::Instant};

/// Answers contain text written by strangers: browsers must not guess another content type.
const ALWAYS: [(HeaderName, &str); 4] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; frame-ancestors 'none'",
    ),
    // Everything here is public, and no credentials are read.
    (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
    (header::CACHE_CONTROL, "no-cache"),
];

const PREFLIGHT: [(HeaderName, &str); 3] = [
    (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, OPTIONS"),
    (header::ACCESS_CONTROL_ALLOW_HEADERS, "content-type"),
    (header::ACCESS_CONTROL_MAX_AGE, "86400"),
];

/// CORS, as a public API needs it.
pub(super) async fn answer_browsers(request: Request, next: Next) -> Response {
    let is_preflight = request.method() == Method::OPTIONS
        && request
            .headers()
            .contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    let mut response = if is_preflight {
        StatusCode::NO_CONTENT.into_response()
    } else {
        next.run(request).await
    };
    let headers = response.headers_mut();
    let more = PREFLIGHT.into_iter().filter(|_| is_preflight);
    for (name, value) in ALWAYS.into_iter().chain(more) {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Limits the time of a request, and notes how long it took.
pub(super) async fn limit_and_note<E: Engine + 'static>(
    State(api): State<Arc<Api<E>>>,
    request: Request,
    next: Next,
) -> Response {
    let route = request.extensions().get::<MatchedPath>();
    let mut timed = Timed {
        route: route.map_or("none", MatchedPath::as_str).to_owned(),
        status: ABANDONED,
        begun: Instant::now(),
        metrics: &api.metrics,
    };
    // A query waits for a connection first, so that a request may take twice as long as a query.
    let limit = api.limits.time.saturating_mul(2);
    let answered = tokio::time::timeout(limit, next.run(request)).await;
    let response = answered.unwrap_or_else(|_| ApiError::TimedOut(limit).into_response());
    timed.status = response.status().as_u16();
    response
}

/// The status in the metrics if the client closed the connection before the answer. It is never sent.
const ABANDONED: u16 = 499;

/// A request, which is noted when it ends. That of a client that went away is dropped.
struct Timed<'a> {
    route: String,
    status: u16,
    begun: Instant,
    metrics: &'a Metrics,
}

impl Drop for Timed<'_> {
    fn drop(&mut self) {
        let took = self.begun.elapsed();
        self.metrics.note(&self.route, self.status, took);
    }
}
