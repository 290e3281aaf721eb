//! JSON-RPC over HTTP, as alloy has it, with a limit on the time and the length of an answer.
use super::Redaction;
use alloy::{
    rpc::json_rpc::{ErrorPayload, RequestPacket, ResponsePacket},
    transports::{
        TransportError, TransportErrorKind, TransportFut,
        http::reqwest::{Client, Response, Url, header::RETRY_AFTER},
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
/// No endpoint makes us wait longer.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(60);

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
    /// A JSON-RPC error that asks for patience.
    #[error("{0}")]
    Limited(String),
    #[error("an answer is longer than {ANSWER_MAX} bytes")]
    TooLong,
    #[error("the answer is not of the form that JSON-RPC has for it")]
    Malformed,
}

impl Failure {
    const fn is_limit(&self) -> bool {
        matches!(self, Self::Limited(_) | Self::Status { status: 429, .. })
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
        failure(error).is_some_and(|it| !it.is_limit() && !matches!(it, Failure::TooLong))
    }

    fn backoff_hint(&self, _error: &TransportError) -> Option<Duration> {
        None
    }
}

/// Repeats what the endpoint has no time for.
#[derive(Clone, Copy, Debug)]
pub(super) struct RetryLimited;

impl RetryPolicy for RetryLimited {
    fn should_retry(&self, error: &TransportError) -> bool {
        failure(error).is_some_and(Failure::is_limit)
    }

    fn backoff_hint(&self, error: &TransportError) -> Option<Duration> {
        match failure(error)? {
            Failure::Status { retry_after, .. } => (*retry_after).map(|it| it.min(RETRY_AFTER_MAX)),
            _ => None,
        }
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
    pub fn new(url: Url, timeout: Duration, redaction: Redaction) -> Self {
        Self {
            client: Client::new(),
            url,
            timeout,
            redaction,
        }
    }

    async fn answer(self, packet: RequestPacket) -> Result<ResponsePacket, TransportError> {
        let limit = self.timeout;
        let redaction = self.redaction.clone();
        let answer = tokio::time::timeout(limit, self.post(packet)).await;
        let answer = answer.map_err(|_| Failure::TimedOut(limit))??;
        match limited(&answer) {
            Some(no) => Err(Failure::Limited(redaction.clean(&no.message)).into()),
            None => Ok(answer),
        }
    }

    async fn post(self, packet: RequestPacket) -> Result<ResponsePacket, Failure> {
        let request = self.client.post(self.url).headers(packet.headers());
        let sent = request.json(&packet).send().await;
        let response = sent.map_err(|_| Failure::Broken)?;
        let status = response.status();
        let retry_after = retry_after(&response);
        let body = body(response).await?;
        let answer = serde_json::from_slice::<ResponsePacket>(&body);
        match answer {
            // in the chain's own words, whatever the status
            Ok(answer) if status.is_success() || answer.is_error() => Ok(answer),
            Err(_) if status.is_success() => Err(Failure::Malformed),
            _ => Err(Failure::Status {
                status: status.as_u16(),
                retry_after,
            }),
        }
    }
}

fn limited(answer: &ResponsePacket) -> Option<&ErrorPayload> {
    answer.iter_errors().find(|no| no.is_retry_err())
}

fn retry_after(response: &Response) -> Option<Duration> {
    let value = response.headers().get(RETRY_AFTER)?.to_str().ok()?;
    value.trim().parse().ok().map(Duration::from_secs)
}

async fn body(mut response: Response) -> Result<Vec<u8>, Failure> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|_| Failure::Broken)? {
        if body.len() + chunk.len() > ANSWER_MAX {
            return Err(Failure::TooLong);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
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
