//! `/v1`: the index over HTTP, for agents of both chains, and agent0's subgraph beside it. It only reads.
//!
//! Bodies and answers are JSON, also errors; texts from chains are values of it and nothing else. A
//! member or filter that is not known is an error that names it. Pages continue by key.
mod agents;
mod cursor;
mod error;
mod explorer;
mod feedback;
mod headers;
mod health;
mod item;
mod metadata;
mod metrics;
mod names;
mod openapi;
mod readers;
mod render;
mod reputation;
mod request;
mod responses;
mod room;
mod server;
mod strict;
mod subgraph;
mod summaries;
mod validations;

pub use error::ApiError;
pub use explorer::{ExplainPage, ExplainPageError};
pub use metrics::Metrics;
pub use readers::{Interrupt, Reader, Readers};
pub use server::serve;

pub(crate) use health::NEWEST;
pub(crate) use render::{difference, reorganizations};
pub(crate) use strict::read as read_strictly;

use crate::store::Engine;
use axum::{
    Router,
    extract::Request,
    middleware::{from_fn, from_fn_with_state},
    routing::{get, post},
};
use error::Json;
use std::{sync::Arc, time::Duration};

/// What requests may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a body.
    pub body: usize,
    /// Rows of a page.
    pub page: usize,
    /// Entries of a list, such as reviewers.
    pub list: usize,
    /// Bytes of a page's items: a page that would be longer ends early, and has a cursor.
    pub bytes: usize,
    /// Bytes of a text that is looked for in names.
    pub text: usize,
    /// For a query, and for a whole request.
    pub time: Duration,
    /// Queries at once.
    pub queries: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 256 << 10,
            page: 200,
            list: 1_000,
            bytes: 8 << 20,
            text: 256,
            time: Duration::from_secs(5),
            queries: 8,
        }
    }
}

/// What every request has.
pub struct Api<E> {
    readers: Arc<Readers<E>>,
    limits: Limits,
    metrics: Metrics,
    explain: Option<ExplainPage>,
}

impl<E: Engine + 'static> Api<E> {
    /// The API over these connections. `explain` is what the explorer serves to verify bundles with.
    #[must_use]
    pub fn new(readers: Readers<E>, limits: Limits, explain: Option<ExplainPage>) -> Arc<Self> {
        Arc::new(Self {
            readers: Arc::new(readers),
            limits,
            metrics: Metrics::default(),
            explain,
        })
    }
}

/// The routes, and the methods that they take.
pub(crate) const ROUTES: &[(&str, &str)] = &[
    ("post", "/v1/agents/search"),
    ("get", "/v1/agents/{agent}"),
    ("get", "/v1/agents/{agent}/summary"),
    ("get", "/v1/agents/{agent}/validations"),
    ("get", "/v1/agents/{agent}/given"),
    ("get", "/v1/agents/{agent}/metadata"),
    ("post", "/v1/summaries"),
    ("post", "/v1/feedback/search"),
    ("get", "/v1/feedback/{agent}/{profile}/{client}/{index}"),
    (
        "get",
        "/v1/feedback/{agent}/{profile}/{client}/{index}/responses",
    ),
    ("get", "/v1/validations"),
    ("get", "/v1/raters/{account}"),
    ("get", "/v1/status"),
    ("get", "/v1/openapi.json"),
    ("post", "/subgraphs/{name}/graphql"),
    ("get", "/livez"),
    ("get", "/readyz"),
    ("get", "/metrics"),
];

/// The API, and the explorer's pages before it, as a router.
pub fn router<E: Engine + 'static>(api: Arc<Api<E>>) -> Router {
    let explain = api.explain.clone();
    explorer::router(answers(api), explain)
}

fn answers<E: Engine + 'static>(api: Arc<Api<E>>) -> Router {
    Router::new()
        .route("/v1/agents/search", post(agents::search::<E>))
        .route("/v1/agents/{agent}", get(agents::one::<E>))
        .route("/v1/agents/{agent}/summary", get(summaries::one::<E>))
        .route(
            "/v1/agents/{agent}/validations",
            get(validations::of_agent::<E>),
        )
        .route("/v1/agents/{agent}/given", get(feedback::given::<E>))
        .route("/v1/agents/{agent}/metadata", get(metadata::of_agent::<E>))
        .route("/v1/summaries", post(summaries::many::<E>))
        .route("/v1/feedback/search", post(feedback::search::<E>))
        .route(
            "/v1/feedback/{agent}/{profile}/{client}/{index}",
            get(feedback::one::<E>),
        )
        .route(
            "/v1/feedback/{agent}/{profile}/{client}/{index}/responses",
            get(responses::of_feedback::<E>),
        )
        .route("/v1/validations", get(validations::by_validator::<E>))
        .route("/v1/raters/{account}", get(feedback::rater::<E>))
        .route("/subgraphs/{name}/graphql", post(subgraph::query::<E>))
        .route("/v1/status", get(health::status::<E>))
        .route("/v1/openapi.json", get(openapi::document::<E>))
        .route("/livez", get(health::live))
        .route("/readyz", get(health::ready::<E>))
        .route("/metrics", get(health::metrics::<E>))
        .method_not_allowed_fallback(other_method)
        .fallback(nothing)
        .layer(from_fn_with_state(
            Arc::clone(&api),
            headers::limit_and_note::<E>,
        ))
        .layer(from_fn(headers::answer_browsers))
        .with_state(api)
}

async fn nothing(request: Request) -> ApiError {
    let path = names::excerpt(request.uri().path());
    ApiError::NotFound {
        what: format!("the path {path:?}"),
    }
}

async fn other_method(request: Request) -> ApiError {
    ApiError::Method {
        path: names::excerpt(request.uri().path()),
        method: names::excerpt(request.method().as_str()),
    }
}
