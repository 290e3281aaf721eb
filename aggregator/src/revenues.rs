//! What agents earned, as far as this operator settled it: what a watchtower publishes as `revenues` (R60). Each payment was
//! read from the chain before it counts.

use std::{collections::BTreeMap, sync::Arc};

use alloy::transports::http::reqwest::Url;
use axum::{
    Router,
    body::Body,
    extract::{RawQuery, State},
    http::StatusCode,
    response::Response,
    routing::{get, post},
};
use concord_canonical::caip::AccountId;
use serde_json::{Value, json};

use crate::{
    Code, Facilitator, Refusal,
    admission::is_same_account,
    form::malformed,
    http::{read, refused, respond},
    lane::now,
    payment_proofs::{Request, require_payer},
    policy::DAY,
    store::{Settled, Store},
};

/// The tag of a signal (BP).
const TAG: &str = "revenues";

/// Records what was settled, and sums it up.
pub struct Revenues {
    /// Keeps the payments.
    pub store: Store,
    /// Say what was settled here.
    pub facilitators: Arc<[Facilitator]>,
    /// The tokens in which a payment counts, CAIP-10.
    pub assets: Vec<String>,
}

/// The routes `POST /settlements` and `GET /revenues`.
pub fn revenue_router(revenues: Revenues) -> Router {
    Router::new()
        .route("/settlements", post(settle))
        .route("/revenues", get(revenues_of))
        .with_state(Arc::new(revenues))
}

async fn settle(State(revenues): State<Arc<Revenues>>, body: Body) -> Response {
    let settled = async {
        let request = Request::read(&read(body).await?)?;
        revenues.settle(&request).await
    };
    match settled.await {
        Ok(settled) => respond(StatusCode::OK, &recorded(&settled)),
        Err(refusal) => refused(&refusal),
    }
}

fn recorded(settled: &Settled) -> Value {
    json!({
        "status": "recorded",
        "payer": settled.payer,
        "asset": settled.asset,
        "amount": settled.amount.to_string(),
        "paidAt": settled.paid_at,
    })
}

impl Revenues {
    /// Records a payment that one of our accounts settled. Repeated requests record it once.
    async fn settle(&self, request: &Request) -> Result<Settled, Refusal> {
        let mut all = self.facilitators.iter();
        let own = all.find(|it| it.registry() == request.registry);
        let own = own.ok_or_else(|| {
            let message = format!("nothing is settled for agents of {} here", request.registry);
            Refusal::new(Code::UnknownAgent, "RegistryNotServed", message).of("agentRegistry")
        })?;
        let asset = format!("{}:{}", own.network, request.token);
        if !self.assets.iter().any(|it| is_same_account(it, &asset)) {
            let message = format!("{asset} is none of: {}", self.assets.join(", "));
            return Err(malformed("TokenNotListed", message).of("token"));
        }
        let agent = own.settled(request).await?;
        let (amount, paid_at) = own.paid(request, &agent).await?;
        require_payer(request, &agent)?;
        let settled = Settled {
            key: format!("{}:{}:{}", request.dedupe_key, own.network, request.payer),
            agent: format!("{} {}", request.registry, request.mint),
            payer: format!("{}:{}", own.network, request.payer),
            asset,
            amount,
            decimals: own.decimals(&request.token).await?,
            paid_at,
        };
        if let Some(other) = self.store.record_settled(settled.clone()).await? {
            let message = format!("the payment counts for {other} already");
            return Err(malformed("CountedElsewhere", message).of("agentId"));
        }
        Ok(settled)
    }
}

/// What is asked for: one agent, and a span of time.
struct Question {
    registry: String,
    agent_id: String,
    window: &'static str,
    from: u64,
    to: u64,
}

impl Question {
    /// `?agentRegistry=…&agentId=…&window=day|week&end=` unix seconds; without an end, the last midnight (UTC).
    fn read(query: &str, now: u64) -> Result<Self, Refusal> {
        let url = Url::parse(&format!("http://localhost/?{query}"));
        let url = url.map_err(|_| malformed("MalformedField", "the query cannot be read"))?;
        let pairs: BTreeMap<String, String> = url.query_pairs().into_owned().collect();
        let member = |name: &str| {
            let found = pairs.get(name).cloned();
            found.ok_or_else(|| malformed("FieldMissing", "is required and missing").of(name))
        };
        let registry = member("agentRegistry")?;
        AccountId::parse(&registry).map_err(|error| {
            malformed(error.class().name(), error.to_string()).of("agentRegistry")
        })?;
        let (window, seconds) = match &*member("window")? {
            "day" => ("day", DAY),
            "week" => ("week", 7 * DAY),
            _ => return Err(malformed("MalformedField", "expected day or week").of("window")),
        };
        let to = match pairs.get("end") {
            None => now - now % DAY,
            Some(end) => end
                .parse()
                .map_err(|_| malformed("MalformedNumber", "expected unix seconds").of("end"))?,
        };
        let from = to.checked_sub(seconds).ok_or_else(|| {
            malformed("MalformedNumber", "the window begins before 1970").of("end")
        })?;
        Ok(Self {
            agent_id: member("agentId")?,
            registry,
            window,
            from,
            to,
        })
    }
}

async fn revenues_of(State(revenues): State<Arc<Revenues>>, RawQuery(query): RawQuery) -> Response {
    let now = now();
    let found = Question::read(&query.unwrap_or_default(), now).and_then(|question| {
        let agent = format!("{} {}", question.registry, question.agent_id);
        let settled = revenues.store.settled(&agent, question.from, question.to)?;
        Ok((question, settled))
    });
    match found {
        Ok((question, settled)) => respond(StatusCode::OK, &answer(&question, &settled, now)),
        Err(refusal) => refused(&refusal),
    }
}

/// A sum for each token: amounts of different tokens are not added.
fn answer(question: &Question, settled: &[Settled], now: u64) -> Value {
    let mut by_asset: BTreeMap<(&str, u8), Vec<&Settled>> = BTreeMap::new();
    for one in settled {
        by_asset
            .entry((&one.asset, one.decimals))
            .or_default()
            .push(one);
    }
    let sums = by_asset.into_iter().map(|((asset, decimals), payments)| {
        let amount: u128 = payments.iter().map(|it| u128::from(it.amount)).sum();
        let mut payers: Vec<&str> = payments.iter().map(|it| &*it.payer).collect();
        payers.sort_unstable();
        payers.dedup();
        json!({
            "asset": asset,
            "payments": payments.len(),
            "payers": payers.len(),
            "amount": amount.to_string(),
            "signal": {
                "tag1": TAG,
                "tag2": question.window,
                "value": amount.to_string(),
                "valueDecimals": decimals,
            },
        })
    });
    json!({
        "agentRegistry": question.registry,
        "agentId": question.agent_id,
        "window": { "name": question.window, "from": question.from, "to": question.to },
        "isComplete": question.to <= now,
        "revenues": sums.collect::<Vec<Value>>(),
    })
}
