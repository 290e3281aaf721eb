use std::time::Duration;

use alloy::transports::http::reqwest::{self, Client, Url, redirect::Policy, retry};
use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, HeaderValue, Method, StatusCode,
    header::{ACCEPT_ENCODING, CONTENT_LENGTH, HOST, TRANSFER_ENCODING},
};

use super::PayFault;
use crate::{
    quote::Origin,
    wire::{PAYMENT_SIGNATURE, X_PAYMENT},
};

/// Headers that only the buyer sets.
const OWN: [HeaderName; 4] = [ACCEPT_ENCODING, CONTENT_LENGTH, HOST, TRANSFER_ENCODING];

/// A request that cannot be made: which part, what was found, and what was expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the request's {part} {reason}")]
pub struct RequestMalformed {
    part: String,
    reason: &'static str,
}

/// A request whose answer may have to be paid.
#[derive(Clone, Debug)]
pub struct Request {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

impl Request {
    /// Takes a request.
    ///
    /// # Errors
    /// [`RequestMalformed`] for a URL that is not `http:` or `https:` or has user info, and for a header that
    /// the buyer sets.
    pub fn new(
        method: Method,
        url: &str,
        headers: HeaderMap,
        body: impl Into<Bytes>,
    ) -> Result<Self, RequestMalformed> {
        let refused = |reason| RequestMalformed {
            part: "URL".to_owned(),
            reason,
        };
        let reason = "is not an http or https URL without user info";
        let mut url: Url = url.parse().map_err(|_| refused(reason))?;
        url.set_fragment(None);
        Origin::of(url.as_str()).ok_or_else(|| refused(reason))?;
        let is_own = |name: &&HeaderName| {
            OWN.contains(name)
                || name.as_str().eq_ignore_ascii_case(PAYMENT_SIGNATURE)
                || name.as_str().eq_ignore_ascii_case(X_PAYMENT)
        };
        if let Some(name) = headers.keys().find(is_own) {
            return Err(RequestMalformed {
                part: format!("header {name}"),
                reason: "is set by the buyer",
            });
        }
        Ok(Self {
            method,
            url,
            headers,
            body: body.into(),
        })
    }

    /// Path and query, as they are sent (R33).
    pub(super) fn target(&self) -> String {
        match self.url.query() {
            Some(query) => format!("{}?{query}", self.url.path()),
            None => self.url.path().to_owned(),
        }
    }

    /// Host and port: all of a URL that errors show.
    pub(super) fn host(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        match self.url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        }
    }
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Response {
    /// Its status. Redirects are not followed.
    pub status: StatusCode,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body, up to the limit.
    pub body: Bytes,
    /// Whether all of the body arrived.
    pub is_complete: bool,
}

/// How long an answer may take, and how long it may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HttpLimits {
    /// From the request to the end of the body.
    pub timeout: Duration,
    /// Bytes of a body.
    pub body_max: usize,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(120),
            body_max: 16 << 20,
        }
    }
}

/// Sends each request once, on a new connection.
#[derive(Clone, Debug)]
pub(super) struct Http {
    client: Client,
    pub(super) limits: HttpLimits,
}

impl Http {
    pub(super) fn new(limits: HttpLimits) -> Result<Self, PayFault> {
        let client = Client::builder()
            .redirect(Policy::none()) // a redirect would take the payment elsewhere
            .retry(retry::never())
            .pool_max_idle_per_host(0) // a connection that was closed meanwhile loses the answer
            .referer(false)
            .no_proxy() // a proxy would see the payment
            .build();
        let client = client.map_err(|_| {
            let reason = "no HTTP client can be made";
            PayFault::Request(RequestMalformed {
                part: "transport".to_owned(),
                reason,
            })
        })?;
        Ok(Self { client, limits })
    }

    /// Sends a request. An answer whose headers arrived is an answer.
    ///
    /// # Errors
    /// [`PayFault::Unreachable`]: nothing has been sent. [`PayFault::NoAnswer`]: it may have been.
    pub(super) async fn send(
        &self,
        request: &Request,
        payment: Option<&HeaderValue>,
    ) -> Result<Response, PayFault> {
        let until = tokio::time::Instant::now() + self.limits.timeout;
        let Request {
            method,
            url,
            headers,
            body,
        } = request;
        let mut sending = self
            .client
            .request(method.clone(), url.clone())
            .headers(headers.clone())
            .header(ACCEPT_ENCODING, "identity"); // the hash covers decoded bytes
        if !body.is_empty() {
            sending = sending.body(body.clone());
        }
        if let Some(payment) = payment {
            let mut payment = payment.clone();
            payment.set_sensitive(true);
            sending = sending.header(PAYMENT_SIGNATURE, payment);
        }
        let host = request.host();
        let answer = match tokio::time::timeout_at(until, sending.send()).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) if error.is_connect() => return Err(PayFault::Unreachable { host }),
            _ => return Err(PayFault::NoAnswer { host }),
        };
        let (status, headers) = (answer.status(), answer.headers().clone());
        let (body, is_complete) = self.body(answer, until).await;
        Ok(Response {
            status,
            headers,
            body,
            is_complete,
        })
    }

    /// What arrives of a body in time and within the limit, and whether that is all of it.
    async fn body(
        &self,
        mut answer: reqwest::Response,
        until: tokio::time::Instant,
    ) -> (Bytes, bool) {
        let mut body = Vec::new();
        loop {
            let chunk = tokio::time::timeout_at(until, answer.chunk()).await;
            match chunk {
                Ok(Ok(Some(chunk))) if body.len() + chunk.len() <= self.limits.body_max => {
                    body.extend_from_slice(&chunk);
                }
                Ok(Ok(None)) => return (body.into(), true),
                _ => return (body.into(), false),
            }
        }
    }
}
