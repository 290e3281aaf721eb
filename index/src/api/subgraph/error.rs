use crate::{StoreError, api::ApiError};
use async_graphql_parser::Pos;
use axum::{
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};

/// Why a query is not answered.
#[derive(Debug)]
pub enum QueryError {
    /// The query is wrong. GraphQL answers it with status 200.
    Query {
        /// What, with the name, the value and the limit.
        message: String,
        /// Where, if it is known.
        at: Option<Pos>,
    },
    /// Anything else, as the rest of the API has it.
    Api(ApiError),
}

impl From<ApiError> for QueryError {
    fn from(error: ApiError) -> Self {
        Self::Api(error)
    }
}

impl From<StoreError> for QueryError {
    fn from(error: StoreError) -> Self {
        Self::Api(error.into())
    }
}

impl QueryError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self::Query {
            message: message.into(),
            at: None,
        }
    }

    pub(super) fn at(message: impl Into<String>, at: Pos) -> Self {
        Self::Query {
            message: message.into(),
            at: Some(at),
        }
    }

    /// agent0's SDKs look for these words.
    pub(super) fn no_field(of: &str, field: &str) -> Self {
        let field = crate::api::names::excerpt(field);
        Self::new(format!("Type `{of}` has no field `{field}`"))
    }

    /// The same error with a place, if it has none yet.
    pub(super) fn or_at(self, place: Pos) -> Self {
        match self {
            Self::Query { message, at: None } => Self::at(message, place),
            other => other,
        }
    }
}

impl IntoResponse for QueryError {
    fn into_response(self) -> Response {
        let (status, message, at) = match self {
            Self::Query { message, at } => (StatusCode::OK, message, at),
            Self::Api(error) => {
                let status = error.kind().0;
                if status != StatusCode::BAD_REQUEST {
                    // It may be logged, and has headers of its own.
                    let (mut parts, _) = error.into_response().into_parts();
                    parts.headers.remove(axum::http::header::CONTENT_LENGTH);
                    let words = status.canonical_reason().unwrap_or("error");
                    return Response::from_parts(parts, body(words, None).to_string().into());
                }
                (status, error.to_string(), None)
            }
        };
        (status, crate::api::Json::of(&body(&message, at))).into_response()
    }
}

fn body(message: &str, at: Option<Pos>) -> Value {
    let mut error = json!({ "message": message });
    if let Some(at) = at {
        error["locations"] = json!([{ "line": at.line, "column": at.column }]);
    }
    json!({ "errors": [error] })
}
