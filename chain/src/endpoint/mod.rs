//! A JSON-RPC endpoint. Requests that fail for a passing reason are repeated by alloy's layers.
mod fallback;
mod http;
mod limits;
mod options;
mod redaction;
mod retry_after;
mod throttle;
mod window;

pub use limits::RequestLimits;
pub use options::{EndpointOptions, Retries};
pub use redaction::Redaction;

use crate::ChainError;
use alloy::{
    pubsub::Subscription,
    rpc::{
        client::{RpcClient, WsConnect},
        json_rpc::{ErrorPayload, RpcRecv, RpcSend},
    },
    transports::{
        BoxTransport, IntoBoxTransport, RpcError, TransportErrorKind, TransportResult,
        http::reqwest::Url,
        layers::{RetryBackoffLayer, ThrottleLayer},
    },
};
use fallback::Fallback;
use http::{Failure, Http, RetryBroken, RetryLimited};
use std::{future::IntoFuture, sync::Arc, time::Duration};
use throttle::LimitLayer;
use tower_layer::Layer;

/// An answer, or the chain's own refusal in its own words without the endpoint's URL.
pub type Refusable<T> = Result<T, ErrorPayload>;

/// How alloy's retry layer begins the words of the last failure.
const RETRIES_EXCEEDED: &str = "Max retries exceeded ";
/// The compute budget of alloy's retry layer: never a reason to wait, [`ThrottleLayer`] is.
const NO_BUDGET: u64 = u64::MAX;

/// How often a node that lags behind is asked again, and the pause before the first of these. Each of
/// the others is twice as long as the last.
const LAG_RETRIES: u32 = 4;
const LAG_PAUSE: Duration = Duration::from_millis(250);

pub(crate) fn lag_pauses() -> impl Iterator<Item = Duration> {
    (0..LAG_RETRIES).map(|retry| LAG_PAUSE * 2u32.pow(retry))
}

/// A JSON-RPC endpoint, or several that serve the same chain. Clones share their connections.
#[derive(Clone, Debug)]
pub struct Endpoint {
    client: RpcClient,
    redactions: Arc<[Redaction]>,
    host: String,
    /// For one answer, unless the transport limits it by itself.
    timeout: Option<Duration>,
}

impl Endpoint {
    /// An endpoint over HTTP. No request is made yet.
    ///
    /// # Errors
    /// [`ChainError::RpcUrlMalformed`].
    pub fn new(options: &EndpointOptions) -> Result<Self, ChainError> {
        let urls: Result<Vec<_>, _> = options.urls.iter().map(|url| parsed(url)).collect();
        let urls = urls?;
        let redactions: Arc<[Redaction]> = (options.urls.iter().zip(&urls))
            .map(|(given, url)| Redaction::of(given, url))
            .collect();
        let transports = (urls.into_iter().zip(&*redactions))
            .map(|(url, redaction)| throttled(url, redaction, options))
            .collect();
        let fallback = Fallback::new(transports).into_box_transport();
        let transport = retried(fallback, &options.retries);
        Ok(Self {
            client: RpcClient::new(transport, false),
            host: hosts(&redactions),
            redactions,
            timeout: None,
        })
    }

    /// An endpoint over WebSocket: it can subscribe. The connection is made again if it breaks, and
    /// with it every subscription.
    ///
    /// # Errors
    /// [`ChainError::WebSocketUrlMalformed`], [`ChainError::Unreachable`].
    pub async fn connect_ws(url: &str, timeout: Duration) -> Result<Self, ChainError> {
        let parsed: Url = (url.parse().ok())
            .filter(|url: &Url| matches!(url.scheme(), "ws" | "wss") && url.has_host())
            .ok_or(ChainError::WebSocketUrlMalformed)?;
        let redactions: Arc<[Redaction]> = [Redaction::of(url, &parsed)].into();
        let host = hosts(&redactions);
        let unreachable = |reason: Failure| ChainError::Unreachable {
            host: host.clone(),
            method: "a WebSocket connection".to_owned(),
            reason: reason.to_string(),
        };
        let connecting = RpcClient::connect_pubsub(WsConnect::new(parsed));
        let client = tokio::time::timeout(timeout, connecting).await;
        let client = client.map_err(|_| unreachable(Failure::TimedOut(timeout)))?;
        let client = client.map_err(|_| unreachable(Failure::Broken))?;
        Ok(Self {
            client,
            redactions,
            timeout: Some(timeout),
            host,
        })
    }

    /// An endpoint behind any other transport, such as a chain in this process. Nothing is retried.
    #[must_use]
    pub fn over(transport: impl IntoBoxTransport, host: &str) -> Self {
        Self {
            client: RpcClient::new(transport, true),
            redactions: [].into(),
            host: host.to_owned(),
            timeout: None,
        }
    }

    /// The client underneath, for alloy's providers.
    #[must_use]
    pub fn client(&self) -> &RpcClient {
        &self.client
    }

    /// The endpoint's host and port: all of a URL that is ever shown.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Makes one request.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`]; the chain's own refusal is an answer.
    pub async fn request<P: RpcSend, T: RpcRecv>(
        &self,
        method: &str,
        params: P,
    ) -> Result<Refusable<T>, ChainError> {
        let request = self.client.request(method.to_owned(), params);
        self.ask(method, request).await
    }

