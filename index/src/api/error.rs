use crate::StoreError;
use axum::{
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};
use std::time::Duration;

/// Why a request is not answered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApiError {
    /// A member that the API does not have. It is never ignored: the answer would be another one.
    #[error("{name} is not known; known are {known}")]
    UnknownField {
        /// The member's path, such as `filters.feedback.minStars`.
        name: String,
        /// What it could be.
        known: String,
    },
    /// A filter of BP's or agent0's on something that is not indexed.
    #[error("{name} is about something that this server does not index")]
    Unavailable {
        /// The filter.
        name: String,
    },
    /// A member that is not of its form.
    #[error("{name}: {reason}")]
    Malformed {
        /// The member.
        name: String,
        /// What is wrong, with the value and the limit.
        reason: String,
    },
    /// Something that is not there.
    #[error("{what} is not indexed here")]
    NotFound {
        /// What.
        what: String,
    },
    /// A body that is too long.
    #[error("the body is longer than {limit} bytes")]
    TooLong {
        /// In bytes.
        limit: usize,
    },
    /// A method that a path does not have.
    #[error("{path} does not take {method}")]
    Method {
        /// The path.
        path: String,
        /// The method.
        method: String,
    },
    /// A query that takes too long.
    #[error("the query took longer than {0:?}; ask for less")]
    TimedOut(Duration),
    /// Too many queries at once.
    #[error("too many queries at once; ask again in a second")]
    Busy,
    /// The store cannot be read. Its words are for the operator only.
    #[error("the store cannot be read")]
    Store(#[source] StoreError),
    /// A defect of this program.
    #[error("the query ended unexpectedly")]
    Defect,
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl ApiError {
    /// A member that is not of its form.
    pub(super) fn malformed(name: impl Into<String>, reason: impl ToString) -> Self {
        Self::Malformed {
            name: name.into(),
            reason: reason.to_string(),
        }
    }

    /// Returns the status and the stable name of the kind of error.
    #[must_use]
    pub const fn kind(&self) -> (StatusCode, &'static str) {
        match self {
            Self::UnknownField { .. } => (StatusCode::BAD_REQUEST, "unknown_field"),
            Self::Unavailable { .. } => (StatusCode::NOT_IMPLEMENTED, "unavailable_filter"),
            Self::Malformed { .. } => (StatusCode::BAD_REQUEST, "malformed"),
            Self::NotFound { .. } => (StatusCode::NOT_FOUND, "not_found"),
            Self::TooLong { .. } => (StatusCode::PAYLOAD_TOO_LARGE, "too_long"),
            Self::Method { .. } => (StatusCode::METHOD_NOT_ALLOWED, "method"),
            Self::TimedOut(_) => (StatusCode::SERVICE_UNAVAILABLE, "timed_out"),
            Self::Busy => (StatusCode::SERVICE_UNAVAILABLE, "busy"),
            Self::Store(_) => (StatusCode::INTERNAL_SERVER_ERROR, "store"),
            Self::Defect => (StatusCode::INTERNAL_SERVER_ERROR, "defect"),
        }
    }

    fn field(&self) -> Option<&str> {
        match self {
            Self::UnknownField { name, .. }
            | Self::Unavailable { name }
            | Self::Malformed { name, .. } => Some(name),
            _ => None,
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        if let Self::Store(error) = &self {
            eprintln!("concord: {error}");
        }
        let (status, code) = self.kind();
        let body = json!({ "error": {
            "code": code,
            "message": self.to_string(),
            "field": self.field(),
        }});
        let mut response = (status, Json::of(&body)).into_response();
        if status == StatusCode::SERVICE_UNAVAILABLE {
            let seconds = axum::http::HeaderValue::from_static("1");
            response.headers_mut().insert(header::RETRY_AFTER, seconds);
        }
        response
    }
}

/// A JSON answer, as it is sent.
#[derive(Debug, Clone)]
pub(super) struct Json(Vec<u8>);

impl Json {
    pub fn of(answer: &Value) -> Self {
        // which fails for keys that are not texts, and a Value has none
        Self(serde_json::to_vec(answer).unwrap_or_default())
    }

    pub const fn of_text(text: Vec<u8>) -> Self {
        Self(text)
    }
}

impl IntoResponse for Json {
    fn into_response(self) -> Response {
        let kind = [(header::CONTENT_TYPE, "application/json; charset=utf-8")];
        (kind, self.0).into_response()
    }
}
