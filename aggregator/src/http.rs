use std::{
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use axum::{
    Router,
    body::{Body, to_bytes},
    extract::{ConnectInfo, Path, RawQuery, Request, State},
    http::{HeaderName, StatusCode, header},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use concord_chain::submission::Landing;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::{
    Aggregator, Code, Outcome, Progress, Refusal,
    form::BODY_MAX,
    lane::now,
    store::{Receipted, ResponseRow, RevocationRow, Row, RowState, Store, StoreError},
};

/// A client that sends its body slower than this is not waited for.
const BODY_TIME: Duration = Duration::from_secs(15);
/// Receipts of one answer.
const PAGE_MAX: u64 = 200;
const PAGE: u64 = 100;
const JSON: &str = "application/json";

/// What the routes serve.
#[derive(Clone)]
pub struct Service {
    /// Accepts submissions.
    pub aggregator: Arc<Aggregator>,
    /// The folder with the feedback files, named by their CIDs.
    pub files: PathBuf,
    /// The header in which the nearest proxy names the client, such as `x-forwarded-for`: the last address
    /// in it counts. Without it, the connection's other end counts.
    pub address_header: Option<HeaderName>,
}

/// The routes. They mount beside any others; `POST /feedback` is X402's interface. Limits per address need
/// axum's `into_make_service_with_connect_info::<SocketAddr>`; without it, all clients share one address.
pub fn router(service: Service) -> Router {
    Router::new()
        .route("/feedback", post(submit))
        .route("/revocations", post(revoke))
        .route("/responses", post(relay_response))
        .route("/submissions/{n}", get(submission))
        .route("/receipts", get(receipts))
        .route("/ipfs/{cid}", get(file))
        .route("/health", get(health))
        .route("/metrics", get(metrics))
        .with_state(service)
}

async fn submit(State(service): State<Service>, request: Request) -> Response {
    let address = address_of(service.address_header.as_ref(), &request);
    let answered = async {
        let body = read(request.into_body()).await?;
        let row = service.aggregator.submit(&body, address, now()).await?;
        service.aggregator.wait(row).await
    };
    match answered.await {
        Ok(outcome) => answer(&outcome, service.aggregator.store(), "./"),
        Err(refusal) => refused(&refusal),
    }
}

/// R58
async fn revoke(State(service): State<Service>, body: Body) -> Response {
    let store = service.aggregator.store();
    let answered = async {
        let body = read(body).await?;
        let revocation = service.aggregator.revoke(&body, now()).await?;
        let revocation = service.aggregator.wait_revoked(revocation).await?;
        let settlement = store.get(revocation.n)?.map(|row| row.settlement);
        Ok((revocation, settlement.unwrap_or_default()))
    };
    let (revocation, settlement) = match answered.await {
        Ok(found) => found,
        Err(refusal) => return refused(&refusal),
    };
    let body = revocation_of(&revocation, &settlement);
    let location = format!("./submissions/{}", revocation.n);
    by_progress(Progress::of(revocation.state), location, &body)
}

/// R19, R58: for the agent.
async fn relay_response(State(service): State<Service>, body: Body) -> Response {
    let answered = async {
        let body = read(body).await?;
        let response = service.aggregator.respond(&body, now()).await?;
        service.aggregator.wait_responded(response).await
    };
    match answered.await {
        Ok(response) => answer_response(&response, service.aggregator.store(), "./"),
        Err(refusal) => refused(&refusal),
    }
}

/// `parent`: the routes' own root, as seen from the request.
fn answer_response(response: &ResponseRow, store: &Store, parent: &str) -> Response {
    let location = format!("{parent}submissions/{}", response.receipt.n);
    let body = response_of(response, store);
    by_progress(Progress::of(response.state), location, &body)
}

/// R56: the location is relative, so that it holds wherever the routes are mounted.
fn by_progress(progress: Progress, location: String, body: &Value) -> Response {
    match progress {
        Progress::Landed => respond(StatusCode::OK, body),
        Progress::Refused => respond(StatusCode::UNPROCESSABLE_ENTITY, body),
        Progress::Pending => {
            let answer = respond(StatusCode::ACCEPTED, body);
            ([(header::LOCATION, location)], answer).into_response()
        }
    }
}

/// What follows a feedback: how far it is, and its transaction.
fn follow_up(
    state: RowState,
    reason: Option<&String>,
    landing: Option<&Landing>,
    settlement: &str,
) -> Value {
    let mut body = match Progress::of(state) {
        Progress::Landed => json!({ "status": "submitted" }),
        Progress::Pending => json!({ "status": "accepted" }),
        Progress::Refused => {
            let reason = reason.cloned().unwrap_or_default();
            Refusal::new(Code::RefusedByRegistry, "RefusedByRegistry", reason).body()
        }
    };
    if let (Some((chain, _)), Some(landing)) = (settlement.rsplit_once(':'), landing) {
        body["txRef"] = json!(format!("{chain}:{}", landing.transaction));
    }
    body["settlementRegistry"] = json!(settlement);
    body["state"] = json!(state.name());
    body
}

/// What the reviewer signed, which anyone can verify, and what became of it.
fn revocation_of(revocation: &RevocationRow, settlement: &str) -> Value {
    let (reason, landing) = (revocation.reason.as_ref(), revocation.landing());
    let mut body = follow_up(revocation.state, reason, landing, settlement);
    body["acceptedAt"] = json!(revocation.accepted_at);
    body["request"] = json!(revocation.request);
    body
}

/// What the agent signed, which anyone can verify, its receipt, and what became of it.
fn response_of(response: &ResponseRow, store: &Store) -> Value {
    let (reason, landing) = (response.reason.as_ref(), response.landing());
    let mut body = follow_up(response.state, reason, landing, &response.settlement);
    body["responseTo"] = json!(response.submission);
    body["receipt"] = response.receipt.to_json(&store.receipt_key());
    body["request"] = json!(response.request);
    body
}

/// Where a request comes from: the last address in the header, or the connection's other end.
pub(crate) fn address_of(header: Option<&HeaderName>, request: &Request) -> Option<IpAddr> {
    let Some(name) = header else {
        let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
        return peer.map(|it| it.0.ip());
    };
    // each proxy appends an address, so only the last one is not the client's own text
    let last = request.headers().get_all(name).iter().next_back()?;
    last.to_str().ok()?.rsplit(',').next()?.trim().parse().ok()
}

/// Bodies are taken as they are: no encoding is undone, so nothing grows.
pub(crate) async fn read(body: Body) -> Result<Vec<u8>, Refusal> {
    let refusal = |class, message: String| Refusal::new(Code::InvalidPayload, class, message);
    let read = timeout(BODY_TIME, to_bytes(body, BODY_MAX)).await;
    let read = read.map_err(|_| {
        let seconds = BODY_TIME.as_secs();
        refusal(
            "BodyIncomplete",
            format!("no body within {seconds} seconds"),
        )
    })?;
    let bytes = read.map_err(|error| {
        let message = format!("the body is not read: {error}; at most {BODY_MAX} bytes");
        refusal("PayloadTooLarge", message)
    })?;
    Ok(bytes.into())
}

/// `parent`: the routes' own root, as seen from the request.
fn answer(outcome: &Outcome, store: &Store, parent: &str) -> Response {
    let body = match body_of(outcome, store) {
        Ok(body) => body,
        Err(error) => return refused(&error.into()),
    };
    let location = format!("{parent}submissions/{}", outcome.row.receipt.n);
    by_progress(outcome.progress, location, &body)
}

/// X402's four fields, our state, and the receipt (R56).
fn body_of(outcome: &Outcome, store: &Store) -> Result<Value, StoreError> {
    let row = &outcome.row;
    let mut body = match outcome.progress {
        Progress::Landed => json!({ "status": "submitted", "txRef": tx_ref(row) }),
        Progress::Pending => json!({ "status": "accepted" }),
        Progress::Refused => {
            let reason = row.reason.clone().unwrap_or_default();
            Refusal::new(Code::RefusedByRegistry, "RefusedByRegistry", reason).body()
        }
    };
    body["settlementRegistry"] = json!(row.settlement);
    if row.state.is_shown() {
        body["feedbackURI"] = json!(row.submission.uri);
    }
    body["state"] = json!(row.state.name());
    body["receipt"] = row.receipt.to_json(&store.receipt_key());
    if let Some(index) = row.index {
        body["feedbackIndex"] = json!(index.to_string());
    }
    if let Some(revocation) = store.revocation(row.receipt.n)? {
        body["revocation"] = revocation_of(&revocation, &row.settlement);
    }
    if let Some(response) = store.response_to(row.receipt.n)? {
        body["response"] = response_of(&response, store);
    }
    Ok(body)
}

/// The transaction, chain-qualified.
fn tx_ref(row: &Row) -> Option<String> {
    let (chain, _) = row.settlement.rsplit_once(':')?;
    let landing = row.landing()?;
    Some(format!("{chain}:{}", landing.transaction))
}

pub(crate) fn refused(refusal: &Refusal) -> Response {
    let status = StatusCode::from_u16(refusal.code.status());
    let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let answer = respond(status, &refusal.body());
    match refusal.retry_after {
        Some(seconds) => ([(header::RETRY_AFTER, seconds.to_string())], answer).into_response(),
        None => answer,
    }
}

pub(crate) fn respond(status: StatusCode, body: &Value) -> Response {
    let headers = [
        (header::CONTENT_TYPE, JSON),
        (header::CACHE_CONTROL, "no-store"),
    ];
    (status, headers, body.to_string()).into_response()
}

pub(crate) fn not_found(what: &str) -> Response {
    respond(
        StatusCode::NOT_FOUND,
        &json!({ "status": "error", "message": what }),
    )
}

async fn submission(State(service): State<Service>, Path(n): Path<String>) -> Response {
    let store = service.aggregator.store();
    let found = n.parse().ok().map_or(Ok(None), |n| receipted(store, n));
    match found {
        Ok(Some(Receipted::Submission(row))) => answer(&Outcome::of(row), store, "../"),
        Ok(Some(Receipted::Response(row))) => answer_response(&row, store, "../"),
        Ok(None) => not_found("no such submission"),
        Err(error) => refused(&error.into()),
    }
}

fn receipted(store: &Store, n: u64) -> Result<Option<Receipted>, StoreError> {
    match store.get(n)? {
        Some(row) => Ok(Some(Receipted::Submission(row))),
        None => Ok(store.response(n)?.map(Receipted::Response)),
    }
}

/// R57: `?from=` a receipt's number, `&limit=` at most 200.
async fn receipts(State(service): State<Service>, RawQuery(query): RawQuery) -> Response {
    let query = query.unwrap_or_default();
    let number = |key: &str, default: u64| {
        let mut pairs = query.split('&').filter_map(|it| it.split_once('='));
        let found = pairs.find(|(name, _)| *name == key);
        found.map_or(Ok(default), |(_, value)| value.parse::<u64>())
    };
    let (Ok(from), Ok(limit)) = (number("from", 1), number("limit", PAGE)) else {
        let message = "from and limit must be numbers";
        let refusal = Refusal::new(Code::InvalidPayload, "MalformedNumber", message);
        return refused(&refusal);
    };
    let store = service.aggregator.store();
    let entries = store.receipts(from, limit.min(PAGE_MAX)).and_then(|all| {
        let entries = all.into_iter().map(|it| match it {
            Receipted::Submission(row) => body_of(&Outcome::of(row), store),
            Receipted::Response(row) => Ok(response_of(&row, store)),
        });
        entries.collect::<Result<Vec<Value>, _>>()
    });
    match entries {
        Ok(entries) => respond(StatusCode::OK, &json!({ "receipts": entries })),
        Err(error) => refused(&error.into()),
    }
}

async fn file(State(service): State<Service>, Path(cid): Path<String>) -> Response {
    let is_cid = cid.len() == 59
        && cid
            .bytes()
            .all(|it| matches!(it, b'a'..=b'z' | b'2'..=b'7'));
    let path = service.files.join(&cid);
    let read = if is_cid {
        tokio::task::spawn_blocking(move || std::fs::read(path)).await
    } else {
        return not_found("not a CID of this aggregator");
    };
    let Ok(Ok(bytes)) = read else {
        return not_found("no such file");
    };
    match service.aggregator.is_shown(&bytes) {
        Ok(true) => {}
        Ok(false) => return not_found("no such file"),
        Err(refusal) => return refused(&refusal),
    }
    let headers = [
        (header::CONTENT_TYPE, JSON),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (headers, bytes).into_response()
}

/// Whether the store answers: by the count that costs least, for anybody may ask.
async fn health(State(service): State<Service>) -> Response {
    match service.aggregator.store().open_count() {
        Ok(_) => respond(StatusCode::OK, &json!({ "status": "ok" })),
        Err(error) => refused(&error.into()),
    }
}

/// Prometheus text.
async fn metrics(State(service): State<Service>) -> Response {
    match crate::metrics::metrics(service.aggregator.store(), now()) {
        Ok(text) => ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response(),
        Err(error) => refused(&error.into()),
    }
}
