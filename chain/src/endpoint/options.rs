use super::RequestLimits;
use std::{num::NonZeroU32, time::Duration};

/// How an [`crate::Endpoint`] is asked.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EndpointOptions {
    /// Never empty: the first is preferred until it fails.
    pub(super) urls: Vec<String>,
    /// For one answer.
    pub timeout: Duration,
    /// The most that are sent, retries included, to each URL. `None`: as many as are asked for.
    pub requests_per_second: Option<NonZeroU32>,
    /// What each URL takes within a window of time. `None`: what is documented for a public endpoint,
    /// else what refusals teach.
    pub limits: Option<RequestLimits>,
    /// How often a request is repeated.
    pub retries: Retries,
}

/// How often a request is repeated that failed for a passing reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retries {
    /// After a time-out, a broken connection, or an answer that is not JSON-RPC.
    pub broken: u32,
    /// Before each of these.
    pub pause: Duration,
    /// After HTTP status 429, or a JSON-RPC error that says the same.
    pub limited: u32,
    /// Before each of these, and longer while the endpoint keeps refusing, up to half a window of
    /// [`RequestLimits`]; unless it says how long.
    pub limited_pause: Duration,
}

impl EndpointOptions {
    /// The endpoint at `url`: 20 seconds for an answer, no rate, the limits that are documented for it or
    /// learned, [`Retries::default`].
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            urls: vec![url.into()],
            timeout: Duration::from_secs(20),
            requests_per_second: None,
            limits: None,
            retries: Retries::default(),
        }
    }

    /// Adds an endpoint of the same chain, asked if those before it fail.
    #[must_use]
    pub fn with_fallback(mut self, url: impl Into<String>) -> Self {
        self.urls.push(url.into());
        self
    }

    /// Sets the limit for one answer.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Sets the most requests per second to each URL.
    #[must_use]
    pub fn with_rate(self, requests_per_second: NonZeroU32) -> Self {
        Self {
            requests_per_second: Some(requests_per_second),
            ..self
        }
    }

    /// Sets what each URL takes within a window of time. `None`: documented or learned.
    #[must_use]
    pub fn with_limits(self, limits: Option<RequestLimits>) -> Self {
        Self { limits, ..self }
    }

    /// Sets how often a request is repeated.
    #[must_use]
    pub fn with_retries(self, retries: Retries) -> Self {
        Self { retries, ..self }
    }
}

impl Retries {
    /// Every request is made once.
    pub const NONE: Self = Self {
        broken: 0,
        pause: Duration::ZERO,
        limited: 0,
        limited_pause: Duration::ZERO,
    };

    pub(super) const fn is_none(&self) -> bool {
        self.broken == 0 && self.limited == 0
    }
}

impl Default for Retries {
    /// Four after a broken connection, half a second apart. A limit on requests is one for some
    /// seconds, and worth a longer wait.
    fn default() -> Self {
        Self {
            broken: 4,
            pause: Duration::from_millis(500),
            limited: 30,
            limited_pause: Duration::from_secs(1),
        }
    }
}
