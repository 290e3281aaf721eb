//! The explorer: pages for people, which show what `/v1` answers and nothing else. They are made here, work
//! without script, and load nothing but their own style.
//!
//! Names, tags and addresses are texts of strangers: each is escaped, isolated (a right-to-left text turns
//! nothing around it), and is no link.
mod agent;
mod agents;
mod chart;
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
pub(super) fn router(api: Router) -> Router {
    Router::new()
        .route("/", get(agents::page))
        .route("/agent/{agent}", get(agent::page))
        .route(
            "/feedback/{agent}/{profile}/{client}/{index}",
            get(feedback::page),
        )
        .route("/status", get(status::page))
        .route("/explorer.css", get(style))
        .layer(from_fn(guard))
        .with_state(Site::new(api.clone()))
        .fallback_service(api)
}

async fn style() -> Response {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], STYLE).into_response()
}

async fn guard(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    for (name, value) in HEADERS {
        let value = HeaderValue::from_static(value);
        response.headers_mut().insert(name, value);
    }
    response
}
