//! What an index knows, over its `/v1`: searches over both chains, and feedback with its endpoint and file.

use std::time::Duration;

use alloy::transports::http::reqwest::{
    self, Client as Http, Method, StatusCode, Url, redirect::Policy,
};
use concord_canonical::caip::EIP155;
use concord_chain::reviewers::parse_account;
use serde_json::{Map, Value, json};

use crate::{ClientError, Kind, Reviewers, Tags, operation::malformed};

/// Bytes of an answer: a page of feedback has 200 rows of a few kilobytes.
const BYTES: usize = 32 << 20;
const TIME: Duration = Duration::from_secs(30);

/// Why an index has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// Its URL cannot be used.
    #[error("the index's URL: {0}")]
    Url(String),
    /// It refuses the question.
    #[error("the index refuses this: {0}")]
    Refused(String),
    /// It does not have what was asked for.
    #[error("{0}")]
    NotIndexed(String),
    /// It does not answer, or not as an index does.
    #[error("the index at {index} does not answer: {reason}")]
    Silent {
        /// Scheme, host and port.
        index: String,
        /// Why.
        reason: String,
    },
}

impl IndexError {
    /// Whether the same question may be answered later.
    #[must_use]
    pub const fn is_retryable(&self) -> bool {
        matches!(self, Self::Silent { .. })
    }
}

/// An index.
#[derive(Clone, Debug)]
pub struct IndexClient {
    url: Url,
    http: Http,
}

/// One page of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// The rows, as the index's OpenAPI describes them.
    pub items: Vec<Value>,
    /// Continues the search, if there is more: `options.cursor` of the next question.
    pub next_cursor: Option<String>,
}

/// Thresholds of reputation in a search for agents, and whose feedback they are about (R48).
#[derive(Clone, Debug)]
pub struct ReputationFilter<'a> {
    /// Whose feedback counts.
    pub reviewers: &'a Reviewers,
    /// BP's other members of `feedback`: `minValue`, `minCount`, `tag1`, `hasFeedback`, and so on.
    pub thresholds: Value,
}

