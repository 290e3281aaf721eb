//! Requests to services that strangers name, whose answers count whatever their status is.
use super::{
    FetchError, FetchOptions,
    http::{check, failure, follow, inflate},
};
use alloy::transports::http::reqwest::{
    Client, Method as HttpMethod, RequestBuilder, Response, Url,
    header::{ACCEPT_ENCODING, CONTENT_ENCODING, HeaderMap, LOCATION},
};

/// What a request does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Reads. Redirects are followed, each one checked like the first URL.
    #[default]
    Get,
    /// Sends a body. Redirects are answers like any other.
    Post,
    /// Ends a session. As [`Self::Post`].
    Delete,
}

/// A request to a stranger's service.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// What it does.
    pub method: Method,
    /// An `https:` URL, or an `http:` one if that is allowed.
    pub url: &'a str,
    /// Names and values.
    pub headers: &'a [(&'a str, &'a str)],
    /// What is sent; nothing if it is empty.
    pub body: &'a [u8],
    /// Bytes of the answer's body, decompressed. A longer answer is [`FetchError::TooLong`]. With 0 the body is
    /// not read.
    pub answer_max: usize,
    /// Whether the bytes that have come are all that is needed. Some answers never end.
    pub is_enough: fn(&[u8]) -> bool,
}

/// What a stranger's service answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, as far as it was asked for.
    pub body: Vec<u8>,
}

impl<'a> Question<'a> {
    /// Reads a URL's status and headers.
    #[must_use]
    pub const fn get(url: &'a str) -> Self {
        Self {
            method: Method::Get,
            url,
            headers: &[],
            body: &[],
            answer_max: 0,
            is_enough: never,
        }
    }
}

const fn never(_: &[u8]) -> bool {
    false
}

pub(super) async fn ask(
    client: &Client,
    options: &FetchOptions,
    question: &Question<'_>,
) -> Result<Answer, FetchError> {
    let mut url: Url = question.url.parse().map_err(|_| FetchError::UrlMalformed)?;
    check(&url, options)?;
    for _ in 0..=options.redirects {
        let sent = request(client, &url, question).send().await;
        let response = sent.map_err(|error| failure(&url, &error))?;
        match redirect(&response, &url, options, question.method)? {
            Some(next) => url = next,
            None => return read(response, &url, question).await,
        }
    }
    let limit = options.redirects;
    Err(FetchError::Redirects { limit })
}

fn request(client: &Client, url: &Url, question: &Question<'_>) -> RequestBuilder {
    let method = match question.method {
        Method::Get => HttpMethod::GET,
        Method::Post => HttpMethod::POST,
        Method::Delete => HttpMethod::DELETE,
    };
    let mut request = client.request(method, url.clone());
    request = request.header(ACCEPT_ENCODING, "identity");
    for (name, value) in question.headers {
        request = request.header(*name, *value);
    }
    if question.body.is_empty() {
        request
    } else {
        request.body(question.body.to_vec())
    }
}

/// Where a redirect leads, checked; `None` if the answer is none, or is not followed.
fn redirect(
    response: &Response,
    url: &Url,
    options: &FetchOptions,
    method: Method,
) -> Result<Option<Url>, FetchError> {
    let is_redirect = matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308);
    let location = response.headers().get(LOCATION);
    match (method, location) {
        (Method::Get, Some(_)) if is_redirect => follow(location, url, options).map(Some),
        _ => Ok(None),
    }
}

async fn read(
    mut response: Response,
    url: &Url,
    question: &Question<'_>,
) -> Result<Answer, FetchError> {
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let limit = question.answer_max;
    let mut body = Vec::new();
    if limit > 0 {
        while let Some(chunk) = next_chunk(&mut response, url).await? {
            if body.len() + chunk.len() > limit {
                return Err(FetchError::TooLong { limit });
            }
            body.extend(chunk);
            if (question.is_enough)(&body) {
                break;
            }
        }
        body = decoded(body, &headers, limit)?;
    }
    Ok(Answer {
        status,
        headers,
        body,
    })
}

async fn next_chunk(response: &mut Response, url: &Url) -> Result<Option<Vec<u8>>, FetchError> {
    let chunk = response.chunk().await;
    let chunk = chunk.map_err(|error| failure(url, &error))?;
    Ok(chunk.map(|it| it.to_vec()))
}

/// Some hosts compress although they were asked not to.
fn decoded(body: Vec<u8>, headers: &HeaderMap, limit: usize) -> Result<Vec<u8>, FetchError> {
    let encoding = headers.get(CONTENT_ENCODING);
    let encoding = encoding.map(|it| String::from_utf8_lossy(it.as_bytes()).to_ascii_lowercase());
    match encoding.as_deref() {
        None | Some("identity" | "") => Ok(body),
        Some("gzip" | "x-gzip") => inflate(&body, limit),
        Some(found) => Err(FetchError::Encoding {
            found: found.chars().take(16).collect(),
        }),
    }
}
