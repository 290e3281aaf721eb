//! Requests to the index's own router, in this process: what a client waits for, less the network.
use crate::{
    Failure,
    chain::{self, CHAIN, Draws, TAGS},
};
use axum::{
    Router,
    body::{Body, Bytes, to_bytes},
    http::{Method, Request, header},
};
use concord_index::{
    api::{Api, Limits, Readers, router},
    store::Location,
};
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Map, Value, json};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use tower_service::Service;

/// Bytes of an answer.
const MOST: usize = 64 << 20;
/// Accounts of a reviewer list.
const LISTED: u64 = 20;
/// Requests of each kind that are not measured: they open connections and prepare statements.
const WARM_UP: u64 = 20;

pub struct Asker {
    router: Router,
    feedbacks: u64,
}

/// A kind of request: its name, and how the one with this number is made.
type Kind = (
    &'static str,
    fn(&Asker, &mut Draws) -> (String, Option<Value>),
);

const KINDS: [Kind; 7] = [
    ("searchEveryone", Asker::search_everyone),
    ("searchListed", Asker::search_listed),
    ("summaryEveryone", Asker::summary_everyone),
    ("summaryListed", Asker::summary_listed),
    ("agent", Asker::agent),
    ("pageOfAgent", Asker::page_of_agent),
    ("pageOfReviewer", Asker::page_of_reviewer),
];

impl Asker {
    pub fn new(location: Location, feedbacks: u64) -> Self {
        let limits = Limits::default();
        let readers = Readers::of_store(location, limits.queries, limits.time);
        Self {
            router: router(Api::new(readers, limits, None)),
            feedbacks,
        }
    }

    /// The median, the p99 and the slowest of each kind; and the same of the CPU time in this process, which a busy machine does
    /// not change.
    pub fn all(&mut self, runtime: &Runtime, requests: u64) -> Result<Value, Failure> {
        let mut all = Map::new();
        for (name, make) in KINDS {
            let mut times = Times::default();
            for number in 0..requests + WARM_UP {
                let (path, body) = make(self, &mut Draws::of(number << 8));
                let begun = Begun::now();
                runtime.block_on(self.ask(&path, body))?;
                if number >= WARM_UP {
                    times.note(&begun);
                }
            }
            all.insert(name.to_owned(), times.quantiles());
        }
        all.insert("walk".to_owned(), runtime.block_on(self.walk(requests))?);
        Ok(all.into())
    }

    /// The answer, as it is sent.
    async fn ask(&mut self, path: &str, body: Option<Value>) -> Result<Bytes, Failure> {
        let request = Request::builder().uri(path);
        let request = match body {
            None => request.body(Body::empty())?,
            Some(body) => request
                .method(Method::POST)
                .header(header::CONTENT_TYPE, "application/json")
                .body(Body::from(body.to_string()))?,
        };
        let answer = self.router.call(request).await?;
        let status = answer.status();
        let bytes = to_bytes(answer.into_body(), MOST).await?;
        if status.is_success() {
            Ok(bytes)
        } else {
            Err(format!("{path}: {status}: {}", String::from_utf8_lossy(&bytes)).into())
        }
    }

    /// The newest feedback of all, page by page: each continues where the one before ended.
    async fn walk(&mut self, pages: u64) -> Result<Value, Failure> {
        let mut times = Times::default();
        let mut options = json!({ "pageSize": 50 });
        for _ in 0..pages {
            let begun = Begun::now();
            let body = json!({ "filters": {}, "options": options });
            let page = self.ask("/v1/feedback/search", Some(body)).await?;
            times.note(&begun);
            let page: Value = serde_json::from_slice(&page)?;
            match &page["nextCursor"] {
                Value::Null => break,
                cursor => options["cursor"] = cursor.clone(),
            }
        }
        Ok(times.quantiles())
    }

    fn reviewers(&self, draws: &mut Draws) -> Vec<String> {
        let clients = chain::clients(self.feedbacks);
        let listed = (0..LISTED).map(|_| chain::client(draws.below(clients)).to_string());
        listed.collect()
    }

