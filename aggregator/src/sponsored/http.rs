use std::sync::Arc;

use axum::{
    Router,
    extract::{Path, Request, State},
    http::{HeaderName, StatusCode, header},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde_json::{Value, json};

use super::{Sponsored, submit::expired};
use crate::{
    Code, Refusal,
    http::{address_of, not_found, read, refused, respond},
    lane::now,
    store::{SponsoredRow, SponsoredState},
};

#[derive(Clone)]
struct Service {
    sponsored: Arc<Sponsored>,
    address_header: Option<HeaderName>,
}

/// The routes `POST /sponsored/prepare`, `POST /sponsored/submit` and `GET /sponsored/{id}`, to mount beside
/// [`router`](crate::router). `address_header`: as in [`Service`](crate::Service).
pub fn sponsored_router(sponsored: Arc<Sponsored>, address_header: Option<HeaderName>) -> Router {
    Router::new()
        .route("/sponsored/prepare", post(prepare))
        .route("/sponsored/submit", post(submit))
        .route("/sponsored/{id}", get(one))
        .with_state(Service {
            sponsored,
            address_header,
        })
}

async fn prepare(State(service): State<Service>, request: Request) -> Response {
    let address = address_of(service.address_header.as_ref(), &request);
    let prepared = async {
        let body = read(request.into_body()).await?;
        let row = service.sponsored.prepare(&body, address, now()).await?;
        let file = service.sponsored.aggregator.store.sponsored_file(row.id)?;
        Ok((row, file.unwrap_or_default()))
    };
    match prepared.await {
        Ok((row, file)) if row.state == SponsoredState::Prepared => {
            let sponsor = service.sponsored.sponsor_of(&row.settlement);
            let sponsor = sponsor.map(|it| it.key.address().to_string());
            let mut body = body_of(&row);
            body["transaction"] = json!(row.prepared.unsigned());
            body["lastValidBlockHeight"] = json!(row.prepared.valid_until);
            body["sponsor"] = json!(sponsor.unwrap_or_default());
            body["feedbackURI"] = json!(row.submission.uri);
            body["feedbackHash"] = json!(row.submission.hash);
            body["file"] = json!(file);
            respond(StatusCode::OK, &body)
        }
        Ok((row, _)) => answer(&row),
        Err(refusal) => refused(&refusal),
    }
}

async fn submit(State(service): State<Service>, request: Request) -> Response {
    let address = address_of(service.address_header.as_ref(), &request);
    let submitted = async {
        let body = read(request.into_body()).await?;
        let row = service.sponsored.submit(&body, address, now()).await?;
        service.sponsored.wait(row).await
    };
    match submitted.await {
        Ok(row) => answer(&row),
        Err(refusal) => refused(&refusal),
    }
}

async fn one(State(service): State<Service>, Path(id): Path<String>) -> Response {
    let found = id.parse().ok();
    match found.map_or(Ok(None), |id| service.sponsored.get(id)) {
        Ok(Some(mut row)) => {
            // R53: anyone may ask here, and until it is on chain the agent could still prevent it
            if !row.state.is_shown() && row.state != SponsoredState::Refused {
                row.transaction = None;
            }
            answer(&row)
        }
        Ok(None) => not_found("no such sponsored feedback"),
        Err(refusal) => refused(&refusal),
    }
}

fn answer(row: &SponsoredRow) -> Response {
    let body = body_of(row);
    match row.state {
        SponsoredState::Prepared | SponsoredState::Landed | SponsoredState::Final => {
            respond(StatusCode::OK, &body)
        }
        SponsoredState::Signed | SponsoredState::Sent => {
            let location = format!("./{}", row.id); // R56: relative
            let answer = respond(StatusCode::ACCEPTED, &body);
            ([(header::LOCATION, location)], answer).into_response()
        }
        SponsoredState::Expired => respond(StatusCode::GONE, &body),
        SponsoredState::Refused => respond(StatusCode::UNPROCESSABLE_ENTITY, &body),
    }
}

/// X402's fields, as far as they are known, our state, and the transaction with both signatures: anyone can send it.
fn body_of(row: &SponsoredRow) -> Value {
    let mut body = match row.state {
        SponsoredState::Prepared => json!({ "status": "prepared" }),
        SponsoredState::Signed | SponsoredState::Sent => json!({ "status": "accepted" }),
        SponsoredState::Landed | SponsoredState::Final => json!({ "status": "submitted" }),
        SponsoredState::Expired => expired().body(),
        SponsoredState::Refused => {
            let reason = row.reason.clone().unwrap_or_default();
            Refusal::new(Code::RefusedByRegistry, "RefusedByRegistry", reason).body()
        }
    };
    body["id"] = json!(row.id.to_string());
    body["state"] = json!(row.state.name());
    body["settlementRegistry"] = json!(row.settlement);
    body["feedbackIndex"] = json!(row.index.to_string());
    if let Some(signed) = row.transaction.as_ref() {
        body["transaction"] = json!(signed.raw);
        if let Some((chain, _)) = row.settlement.rsplit_once(':') {
            body["txRef"] = json!(format!("{chain}:{}", signed.transaction));
        }
    }
    if row.state.is_shown() {
        body["feedbackURI"] = json!(row.submission.uri);
    }
    body
}
