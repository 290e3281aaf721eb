//! Files behind `https:` and `http:`.
use super::{FetchError, FetchOptions, Fetched, resolver::require_public};
use crate::bounded_body::{self, BodyFault};
use alloy::transports::http::reqwest::{
    Client, Error, Response, Url,
    header::{ACCEPT_ENCODING, CONTENT_ENCODING, HeaderValue, LOCATION},
};
use flate2::read::MultiGzDecoder;
use std::{error::Error as _, io::Read, net::IpAddr};

/// Fetches a URL, and follows its redirects. Each URL is checked like the first, and `may_ask` is asked for its host.
pub(super) async fn fetch(
    client: &Client,
    options: &FetchOptions,
    url: &str,
    may_ask: impl Fn(&str) -> bool,
) -> Result<Fetched, FetchError> {
    let mut url: Url = url.parse().map_err(|_| FetchError::UrlMalformed)?;
    check(&url, options)?;
    for _ in 0..=options.redirects {
        let host = host(&url);
        if !may_ask(&host) {
            return Err(FetchError::AskedEnough { host });
        }
        let request = client.get(url.clone()).header(ACCEPT_ENCODING, "gzip");
        let response = request
            .send()
            .await
            .map_err(|error| failure(&url, &error))?;
        match location(&response, &url, options)? {
            Some(next) => url = next,
            None => {
                return Ok(Fetched {
                    bytes: content(response, &url, options.size_max).await?,
                    host: url.host_str().map(str::to_owned),
                    blocks: Vec::new(),
                });
            }
        }
    }
    let limit = options.redirects;
    Err(FetchError::Redirects { limit })
}

pub(super) fn host(url: &Url) -> String {
    url.host_str().unwrap_or_default().to_owned()
}

pub(super) fn check(url: &Url, options: &FetchOptions) -> Result<(), FetchError> {
    if url.scheme() != "https" && !(url.scheme() == "http" && options.allow_http) {
        let found = url.scheme().chars().take(16).collect();
        return Err(FetchError::Scheme { found });
    }
    let host = host(url);
    if !url.username().is_empty() || url.password().is_some() {
        return Err(FetchError::UserInfo { host });
    }
    // an address in the URL is not looked up
    let address = host.trim_start_matches('[').trim_end_matches(']');
    match address.parse::<IpAddr>() {
        Ok(address) => require_public(&host, address, options.allow_private),
        Err(_) => Ok(()),
    }
}

/// Where a redirect leads, checked; `None` if the answer is none.
fn location(
    response: &Response,
    url: &Url,
    options: &FetchOptions,
) -> Result<Option<Url>, FetchError> {
    let status = response.status();
    match status.as_u16() {
        200 => Ok(None),
        301 | 302 | 303 | 307 | 308 => {
            let location = response.headers().get(LOCATION);
            follow(location, url, options).map(Some)
        }
        status => Err(FetchError::Status {
            host: host(url),
            status,
        }),
    }
}

/// Where a redirect leads, checked. One to what is not fetched is the host's fault, and not that of the first URL.
pub(super) fn follow(
    location: Option<&HeaderValue>,
    url: &Url,
    options: &FetchOptions,
) -> Result<Url, FetchError> {
    let refused = || FetchError::RedirectRefused { host: host(url) };
    let location = location.and_then(|it| it.to_str().ok());
    let next = location.and_then(|it| url.join(it).ok());
    let next = next.ok_or_else(refused)?;
    match check(&next, options) {
        Ok(()) => Ok(next),
        Err(error @ FetchError::PrivateAddress { .. }) => Err(error),
        Err(_) => Err(refused()),
    }
}

/// The resolver's refusal is in the source of the library's error.
pub(super) fn failure(url: &Url, error: &Error) -> FetchError {
    let mut source = error.source();
    while let Some(error) = source {
        if let Some(refusal) = error.downcast_ref::<FetchError>() {
            return refusal.clone();
        }
        source = error.source();
    }
    FetchError::Broken { host: host(url) }
}

/// The body, decompressed. Neither form may exceed the limit.
async fn content(response: Response, url: &Url, limit: usize) -> Result<Vec<u8>, FetchError> {
    let encoding = response.headers().get(CONTENT_ENCODING);
    let encoding = encoding.map(|it| String::from_utf8_lossy(it.as_bytes()).to_ascii_lowercase());
    let raw = body(response, url, limit).await?;
    match encoding.as_deref() {
        None | Some("identity" | "") => Ok(raw),
        Some("gzip" | "x-gzip") => inflate(&raw, limit),
        Some(found) => Err(FetchError::Encoding {
            found: found.chars().take(16).collect(),
        }),
    }
}

/// Reads a body, but no further than the limit.
pub(super) async fn body(
    response: Response,
    url: &Url,
    limit: usize,
) -> Result<Vec<u8>, FetchError> {
    let body = bounded_body::read(response, limit).await;
    body.map_err(|fault| match fault {
        BodyFault::Broken(error) => failure(url, &error),
        BodyFault::TooLong => FetchError::TooLong { limit },
    })
}

/// Stops one byte beyond the limit, however much the content would inflate to.
pub(super) fn inflate(raw: &[u8], limit: usize) -> Result<Vec<u8>, FetchError> {
    let mut content = Vec::new();
    let mut decoder = MultiGzDecoder::new(raw).take(limit as u64 + 1);
    decoder
        .read_to_end(&mut content)
        .map_err(|_| FetchError::Gzip)?;
    if content.len() <= limit {
        Ok(content)
    } else {
        Err(FetchError::TooLong { limit })
    }
}
