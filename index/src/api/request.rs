//! Reads requests: paths, queries of URLs and bodies of JSON, with limits. A member that is not known is
//! named, and never ignored.
use super::{
    ApiError, Limits,
    names::excerpt,
    strict::{self, StrictError},
};
use crate::query::Threshold;
use axum::{
    body::{Body, to_bytes},
    extract::{FromRequestParts, Query},
    http::{Uri, request::Parts},
};
use serde::{Deserialize, Deserializer, de::DeserializeOwned, de::Error as _};
use serde_json::Value;

/// The parts of a path that a route names. axum's own extractor answers a malformed one with plain text.
pub(super) struct Path<T>(pub T);

impl<T, S> FromRequestParts<S> for Path<T>
where
    T: DeserializeOwned + Send,
    S: Send + Sync,
{
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let path = axum::extract::Path::from_request_parts(parts, state).await;
        let path = path.map_err(|error| ApiError::malformed("the path", error.body_text()))?;
        Ok(Self(path.0))
    }
}

/// Reads a body of JSON.
pub(super) async fn body(body: Body, limits: &Limits) -> Result<Value, ApiError> {
    let limit = limits.body;
    let bytes = to_bytes(body, limit).await;
    let bytes = bytes.map_err(|_| ApiError::TooLong { limit })?;
    if bytes.is_empty() {
        return Ok(Value::Object(serde_json::Map::new()));
    }
    let text = str::from_utf8(&bytes).map_err(|error| ApiError::malformed("the body", error))?;
    strict::read(text).map_err(|StrictError { path, reason }| {
        if path.is_empty() {
            ApiError::malformed("the body", reason)
        } else {
            ApiError::malformed(path, reason)
        }
    })
}

/// Refuses members of an object that are not among these.
pub(super) fn require_known(value: &Value, path: &str, known: &[&str]) -> Result<(), ApiError> {
    let Value::Object(members) = value else {
        return Err(ApiError::malformed(path, "expected an object"));
    };
    match members.keys().find(|key| !known.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => Err(ApiError::UnknownField {
            name: joined(path, key),
            known: known.join(", "),
        }),
    }
}

fn joined(path: &str, key: &str) -> String {
    match path {
        "the body" => excerpt(key),
        path => format!("{path}.{}", excerpt(key)),
    }
}

/// Reads a value whose members are known. A fault is named by its path.
pub(super) fn typed<T: DeserializeOwned>(value: &Value, path: &str) -> Result<T, ApiError> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let at = error.path().to_string();
        let name = match at.as_str() {
            "." => path.to_owned(),
            at => joined(path, at),
        };
        ApiError::malformed(name, excerpt(&error.into_inner().to_string()))
    })
}

/// The pairs of a URL's query. Each name must be known, and come once.
pub(super) fn pairs(uri: &Uri, known: &[&str]) -> Result<Vec<(String, String)>, ApiError> {
    let Query(pairs) = Query::<Vec<(String, String)>>::try_from_uri(uri)
        .map_err(|error| ApiError::malformed("the query", error))?;
    for (at, (name, _)) in pairs.iter().enumerate() {
        if !known.contains(&name.as_str()) {
            return Err(ApiError::UnknownField {
                name: excerpt(name),
                known: known.join(", "),
            });
        }
        if pairs[..at].iter().any(|(before, _)| before == name) {
            return Err(ApiError::malformed(name, "is given twice"));
        }
    }
    Ok(pairs)
}

/// A value of a query.
pub(super) fn value_of<'a>(pairs: &'a [(String, String)], name: &str) -> Option<&'a str> {
    let found = pairs.iter().find(|(key, _)| key == name);
    found.map(|(_, value)| value.as_str())
}

/// How many rows a page has.
pub(super) fn page_size(asked: Option<u64>, limits: &Limits) -> Result<usize, ApiError> {
    let limit = limits.page;
    match asked {
        None => Ok(limit.min(50)),
        Some(asked) => usize::try_from(asked)
            .ok()
            .filter(|asked| (1..=limit).contains(asked))
            .ok_or_else(|| {
                ApiError::malformed("pageSize", format!("{asked} is not in 1..={limit}"))
            }),
    }
}

/// Refuses lists that are too long.
pub(super) fn require_short<T>(field: &str, list: &[T], limits: &Limits) -> Result<(), ApiError> {
    require_within(limits.list, field, list)
}

/// Refuses lists with more entries than the limit.
pub(super) fn require_within<T>(limit: usize, field: &str, list: &[T]) -> Result<(), ApiError> {
    let length = list.len();
    if length <= limit {
        Ok(())
    } else {
        let reason = format!("has {length} entries, the limit is {limit}");
        Err(ApiError::malformed(field, reason))
    }
}

/// A bound: a number, or its text if JSON's numbers are not exact enough.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bound(pub Threshold);

impl<'de> Deserialize<'de> for Bound {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = match Value::deserialize(from)? {
            Value::String(text) => text,
            Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
                Some(double) => double.to_string(), // without an exponent
                None => number.to_string(),
            },
            other => return Err(D::Error::custom(format!("{other} is not a number"))),
        };
        let bound = text.parse().map(Bound);
        bound.map_err(|error| D::Error::custom(format!("{} {error}", excerpt(&text))))
    }
}

/// A chain: a CAIP-2 id, or the number of an EVM chain; or CAIP-2:registry.
#[derive(Debug, Clone)]
pub(super) struct Chain(pub String);

impl<'de> Deserialize<'de> for Chain {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match Value::deserialize(from)? {
            Value::String(text) => Ok(Self(text)),
            Value::Number(number) if number.is_u64() => Ok(Self(number.to_string())),
            other => Err(D::Error::custom(format!("{other} is not a chain"))),
        }
    }
}

/// R48: reviewers are listed, or everyone is asked for.
#[derive(Debug, Clone)]
pub(super) enum ReviewerList {
    Listed(Vec<String>),
    Everyone,
}

impl<'de> Deserialize<'de> for ReviewerList {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match Value::deserialize(from)? {
            Value::String(text) if text == "everyone" => Ok(Self::Everyone),
            Value::Array(list) if list.is_empty() => Err(D::Error::custom(
                "no reviewer is listed: name some, or \"everyone\"",
            )),
            Value::Array(list) => {
                let texts = list.into_iter().map(|it| match it {
                    Value::String(text) => Ok(text),
                    other => Err(D::Error::custom(format!("{other} is not an address"))),
                });
                texts.collect::<Result<_, _>>().map(Self::Listed)
            }
            _ => Err(D::Error::custom(
                "expected a list of addresses, or \"everyone\"",
            )),
        }
    }
}

/// A number of a query.
pub(super) fn number(pairs: &[(String, String)], name: &str) -> Result<Option<u64>, ApiError> {
    let Some(text) = value_of(pairs, name) else {
        return Ok(None);
    };
    let number = text.parse().map(Some);
    number.map_err(|_| ApiError::malformed(name, format!("{:?} is not a number", excerpt(text))))
}

/// A truth value of a query.
pub(super) fn truth(pairs: &[(String, String)], name: &str) -> Result<Option<bool>, ApiError> {
    match value_of(pairs, name) {
        None => Ok(None),
        Some("true") => Ok(Some(true)),
        Some("false") => Ok(Some(false)),
        Some(text) => {
            let expected = format!("{:?}: expected true or false", excerpt(text));
            Err(ApiError::malformed(name, expected))
        }
    }
}
