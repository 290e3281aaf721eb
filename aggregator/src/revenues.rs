//! What agents earned, as far as this operator settled it: what a watchtower publishes as `revenues` (R60). Each payment was
//! read from the chain before it counts.

use std::{collections::BTreeMap, sync::Arc};

use alloy::{primitives::U256, transports::http::reqwest::Url};
use axum::{
    Router,
    body::Body,
    extract::{RawQuery, State},
    http::StatusCode,
    response::Response,
    routing::{get, post},
};
use concord_files::RegistrationId;
use serde_json::{Value, json};

use crate::{
    Code, EvmSettler, Facilitator, Refusal,
    admission::is_same_account,
    form::malformed,
    http::{read, refused, respond},
    lane::now,
    policy::DAY,
    settler::{PaymentReport, Settler, registration},
    store::{Settled, Store},
};

/// The tag of a signal (BP).
const TAG: &str = "revenues";

/// Records what was settled, and sums it up.
pub struct Revenues {
    /// Keeps the payments.
    pub store: Store,
    /// Say what was settled on Solana.
    pub facilitators: Arc<[Facilitator]>,
    /// Say what was settled on EVM chains.
    pub evm: Vec<EvmSettler>,
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
        let report = PaymentReport::read(&read(body).await?)?;
        revenues.settle(&report).await
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
    async fn settle(&self, report: &PaymentReport) -> Result<Settled, Refusal> {
        let own = self.settler(&report.agent.agent_registry)?;
        let asset = format!("{}:{}", report.network, report.token);
        if !self.assets.iter().any(|it| is_same_account(it, &asset)) {
            let message = format!("{asset} is none of: {}", self.assets.join(", "));
            return Err(malformed("TokenNotListed", message).of("token"));
        }
        let settled = own.settled(report).await?;
        if let Some(other) = self.store.record_settled(settled.clone()).await? {
            let message = format!("the payment counts for {other} already");
            return Err(malformed("CountedElsewhere", message).of("agentId"));
        }
        Ok(settled)
    }

    fn settler(&self, registry: &str) -> Result<&dyn Settler, Refusal> {
        let on_solana = self.facilitators.iter().map(|it| it as &dyn Settler);
        let on_evm = self.evm.iter().map(|it| it as &dyn Settler);
        let mut all = on_solana.chain(on_evm);
        let own = all.find(|it| is_same_account(&it.registry(), registry));
        own.ok_or_else(|| {
            let message = format!("nothing is settled for agents of {registry} here");
            Refusal::new(Code::UnknownAgent, "RegistryNotServed", message).of("agentRegistry")
        })
    }
}

/// What is asked for: one agent, and a span of time.
struct Question {
    agent: RegistrationId,
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
        let agent = registration(&registry, &member("agentId")?)?;
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
            agent,
            window,
            from,
            to,
        })
    }
}

async fn revenues_of(State(revenues): State<Arc<Revenues>>, RawQuery(query): RawQuery) -> Response {
    let now = now();
    let found = Question::read(&query.unwrap_or_default(), now).and_then(|question| {
        let RegistrationId {
            agent_registry,
            agent_id,
        } = &question.agent;
        // as the settler writes it: EVM addresses have no case
        let registry = revenues.settler(agent_registry)?.registry();
        let agent = format!("{registry} {agent_id}");
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
        let amounts = payments.iter().map(|it| U256::from(it.amount));
        let amount = amounts.fold(U256::ZERO, U256::saturating_add);
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
        "agentRegistry": question.agent.agent_registry,
        "agentId": question.agent.agent_id.as_str(),
        "window": { "name": question.window, "from": question.from, "to": question.to },
        "isComplete": question.to <= now,
        "revenues": sums.collect::<Vec<Value>>(),
    })
}