impl IndexClient {
    /// An index at a URL. No request is made yet.
    ///
    /// # Errors
    /// [`IndexError::Url`].
    pub fn new(address: &str) -> Result<Self, IndexError> {
        let malformed = |reason: &str| IndexError::Url(reason.to_owned());
        let url: Url = (address.parse()).map_err(|_| malformed("expected http:// and a host"))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(malformed("it has a user or a password"));
        }
        if !matches!(url.scheme(), "http" | "https") {
            return Err(malformed("expected http:// or https:// and a host"));
        }
        let http = Http::builder().timeout(TIME).redirect(Policy::none());
        let http = http.build().map_err(|error| IndexError::Silent {
            index: url.origin().ascii_serialization(),
            reason: error.to_string(),
        })?;
        Ok(Self { url, http })
    }

    /// Searches agents with BP's filters (`searchAgents`). Thresholds of reputation are in `reputation`, because they
    /// need reviewers. Filters and options are JSON objects; [`Value::Null`] is an empty one.
    ///
    /// # Errors
    /// [`ClientError::Index`], also for a filter that the index does not have.
    pub async fn search_agents(
        &self,
        filters: &Value,
        reputation: Option<ReputationFilter<'_>>,
        options: &Value,
    ) -> Result<Page, ClientError> {
        let mut filters = object("filters", filters)?;
        if filters.contains_key("feedback") {
            let expected = "none: give a ReputationFilter, which names reviewers (R48)";
            return Err(malformed("filters.feedback", "given", expected));
        }
        if let Some(ReputationFilter {
            reviewers,
            thresholds,
        }) = reputation
        {
            let mut thresholds = object("thresholds", &thresholds)?;
            thresholds.insert("fromReviewers".to_owned(), listed(reviewers)?);
            filters.insert("feedback".to_owned(), Value::Object(thresholds));
        }
        let body = json!({ "filters": filters, "options": object("options", options)? });
        Ok(self.page(&["v1", "agents", "search"], &body).await?)
    }

    /// Searches feedback (BP's `searchFeedback`): by agents, reviewers, tags.
    ///
    /// # Errors
    /// As [`Self::search_agents`].
    pub async fn search_feedback(
        &self,
        filters: &Value,
        options: &Value,
    ) -> Result<Page, ClientError> {
        let (filters, options) = (object("filters", filters)?, object("options", options)?);
        let body = json!({ "filters": filters, "options": options });
        Ok(self.page(&["v1", "feedback", "search"], &body).await?)
    }

    /// One feedback with its endpoint, its file's evidence and its responses. `agent` is
    /// `CAIP-10 of the registry:id`; `index` counts from 1 (R44).
    ///
    /// # Errors
    /// [`IndexError::NotIndexed`] if it is not there, [`IndexError::Silent`] if the answer is about another feedback;
    /// otherwise as [`Self::search_agents`].
    pub async fn feedback(
        &self,
        kind: Kind,
        agent: &str,
        client: &str,
        index: u64,
    ) -> Result<Value, ClientError> {
        let number = index.to_string();
        let path = ["v1", "feedback", agent, kind.name(), client, &number];
        let feedback = self.ask(&path, None).await?;
        let is_asked = is_agent(agent, text(&feedback, "agent"))
            && text(&feedback, "profile") == kind.name()
            && is_account(client, text(&feedback, "clientAddress"))
            && feedback["feedbackIndex"] == index;
        if is_asked {
            Ok(feedback)
        } else {
            let asked = format!("{} feedback {index} of {client}", kind.name());
            Err(self.other(&format!("{asked} about {agent}")).into())
        }
    }

    /// The summary of an agent, and the facts about the reviewers who count (R48). The answer states its set in
    /// `clientAddresses`.
    ///
    /// # Errors
    /// [`ClientError::Reviewers`] for an empty set; otherwise as [`Self::search_agents`].
    pub async fn summary(
        &self,
        kind: Kind,
        agent: &str,
        reviewers: &Reviewers,
        tags: Tags<'_>,
    ) -> Result<Value, ClientError> {
        let body = json!({
            "agentIds": [agent],
            "clientAddresses": listed(reviewers)?,
            "profile": kind.name(),
            "tag1": tags.tag1,
            "tag2": tags.tag2,
        });
        Ok(self.ask_summary(&body).await?)
    }

    /// Asks for the summary of one agent with a body of the API's own, and returns it. It must be of the agent, the
    /// reviewers, the profile and the tags that the body names.
    ///
    /// # Errors
    /// [`IndexError`].
    pub async fn ask_summary(&self, body: &Value) -> Result<Value, IndexError> {
        let page = self.page(&["v1", "summaries"], body).await?;
        let first = page.items.into_iter().next();
        let summary = first.ok_or_else(|| self.silent("the answer has no summary".to_owned()))?;
        let agent = body["agentIds"][0].as_str().unwrap_or_default();
        let profile = text(body, "profile");
        if !is_agent(agent, text(&summary, "agent")) || text(&summary, "profile") != profile {
            return Err(self.other(&format!("{profile} feedback of {agent}")));
        }
        if !are_reviewers(&body["clientAddresses"], &summary["clientAddresses"]) {
            return Err(self.other("the reviewers that were named"));
        }
        let is_tagged = |it: &&str| text(body, it) == text(&summary, it);
        if ["tag", "tag1", "tag2"].iter().all(is_tagged) {
            Ok(summary)
        } else {
            Err(self.other("the tags that were named"))
        }
    }

    /// Asks for a page of rows with a body of the API's own, and returns the whole answer, which has a list of `items`.
    ///
    /// # Errors
    /// [`IndexError`].
    pub async fn ask_page(&self, path: &[&str], body: &Value) -> Result<Value, IndexError> {
        let answer = self.ask(path, Some(body)).await?;
        if !answer["items"].is_array() {
            return Err(self.silent("the answer has no list of items".to_owned()));
        }
        match &answer["nextCursor"] {
            Value::Null | Value::String(_) => Ok(answer),
            _ => Err(self.silent("the answer's nextCursor is not text".to_owned())),
        }
    }

    /// Asks anything else of the API, and returns the answer's JSON. `path` are the parts of the URL's path; with a
    /// body the question is a POST.
    ///
    /// # Errors
    /// [`IndexError`].
    pub async fn ask(&self, path: &[&str], body: Option<&Value>) -> Result<Value, IndexError> {
        let mut url = self.url.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        let request = match body {
            None => self.http.request(Method::GET, url),
            Some(body) => (self.http.request(Method::POST, url))
                .header("content-type", "application/json")
                .body(body.to_string()),
        };
        // the error's own text has the whole URL, which may have what it should not say
        let silent = |error: reqwest::Error| self.silent(words(&error.without_url()));
        let mut response = request.send().await.map_err(silent)?;
        let status = response.status();
        let mut bytes = Vec::new();
        while let Some(part) = response.chunk().await.map_err(silent)? {
            if bytes.len() + part.len() > BYTES {
                return Err(self.silent(format!("the answer is longer than {BYTES} bytes")));
            }
            bytes.extend_from_slice(&part);
        }
        self.answer(status, &bytes)
    }

    fn answer(&self, status: StatusCode, bytes: &[u8]) -> Result<Value, IndexError> {
        let answer: Value = serde_json::from_slice(bytes)
            .map_err(|_| self.silent(format!("status {status}, and no JSON: is this an index?")))?;
        if status == StatusCode::OK {
            return Ok(answer);
        }
        let message = answer["error"]["message"].as_str().map(str::to_owned);
        let message = message.unwrap_or_else(|| format!("status {status}"));
        Err(match status.as_u16() {
            404 => IndexError::NotIndexed(message),
            408 | 425 | 429 => self.silent(message), // of a gateway before it: later, it may answer
            400..=499 | 501 => IndexError::Refused(message),
            _ => self.silent(message),
        })
    }

    async fn page(&self, path: &[&str], body: &Value) -> Result<Page, IndexError> {
        let mut answer = self.ask_page(path, body).await?;
        let next_cursor = answer["nextCursor"].as_str().map(str::to_owned);
        let items = match answer["items"].take() {
            Value::Array(items) => items,
            _ => Vec::new(), // there is a list
        };
        Ok(Page { items, next_cursor })
    }

    fn other(&self, asked: &str) -> IndexError {
        self.silent(format!("the answer is not of {asked}"))
    }

    fn silent(&self, reason: String) -> IndexError {
        IndexError::Silent {
            index: self.url.origin().ascii_serialization(),
            reason,
        }
    }
}

