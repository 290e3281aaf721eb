//! The explorer: pages for people, which show what `/v1` answers and nothing else. They are made here, work
//! without script, and load nothing but their own style. `/explain` alone is another program's page.
//!
//! Names, tags and addresses are texts of strangers: each is escaped, isolated (a right-to-left text turns
//! nothing around it), and is not a link.
mod agent;
mod agents;
mod chart;
mod commands;
mod explain;
mod feedback;
mod page;
mod site;
mod status;

use axum::{
    Router,
    extract::Request,
    http::{HeaderName, HeaderValue, header},
    middleware::{Next, from_fn},
    response::{IntoResponse, Response},
    routing::get,
};
use site::Site;

pub use explain::{ExplainPage, ExplainPageError};

const STYLE: &str = include_str!("explorer.css");

/// No script at all, and no other host.
const HEADERS: [(HeaderName, &str); 5] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; \
         frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-cache"),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
];

/// The pages before the API, which answers everything else.
pub(super) fn router(api: Router, explain: Option<ExplainPage>) -> Router {
    Router::new()
        .route("/", get(agents::page))
        .route("/agent/{agent}", get(agent::page))
        .route(
            "/feedback/{agent}/{profile}/{client}/{index}",
            get(feedback::page),
        )
        .route("/status", get(status::page))
        .route("/explain", get(explain::page))
        .route("/explorer.css", get(style))
        .layer(from_fn(guard))
        .with_state(Site::new(api.clone(), explain))
        .fallback_service(api)
}

async fn style() -> Response {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], STYLE).into_response()
}

async fn guard(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    for (name, value) in HEADERS {
        let value = HeaderValue::from_static(value);
        response.headers_mut().entry(name).or_insert(value); // `/explain` has a policy of its own
    }
    response
}
