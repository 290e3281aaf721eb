//! A JSON-RPC endpoint, asked one thing at a time. What fails for a passing reason is asked again.
use crate::{Fault, Redaction, http::AnswerTooLong};
use alloy::{
    rpc::json_rpc::ErrorPayload,
    transports::{RpcError, TransportErrorKind, TransportResult, http::reqwest::Url},
};
use std::{future::IntoFuture, thread, time::Duration};
use tokio::runtime::{Builder, Runtime};

/// What the chain itself says no to, in its own words, but for the endpoint's URL.
pub(crate) type Refusable<T> = Result<T, ErrorPayload>;

/// The pause before the first of them; each of the others is twice as long as the last.
const RETRIES: u32 = 4;
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// A limit on requests is one for some seconds: worth a longer wait.
const RETRIES_WHEN_LIMITED: u32 = 7;

/// Between one question and the same again, where it is worth asking again.
pub(crate) fn pauses() -> impl Iterator<Item = Duration> {
    (0..RETRIES).map(|retry| FIRST_PAUSE * 2u32.pow(retry))
}

pub(crate) struct Endpoint {
    runtime: Runtime,
    redaction: Redaction,
    timeout: Duration,
}

/// Why one request had no answer.
struct Failure {
    reason: String,
    is_limit: bool,
}

impl Endpoint {
    /// No request is made yet.
    ///
    /// # Errors
    /// [`Fault::RpcUrlMalformed`].
    pub fn new(url: &str, timeout: Duration) -> Result<(Self, Url), Fault> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let parsed: Url = url.parse().map_err(|_| Fault::RpcUrlMalformed)?;
        if !matches!(parsed.scheme(), "http" | "https") || !parsed.has_host() {
            return Err(Fault::RpcUrlMalformed);
        }
        let endpoint = Self {
            runtime,
            redaction: Redaction::of(url, &parsed),
            timeout,
        };
        Ok((endpoint, parsed))
    }

    pub fn ask<T, F>(&self, method: &str, request: impl Fn() -> F) -> Result<Refusable<T>, Fault>
    where
        F: IntoFuture<Output = TransportResult<T>>,
    {
        let mut retries = 0;
        loop {
            let failure = match self.ask_once(&request) {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            let most = match failure.is_limit {
                true => RETRIES_WHEN_LIMITED,
                false => RETRIES,
            };
            if retries >= most {
                return Err(self.unreachable(method, failure.reason));
            }
            thread::sleep(FIRST_PAUSE * 2u32.pow(retries));
            retries += 1;
        }
    }

    fn ask_once<T, F>(&self, request: impl Fn() -> F) -> Result<Refusable<T>, Failure>
    where
        F: IntoFuture<Output = TransportResult<T>>,
    {
        let request = request().into_future();
        let limited = async { tokio::time::timeout(self.timeout, request).await };
        match self.runtime.block_on(limited) {
            Ok(Ok(answer)) => Ok(Ok(answer)),
            Ok(Err(RpcError::ErrorResp(mut no))) if !no.is_retry_err() => {
                no.message = self.redaction.clean(&no.message).into();
                Ok(Err(no))
            }
            Ok(Err(fault)) => Err(self.failure(fault)),
            Err(_) => Err(Failure {
                reason: format!("no answer within {} seconds", self.timeout.as_secs()),
                is_limit: false,
            }),
        }
    }

    pub fn unreachable(&self, method: &str, reason: String) -> Fault {
        Fault::Unreachable {
            host: self.host().to_owned(),
            method: method.to_owned(),
            reason,
        }
    }

    /// Without the library's words: they may have the whole URL, which may have a key in it.
    fn failure(&self, fault: RpcError<TransportErrorKind>) -> Failure {
        let (reason, is_limit) = match fault {
            RpcError::ErrorResp(no) => (self.redaction.clean(&no.message), false),
            RpcError::Transport(
                TransportErrorKind::HttpError(fault)
                | TransportErrorKind::HttpErrorWithRetryAfter { error: fault, .. },
            ) => (format!("HTTP status {}", fault.status), fault.status == 429),
            RpcError::Transport(TransportErrorKind::Custom(fault))
                if fault.is::<AnswerTooLong>() =>
            {
                (fault.to_string(), false)
            }
            RpcError::Transport(_) => ("there is no connection, or it broke".to_owned(), false),
            _ => {
                let words = "the answer is not of the form that JSON-RPC has for it";
                (words.to_owned(), false)
            }
        };
        Failure { reason, is_limit }
    }

    pub fn host(&self) -> &str {
        self.redaction.host()
    }
}
