//! Asks an index's `/v1`.
use super::{AskError, options::Server};
use alloy::transports::http::reqwest::{Client, Method, StatusCode, Url, redirect::Policy};
use concord_chain::Blocking;
use serde_json::Value;
use std::{env, time::Duration};

const VARIABLE: &str = "CONCORD_INDEX_URL";
const DEFAULT: &str = "http://127.0.0.1:8745";
/// A page of feedback has 200 rows of a few kilobytes.
const BYTES: usize = 32 << 20;
const TIME: Duration = Duration::from_secs(30);

/// Asks, and returns the answer's JSON. `path` are the parts of the URL's path.
pub fn ask(server: &Server, path: &[&str], body: Option<&Value>) -> Result<Value, AskError> {
    let from_environment = || env::var(VARIABLE).ok();
    let address = server.index.clone().or_else(from_environment);
    let address = address.unwrap_or_else(|| DEFAULT.to_owned());
    let url = url(&address, path)?;
    let blocking = Blocking::new().map_err(|error| AskError::Silent {
        index: address.clone(),
        reason: error.to_string(),
    })?;
    blocking.wait(send(&url, body))
}

fn url(address: &str, path: &[&str]) -> Result<Url, AskError> {
    let malformed = |reason: &str| AskError::Usage(format!("--index: {reason}"));
    let mut url: Url = (address.parse()).map_err(|_| malformed("expected http:// and a host"))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(malformed("the URL has a user or a password"));
    }
    let mut segments = url
        .path_segments_mut()
        .map_err(|()| malformed("expected http:// and a host"))?;
    segments.pop_if_empty().extend(path);
    drop(segments);
    Ok(url)
}

async fn send(url: &Url, body: Option<&Value>) -> Result<Value, AskError> {
    let index = url.origin().ascii_serialization();
    let silent = |reason: String| AskError::Silent {
        index: index.clone(),
        reason,
    };
    let client = Client::builder().timeout(TIME).redirect(Policy::none());
    let client = client.build().map_err(|error| silent(error.to_string()))?;
    let request = match body {
        None => client.request(Method::GET, url.clone()),
        Some(body) => client
            .request(Method::POST, url.clone())
            .header("content-type", "application/json")
            .body(body.to_string()),
    };
    // The error's own text has the whole URL, which may have what it should not say.
    let sent = request.send().await;
    let mut response = sent.map_err(|error| silent(words(&error.without_url())))?;
    let status = response.status();
    let mut bytes = Vec::new();
    let chunk = |error: alloy::transports::http::reqwest::Error| words(&error.without_url());
    while let Some(part) = response.chunk().await.map_err(|it| silent(chunk(it)))? {
        if bytes.len() + part.len() > BYTES {
            return Err(silent(format!("the answer is longer than {BYTES} bytes")));
        }
        bytes.extend_from_slice(&part);
    }
    let answer: Value = serde_json::from_slice(&bytes)
        .map_err(|_| silent(format!("status {status}, and no JSON: is this an index?")))?;
    match status {
        StatusCode::OK => Ok(answer),
        _ => {
            let message = answer["error"]["message"].as_str().map(str::to_owned);
            let message = message.unwrap_or_else(|| format!("status {status}"));
            Err(match status.as_u16() {
                404 => AskError::NotIndexed(message),
                400..=499 | 501 => AskError::Refused(message),
                _ => silent(message),
            })
        }
    }
}

/// The error's words, and those of its causes.
fn words(error: &dyn std::error::Error) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        words = format!("{words}: {error}");
        cause = error.source();
    }
    words
}