fn text<'a>(answer: &'a Value, member: &str) -> &'a str {
    answer[member].as_str().unwrap_or_default()
}

/// Whether an answer's agent is the one that was asked for, by its full name or BP's `84532:42`.
fn is_agent(asked: &str, answered: &str) -> bool {
    let [asked_parts, parts] = [asked, answered].map(|it| it.split(':').collect::<Vec<_>>());
    match (&*asked_parts, &*parts) {
        ([number, id], [EIP155, chain, _, of]) => (number, id) == (chain, of),
        // addresses of EVM are equal in either case
        (_, [EIP155, ..]) => asked.eq_ignore_ascii_case(answered),
        _ => asked == answered,
    }
}

/// Whether two texts name one account: those of EVM are equal in either case.
fn is_account(asked: &str, answered: &str) -> bool {
    parse_account(answered).is_some_and(|it| parse_account(asked) == Some(it))
}

/// R48: whether an answer states the set that was asked for, `everyone` or a list.
fn are_reviewers(asked: &Value, answered: &Value) -> bool {
    let (Some(asked), Some(listed)) = (asked.as_array(), answered.as_array()) else {
        return asked == answered;
    };
    let is_same = |(asked, answered): (&Value, &Value)| match (asked.as_str(), answered.as_str()) {
        (Some(asked), Some(answered)) => is_account(asked, answered),
        _ => false,
    };
    asked.len() == listed.len() && asked.iter().zip(listed).all(is_same)
}

/// R48: as the API has them.
fn listed(reviewers: &Reviewers) -> Result<Value, ClientError> {
    Ok(match reviewers.accounts()? {
        None => json!("everyone"),
        Some(listed) => listed.iter().map(|it| json!(it.to_string())).collect(),
    })
}

fn object(field: &'static str, value: &Value) -> Result<Map<String, Value>, ClientError> {
    match value {
        Value::Object(members) => Ok(members.clone()),
        Value::Null => Ok(Map::new()),
        other => Err(malformed(field, &other.to_string(), "a JSON object")),
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
