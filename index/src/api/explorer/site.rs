//! Asks the API as a client in the same process: what a page shows, the API has said.
use super::{explain::ExplainPage, page};
use crate::api::ApiError;
use axum::{
    Router,
    body::{Body, to_bytes},
    extract::Request,
    http::{Method, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::Value;
use std::{fmt::Write as _, sync::Arc};
use tower_service::Service;

/// Of an answer.
const BYTES: usize = 64 << 20;

/// The API, and the page that verifies bundles.
#[derive(Clone)]
pub struct Site {
    api: Router,
    explain: Option<Arc<ExplainPage>>,
}

/// What the API refused.
#[derive(Debug)]
pub struct Refusal {
    pub status: StatusCode,
    pub message: String,
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let body = page::whole("Not shown", &page::refused(&self.message));
        (self.status, body).into_response()
    }
}

impl From<ApiError> for Refusal {
    fn from(error: ApiError) -> Self {
        Self {
            status: error.kind().0,
            message: error.to_string(),
        }
    }
}

impl Site {
    pub fn new(api: Router, explain: Option<ExplainPage>) -> Self {
        Self {
            api,
            explain: explain.map(Arc::new),
        }
    }

    /// `None` if this index has none.
    pub fn explain_page(&self) -> Option<Arc<ExplainPage>> {
        self.explain.clone()
    }

    pub async fn get(&self, path: &[&str]) -> Result<Value, Refusal> {
        let path: String = path.iter().map(|it| format!("/{}", encoded(it))).collect();
        self.send(Method::GET, &path, Body::empty()).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Result<Value, Refusal> {
        self.send(Method::POST, path, Body::from(body.to_string()))
            .await
    }

    async fn send(&self, method: Method, path: &str, body: Body) -> Result<Value, Refusal> {
        let defect = |message: String| Refusal {
            status: StatusCode::INTERNAL_SERVER_ERROR,
            message,
        };
        let request = Request::builder().method(method).uri(path);
        let request = request.header(header::CONTENT_TYPE, "application/json");
        let request = request.body(body).map_err(|it| defect(it.to_string()))?;
        let mut api = self.api.clone();
        let Ok(response) = Service::call(&mut api, request).await;
        let status = response.status();
        let bytes = to_bytes(response.into_body(), BYTES).await;
        let bytes = bytes.map_err(|it| defect(it.to_string()))?;
        let answer: Value = serde_json::from_slice(&bytes).map_err(|it| defect(it.to_string()))?;
        match status {
            StatusCode::OK => Ok(answer),
            status => Err(Refusal {
                status,
                message: page::text(&answer["error"], "message"),
            }),
        }
    }
}

/// A part of a path or of a query: everything but RFC 3986's unreserved characters is escaped.
pub fn encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(byte.into());
            }
            // A String takes any text.
            other => drop(write!(encoded, "%{other:02X}")),
        }
    }
    encoded
}