    /// One that has feedback more likely the more it has.
    fn name(&self, draws: &mut Draws) -> String {
        format!(
            "{}:{}",
            CHAIN.trim_start_matches("eip155:"),
            draws.popular(chain::agents(self.feedbacks)) + 1
        )
    }

    fn search(&self, draws: &mut Draws, reviewers: Value) -> (String, Option<Value>) {
        let filters = json!({ "feedback": {
            "hasFeedback": true,
            "minValue": 20 + draws.below(50),
            "minCount": 1 + draws.below(4),
            "tag1": draws.one_of(&TAGS[..4]),
            "fromReviewers": reviewers,
        } });
        let options = json!({ "sort": ["averageValue:desc"], "pageSize": 50 });
        let body = json!({ "filters": filters, "options": options });
        ("/v1/agents/search".to_owned(), Some(body))
    }

    fn search_everyone(&self, draws: &mut Draws) -> (String, Option<Value>) {
        self.search(draws, json!("everyone"))
    }

    fn search_listed(&self, draws: &mut Draws) -> (String, Option<Value>) {
        let reviewers = self.reviewers(draws);
        self.search(draws, json!(reviewers))
    }

    fn summary_everyone(&self, draws: &mut Draws) -> (String, Option<Value>) {
        let name = self.name(draws);
        let path = format!("/v1/agents/{name}/summary?clientAddresses=everyone");
        (path, None)
    }

    fn summary_listed(&self, draws: &mut Draws) -> (String, Option<Value>) {
        let (name, reviewers) = (self.name(draws), self.reviewers(draws).join(","));
        let path = format!("/v1/agents/{name}/summary?clientAddresses={reviewers}");
        (path, None)
    }

    fn agent(&self, draws: &mut Draws) -> (String, Option<Value>) {
        (format!("/v1/agents/{}", self.name(draws)), None)
    }

    fn page_of_agent(&self, draws: &mut Draws) -> (String, Option<Value>) {
        let filters = json!({ "agents": [self.name(draws)] });
        let body = json!({ "filters": filters, "options": { "pageSize": 50 } });
        ("/v1/feedback/search".to_owned(), Some(body))
    }

    fn page_of_reviewer(&self, draws: &mut Draws) -> (String, Option<Value>) {
        let client = draws.below(chain::clients(self.feedbacks));
        let filters = json!({ "reviewers": [chain::client(client).to_string()] });
        let body = json!({ "filters": filters, "options": { "pageSize": 50 } });
        ("/v1/feedback/search".to_owned(), Some(body))
    }
}

/// When a request was sent.
struct Begun {
    at: Instant,
    processor: Duration,
}

impl Begun {
    fn now() -> Self {
        Self {
            at: Instant::now(),
            processor: processor(),
        }
    }
}

/// What requests took, in milliseconds.
#[derive(Default)]
struct Times {
    waited: Vec<f64>,
    processor: Vec<f64>,
}

impl Times {
    fn note(&mut self, begun: &Begun) {
        self.waited.push(begun.at.elapsed().as_secs_f64() * 1e3);
        let ran = processor().saturating_sub(begun.processor);
        self.processor.push(ran.as_secs_f64() * 1e3);
    }

    fn quantiles(mut self) -> Value {
        json!({ "waited": quantiles(&mut self.waited), "processor": quantiles(&mut self.processor) })
    }
}

/// The time for which the threads of this process have run.
fn processor() -> Duration {
    let ran = clock_gettime(ClockId::ProcessCPUTime);
    Duration::try_from(ran).unwrap_or_default() // it is not negative
}

fn quantiles(times: &mut [f64]) -> Value {
    times.sort_by(f64::total_cmp);
    let at = |part: f64| {
        let place = ((times.len() as f64 * part) as usize).min(times.len().saturating_sub(1));
        times.get(place).map(|it| (it * 1_000.0).round() / 1_000.0)
    };
    json!({ "p50": at(0.5), "p99": at(0.99), "max": at(1.0) })
}