    /// As [`Self::request`], for a request that a provider makes. `method` names it in errors.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`].
    pub async fn ask<T>(
        &self,
        method: &str,
        request: impl IntoFuture<Output = TransportResult<T>>,
    ) -> Result<Refusable<T>, ChainError> {
        let request = request.into_future();
        let answer = match self.timeout {
            None => request.await,
            Some(limit) => tokio::time::timeout(limit, request)
                .await
                .unwrap_or_else(|_| Err(Failure::TimedOut(limit).into())),
        };
        match answer {
            Ok(answer) => Ok(Ok(answer)),
            Err(RpcError::ErrorResp(mut no)) if !no.is_retry_err() => {
                no.message = self.clean(&no.message).into();
                Ok(Err(no))
            }
            Err(error) => Err(self.unreachable(method, self.reason(&error))),
        }
    }

    /// As [`Self::request`], for methods that every chain answers: a refusal is an error too.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`].
    pub async fn expect<P: RpcSend, T: RpcRecv>(
        &self,
        method: &str,
        params: P,
    ) -> Result<T, ChainError> {
        let answer = self.request(method, params).await?;
        answer.map_err(|no| self.unreachable(method, no.message.into_owned()))
    }

    /// Waits for the id of a subscription, and returns what arrives for it.
    pub(crate) async fn subscription<T: RpcRecv>(
        &self,
        method: &str,
        request: impl IntoFuture<Output = TransportResult<Subscription<T>>>,
    ) -> Result<Subscription<T>, ChainError> {
        let answer = self.ask(method, request).await?;
        answer.map_err(|no| self.unreachable(method, no.message.into_owned()))
    }

    /// The error for an endpoint that does not answer a method as a node does.
    #[must_use]
    pub fn unreachable(&self, method: &str, reason: String) -> ChainError {
        ChainError::Unreachable {
            host: self.host.clone(),
            method: method.to_owned(),
            reason,
        }
    }

    /// Asks for what is known to be there, until the answer has it: a node that lags behind does not have it
    /// yet. `ask` returns it, or in words what there is instead.
    ///
    /// # Errors
    /// Those of `ask`; [`ChainError::Unreachable`] with the last words after some seconds.
    pub async fn until_caught_up<T, E, F>(
        &self,
        method: &str,
        mut ask: impl FnMut() -> F + Send,
    ) -> Result<T, E>
    where
        E: From<ChainError>,
        F: Future<Output = Result<Result<T, String>, E>> + Send,
    {
        let mut pauses = lag_pauses();
        loop {
            let instead = match ask().await? {
                Ok(answer) => return Ok(answer),
                Err(instead) => instead,
            };
            match pauses.next() {
                Some(pause) => tokio::time::sleep(pause).await,
                None => return Err(self.unreachable(method, instead).into()),
            }
        }
    }

    fn clean(&self, words: &str) -> String {
        let redactions = self.redactions.iter();
        redactions.fold(words.to_owned(), |words, it| it.clean(&words))
    }

    /// Says what failed without the library's words: they may have the whole URL, which may have a
    /// key in it.
    fn reason(&self, error: &RpcError<TransportErrorKind>) -> String {
        let words = match error {
            RpcError::ErrorResp(no) => no.message.to_string(),
            RpcError::Transport(TransportErrorKind::Custom(error)) => {
                let words = error.to_string();
                match words.strip_prefix(RETRIES_EXCEEDED) {
                    Some(last) => last.to_owned(),
                    None if error.is::<Failure>() => words,
                    None => Failure::Broken.to_string(),
                }
            }
            RpcError::Transport(TransportErrorKind::PubsubUnavailable) => {
                "subscriptions need a WebSocket URL".to_owned()
            }
            RpcError::Transport(_) => Failure::Broken.to_string(),
            _ => Failure::Malformed.to_string(),
        };
        self.clean(&words)
    }
}

/// Below the retries: these count too.
fn throttled(url: Url, redaction: &Redaction, options: &EndpointOptions) -> BoxTransport {
    let documented = || RequestLimits::documented(url.host_str().unwrap_or_default());
    let limits = options.limits.or_else(documented);
    let limited = LimitLayer::new(limits, options.retries.limited_pause);
    let http = Http::new(url, options.timeout, redaction.clone());
    let http = limited.layer(http);
    match options.requests_per_second {
        Some(rate) => (ThrottleLayer::new(rate.get()).layer(http)).into_box_transport(),
        None => http.into_box_transport(),
    }
}

fn parsed(url: &str) -> Result<Url, ChainError> {
    let url: Url = url.parse().map_err(|_| ChainError::RpcUrlMalformed)?;
    if matches!(url.scheme(), "http" | "https") && url.has_host() {
        Ok(url)
    } else {
        Err(ChainError::RpcUrlMalformed)
    }
}

fn hosts(redactions: &[Redaction]) -> String {
    let hosts: Vec<&str> = redactions.iter().map(Redaction::host).collect();
    hosts.join(", ")
}

fn retried(transport: BoxTransport, retries: &Retries) -> BoxTransport {
    if retries.is_none() {
        return transport; // alloy's layer would turn a batch with one refusal into an error
    }
    let milliseconds = |pause: Duration| u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
    let broken = RetryBackoffLayer::new_with_policy(
        retries.broken,
        milliseconds(retries.pause),
        NO_BUDGET,
        RetryBroken,
    );
    let limited = RetryBackoffLayer::new_with_policy(
        retries.limited,
        milliseconds(retries.limited_pause),
        NO_BUDGET,
        RetryLimited,
    );
    limited.layer(broken.layer(transport)).into_box_transport()
}
