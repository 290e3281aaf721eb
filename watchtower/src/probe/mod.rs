//! One request to one service, and the finding that follows from its answer.
//!
//! Nothing that a service says is kept: a finding is one of a fixed set of words, so that no stranger writes into
//! an evidence file.

mod a2a;
mod mcp;

use std::time::Instant;

use concord_chain::fetch::{Answer, FetchError, Fetcher, Method, Question};
use concord_x402::wire::{PAYMENT_REQUIRED, PaymentRequired, find};

use crate::{ServiceKind, Target};

/// Bytes of an answer that are read. MCP's and A2A's are a few KiB.
const ANSWER_MAX: usize = 64 << 10;
/// Who asks.
const USER_AGENT: (&str, &str) = (
    "user-agent",
    concat!("concord-watchtower/", env!("CARGO_PKG_VERSION")),
);
/// Statuses that say nothing about the service: it wants credentials, another method, or fewer requests.
const NOT_JUDGED: [u16; 4] = [401, 403, 405, 429];

/// What a probe found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The answer that the service's protocol promises.
    AsPromised,
    /// Another HTTP status.
    Status(u16),
    /// An answer of another form.
    Unlike(&'static str),
    /// No answer.
    Unreachable(&'static str),
}

impl Finding {
    /// Whether the service answered at all.
    #[must_use]
    pub const fn is_answer(&self) -> bool {
        !matches!(self, Self::Unreachable(_))
    }

    /// Whether the request succeeded; `None` if the answer does not say (R36).
    #[must_use]
    pub fn is_success(&self) -> Option<bool> {
        match self {
            Self::AsPromised => Some(true),
            Self::Status(status) if NOT_JUDGED.contains(status) => None,
            _ => Some(false),
        }
    }

    /// In words.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::AsPromised => "as promised".to_owned(),
            Self::Status(status) => format!("HTTP status {status}"),
            Self::Unlike(words) | Self::Unreachable(words) => (*words).to_owned(),
        }
    }
}

/// What a probe found, and how long it took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What was found.
    pub finding: Finding,
    /// Milliseconds from the request to the answer, or to the end of the attempt.
    pub millis: u64,
}

/// Asks services.
#[derive(Clone)]
pub struct Prober {
    fetcher: Fetcher,
}

impl Prober {
    /// Asks with a fetcher, whose time limit holds for each probe.
    #[must_use]
    pub const fn new(fetcher: Fetcher) -> Self {
        Self { fetcher }
    }

    /// Probes a service once; `None` if it is not asked, because of its URL or of the fetcher's options.
    pub async fn probe(&self, target: &Target) -> Option<Outcome> {
        let begun = Instant::now();
        let asked = match target.kind {
            ServiceKind::Mcp => mcp::initialize(&self.fetcher, &target.url).await,
            ServiceKind::A2a => self.get(&target.url, ANSWER_MAX).await,
            ServiceKind::Http | ServiceKind::X402 => self.get(&target.url, 0).await,
        };
        let millis = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        if let (ServiceKind::Mcp, Ok(answer)) = (target.kind, &asked) {
            mcp::end_session(&self.fetcher, &target.url, answer).await; // not measured
        }
        let judged = asked.map(|answer| match target.kind {
            ServiceKind::Mcp => mcp::judge(&answer),
            ServiceKind::A2a => a2a::judge(answer),
            ServiceKind::Http | ServiceKind::X402 => judge(target.kind, &answer),
        });
        let finding = judged.or_else(|error| without_answer(&error)).ok()?;
        Some(Outcome { finding, millis })
    }

    /// Whether a URL answers anything at all.
    pub async fn answers(&self, url: &str) -> bool {
        self.get(url, 0).await.is_ok()
    }

    async fn get(&self, url: &str, answer_max: usize) -> Result<Answer, FetchError> {
        let headers = [USER_AGENT, ("accept", "application/json, */*;q=0.5")];
        let question = Question {
            headers: &headers,
            answer_max,
            ..Question::get(url)
        };
        self.fetcher.ask(&question).await
    }
}

/// A GET of a web service, or of one that is paid.
fn judge(kind: ServiceKind, answer: &Answer) -> Finding {
    let is_offer = || {
        let header = find(&answer.headers, PAYMENT_REQUIRED).ok();
        let read = header.map(|it| PaymentRequired::from_header(it.as_bytes()));
        read.is_some_and(|it| it.is_ok_and(|required| !required.accepts.is_empty()))
    };
    match (answer.status, kind) {
        (402, _) if is_offer() => Finding::AsPromised,
        (402, _) => Finding::Unlike("402 without a readable offer"),
        (200..=299, ServiceKind::X402) => Finding::Unlike("not a 402"),
        (200..=299, _) => Finding::AsPromised,
        (status, _) => Finding::Status(status),
    }
}

/// What an error says about the service. Those that say nothing stay errors.
fn without_answer(error: &FetchError) -> Result<Finding, ()> {
    Ok(match error {
        FetchError::PrivateAddress { .. } => Finding::Unreachable("not at a public address"),
        FetchError::Broken { .. } => Finding::Unreachable("no connection"),
        FetchError::TimedOut(_) => Finding::Unreachable("no answer in time"),
        FetchError::Redirects { .. } => Finding::Unlike("too many redirects"),
        FetchError::RedirectRefused { .. } => Finding::Unlike("redirects to what is not fetched"),
        FetchError::TooLong { .. } => Finding::Unlike("the answer is too long"),
        FetchError::Encoding { .. } | FetchError::Gzip => {
            Finding::Unlike("the answer is encoded otherwise than it says")
        }
        _ => return Err(()),
    })
}

const fn post<'a>(url: &'a str, headers: &'a [(&'a str, &'a str)], body: &'a [u8]) -> Question<'a> {
    Question {
        method: Method::Post,
        headers,
        body,
        answer_max: ANSWER_MAX,
        ..Question::get(url)
    }
}
