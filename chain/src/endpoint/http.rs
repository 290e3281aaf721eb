//! JSON-RPC over HTTP, as alloy has it, with a limit on the time and the length of an answer.
use super::{Redaction, retry_after::retry_after};
use crate::bounded_body::{self, BodyFault};
use alloy::{
    rpc::json_rpc::{ErrorPayload, RequestPacket, ResponsePacket},
    transports::{
        TransportError, TransportErrorKind, TransportFut,
        http::reqwest::{Client, StatusCode, Url, redirect::Policy},
        layers::RetryPolicy,
    },
};
use std::{
    task::{Context, Poll},
    time::Duration,
};
use tower_service::Service;

/// In bytes. The longest answers are a program's account and a page of accounts: some megabytes.
const ANSWER_MAX: usize = 64 << 20;
/// Solana's nodes that lag have the code of other chains' rate limits (-32005), and these words.
const LAGS: &str = "node is ";
/// A node behind a load balancer that lags.
const NO_HEADER: &str = "header not found";

/// Why a request has no answer, in words without the URL.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error("there is no connection, or it broke")]
    Broken,
    #[error("no answer within {0:?}")]
    TimedOut(Duration),
    #[error("HTTP status {status}")]
    Status {
        status: u16,
        retry_after: Option<Duration>,
    },
    /// The endpoint takes no more requests for now: HTTP status 429 whatever the body says, or a
    /// JSON-RPC error that says so.
    #[error("{reason}")]
    Limited {
        reason: String,
        retry_after: Option<Duration>,
    },
    /// A JSON-RPC error of a node that lags behind.
    #[error("{0}")]
    Lagging(String),
    #[error("an answer is longer than {ANSWER_MAX} bytes")]
    TooLong,
    #[error("the answer is not of the form that JSON-RPC has for it")]
    Malformed,
}

impl Failure {
    const fn asks_for_patience(&self) -> bool {
        matches!(self, Self::Limited { .. } | Self::Lagging(_))
    }

    const fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Limited { retry_after, .. } | Self::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}

/// The endpoint has refused a request because it had too many.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestLimit {
    pub retry_after: Option<Duration>,
}

/// Returns the limit that the error reports.
pub(super) fn limit(error: &TransportError) -> Option<RequestLimit> {
    match failure(error)? {
        Failure::Limited { retry_after, .. } => Some(RequestLimit {
            retry_after: *retry_after,
        }),
        _ => None,
    }
}

impl From<Failure> for TransportError {
    fn from(failure: Failure) -> Self {
        TransportErrorKind::custom(failure)
    }
}

fn failure(error: &TransportError) -> Option<&Failure> {
    match error {
        TransportError::Transport(TransportErrorKind::Custom(error)) => error.downcast_ref(),
        _ => None,
    }
}

/// Repeats what a broken connection or a confused gateway may have caused.
#[derive(Clone, Copy, Debug)]
pub(super) struct RetryBroken;

impl RetryPolicy for RetryBroken {
    fn should_retry(&self, error: &TransportError) -> bool {
        let repeats = |it: &Failure| !it.asks_for_patience() && !matches!(it, Failure::TooLong);
        failure(error).is_some_and(repeats)
    }

    fn backoff_hint(&self, error: &TransportError) -> Option<Duration> {
        failure(error)?.retry_after()
    }
}

/// Repeats what the endpoint has no time for.
#[derive(Clone, Copy, Debug)]
pub(super) struct RetryLimited;

impl RetryPolicy for RetryLimited {
    fn should_retry(&self, error: &TransportError) -> bool {
        failure(error).is_some_and(Failure::asks_for_patience)
    }

    fn backoff_hint(&self, error: &TransportError) -> Option<Duration> {
        failure(error)?.retry_after()
    }
}

#[derive(Clone, Debug)]
pub(super) struct Http {
    client: Client,
    url: Url,
    timeout: Duration,
    redaction: Redaction,
}

impl Http {
    pub(crate) fn new(url: Url, timeout: Duration, redaction: Redaction) -> Self {
        // A redirect would send the URL to another host in `Referer`, and ask that host instead of the configured one.
        let client = Client::builder().redirect(Policy::none()).referer(false);
        Self {
            client: client.build().expect("a TLS backend is compiled in"),
            url,
            timeout,
            redaction,
        }
    }

    async fn answer(self, packet: RequestPacket) -> Result<ResponsePacket, TransportError> {
        let limit = self.timeout;
        let answer = tokio::time::timeout(limit, self.post(packet)).await;
        let answer = answer.map_err(|_| Failure::TimedOut(limit))?;
        Ok(answer?)
    }

    async fn post(self, packet: RequestPacket) -> Result<ResponsePacket, Failure> {
        let request = self.client.post(self.url).headers(packet.headers());
        let sent = request.json(&packet).send().await;
        let response = sent.map_err(|_| Failure::Broken)?;
        let status = response.status();
        let retry_after = retry_after(response.headers());
        let body = bounded_body::read(response, ANSWER_MAX).await?;
        let answer = serde_json::from_slice::<ResponsePacket>(&body).ok();
        let patience = patience(status, answer.as_ref(), retry_after, &self.redaction);
        match (patience, answer) {
            (Some(patience), _) => Err(patience),
            // in the chain's own words, whatever the status
            (None, Some(answer)) if status.is_success() || answer.is_error() => Ok(answer),
            (None, None) if status.is_success() => Err(Failure::Malformed),
            _ => Err(Failure::Status {
                status: status.as_u16(),
                retry_after,
            }),
        }
    }
}

/// Why the endpoint wants us to wait, if it does, in its own words.
fn patience(
    status: StatusCode,
    answer: Option<&ResponsePacket>,
    retry_after: Option<Duration>,
    redaction: &Redaction,
) -> Option<Failure> {
    let mut errors = answer.into_iter().flat_map(ResponsePacket::iter_errors);
    if status == StatusCode::TOO_MANY_REQUESTS {
        let words = errors.next().map(|no| redaction.clean(&no.message));
        let words = words.map_or_else(String::new, |words| format!(": {words}"));
        let reason = format!("HTTP status {}{words}", status.as_u16());
        return Some(Failure::Limited {
            reason,
            retry_after,
        });
    }
    let no = errors.find(|no| asks_for_patience(no))?;
    let reason = redaction.clean(&no.message);
    let lower = no.message.to_ascii_lowercase();
    Some(if lower.starts_with(LAGS) || lower == NO_HEADER {
        Failure::Lagging(reason)
    } else {
        Failure::Limited {
            reason,
            retry_after,
        }
    })
}

/// Alloy compares lower case.
fn asks_for_patience(no: &ErrorPayload) -> bool {
    let lower = ErrorPayload::<()> {
        code: no.code,
        message: no.message.to_ascii_lowercase().into(),
        data: None,
    };
    lower.is_retry_err()
}

impl From<BodyFault> for Failure {
    fn from(fault: BodyFault) -> Self {
        match fault {
            BodyFault::Broken(_) => Self::Broken,
            BodyFault::TooLong => Self::TooLong,
        }
    }
}

impl Service<RequestPacket> for Http {
    type Response = ResponsePacket;
    type Error = TransportError;
    type Future = TransportFut<'static>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, packet: RequestPacket) -> Self::Future {
        Box::pin(self.clone().answer(packet))
    }
}
