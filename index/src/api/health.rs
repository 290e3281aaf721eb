//! `/livez`, `/readyz`, `/metrics` and `/v1/status`.
use super::{Api, ApiError, Json, metrics::label, render};
use crate::store::{Deployed, DeploymentId, Engine, Reorganizations, Store};
use axum::{
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};
use std::{fmt::Write as _, sync::Arc};

/// `GET /livez`: the process answers.
pub(super) async fn live() -> &'static str {
    "ok\n"
}

/// `GET /readyz`: the store can be read, and each deployment has a block.
pub(super) async fn ready<E: Engine + 'static>(
    State(api): State<Arc<Api<E>>>,
) -> Result<Response, ApiError> {
    let found = api.readers.read_beside(statuses).await?;
    let is_ready = !found.is_empty() && found.iter().all(|it| it.block.is_some());
    let status = if is_ready {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    let body = Json::of(&json!({ "ready": is_ready, "deployments": rendered(&found) }));
    Ok((status, body).into_response())
}

/// `GET /v1/status`: how far each deployment is, and how much is missing (R46).
pub(super) async fn status<E: Engine + 'static>(
    State(api): State<Arc<Api<E>>>,
) -> Result<Json, ApiError> {
    let found = api.readers.read(statuses).await?;
    Ok(Json::of(&json!({ "deployments": rendered(&found) })))
}

/// `GET /metrics`, in Prometheus's text format.
pub(super) async fn metrics<E: Engine + 'static>(
    State(api): State<Arc<Api<E>>>,
) -> Result<Response, ApiError> {
    let found = api.readers.read_beside(statuses).await?;
    let mut text = api.metrics.text();
    gauges(&mut text, &found);
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, kind)], text).into_response())
}

/// Reorganizations that an answer has, of each deployment.
pub(crate) const NEWEST: u32 = 20;

struct Status {
    deployed: Deployed,
    block: Option<u64>,
    block_time: Option<i64>,
    final_block: Option<u64>,
    agents: u64,
    incomplete: u64,
    missing_ids: u64,
    undecoded: u64,
    unknown: u64,
    reorganizations: Reorganizations,
    unread: u64,
    differences: Vec<(String, u64)>,
}

/// How far each deployment is now.
fn statuses<E: Engine>(store: &mut Store<E>) -> Result<Vec<Status>, ApiError> {
    let mut found = Vec::new();
    for deployed in store.deployments()? {
        let id: DeploymentId = deployed.id;
        let cursor = store.cursor(id)?;
        found.push(Status {
            block: cursor.map(|it| it.head.number),
            block_time: cursor.map(|it| it.head.time),
            final_block: cursor.and_then(|it| it.final_number),
            agents: store.agent_count(id)?,
            incomplete: store.incomplete_count(id)?,
            missing_ids: store.missing_ids(id)?,
            undecoded: store.undecoded_count(id)?,
            unknown: store.unknown_count(id)?,
            reorganizations: store.reorganizations(id, NEWEST)?,
            unread: store.unread_count(id)?,
            differences: store.difference_counts(id)?,
            deployed,
        });
    }
    Ok(found)
}

fn rendered(found: &[Status]) -> Value {
    let statuses = found.iter().map(|it| {
        json!({
            "chain": it.deployed.chain,
            "registry": it.deployed.registry,
            "block": it.block,
            "blockTime": it.block_time,
            "finalBlock": it.final_block,
            "agents": it.agents,
            "incompleteAgents": it.incomplete,
            "missingAgentIds": it.missing_ids,
            "undecodedEvents": it.undecoded,
            "unknownEvents": it.unknown,
            // R45
            "stateUnread": it.unread,
            "stateDifferences": differences(it),
            "reorganizations": render::reorganizations(&it.deployed.chain, &it.reorganizations),
        })
    });
    statuses.collect()
}

/// How many differences there are between state and events, by subject.
fn differences(of: &Status) -> Value {
    let counts = of.differences.iter();
    let counts = counts.map(|(field, count)| (field.clone(), json!(count)));
    Value::Object(counts.collect())
}

fn gauges(text: &mut String, found: &[Status]) {
    type Read = fn(&Status) -> Option<i64>;
    let gauges: [(&str, &str, Read); 10] = [
        ("block", "The last block that is indexed.", |it| {
            it.block.map(u64::cast_signed)
        }),
        ("block_time_seconds", "Its time.", |it| it.block_time),
        ("agents", "Agents.", |it| Some(it.agents.cast_signed())),
        (
            "incomplete_agents",
            "Agents of which events are missing (R46).",
            |it| Some(it.incomplete.cast_signed()),
        ),
        (
            "missing_agent_ids",
            "Ids between the first and the last agent that no event names (R46).",
            |it| Some(it.missing_ids.cast_signed()),
        ),
        (
            "undecoded_events",
            "Events whose bytes this version cannot decode (R46).",
            |it| Some(it.undecoded.cast_signed()),
        ),
        (
            "unknown_events",
            "Events of later versions of the registries, which this version does not know.",
            |it| Some(it.unknown.cast_signed()),
        ),
        (
            "reorganizations",
            "Reorganizations since the store was made.",
            |it| Some(it.reorganizations.count.cast_signed()),
        ),
        (
            "state_differences",
            "Where the registries' state differs from their events, and won (R45).",
            |it| {
                let counts = it.differences.iter().map(|(_, count)| count);
                Some(counts.sum::<u64>().cast_signed())
            },
        ),
        (
            "state_unread",
            "Agents and clients whose state is still to be compared with events.",
            |it| Some(it.unread.cast_signed()),
        ),
    ];
    for (name, help, read) in gauges {
        let name = format!("concord_index_{name}");
        // A String takes any text.
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} gauge");
        for status in found {
            if let Some(value) = read(status) {
                let chain = label(&status.deployed.chain);
                let registry = label(&status.deployed.registry);
                let labels = format!("chain=\"{chain}\",registry=\"{registry}\"");
                let _ = writeln!(text, "{name}{{{labels}}} {value}");
            }
        }
    }
}
