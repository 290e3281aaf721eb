//! `/v1/agents/…/metadata`: an owner can set any number of keys, with values as long as a transaction.
use super::{
    Api, ApiError, Json, Limits, cursor,
    names::{Directory, excerpt},
    render,
    request::{self, Path, page_size, value_of},
    room::{self, Room},
};
use crate::{
    store::{DeploymentId, Engine, Store},
    table::MetadataKey,
};
use axum::{extract::State, http::Uri};
use concord_registry::event::AgentId;
use serde_json::Value;
use std::sync::Arc;

/// `GET /v1/agents/{agent}/metadata`.
pub(super) async fn of_agent<E: Engine + 'static>(
    State(api): State<Arc<Api<E>>>,
    Path(name): Path<String>,
    uri: Uri,
) -> Result<Json, ApiError> {
    let pairs = request::pairs(&uri, &["pageSize", "cursor"])?;
    let size = request::number(&pairs, "pageSize")?;
    let limits = api.limits;
    let limit = page_size(size, &limits)?;
    let answer = move |store: &mut Store<E>| {
        let directory = Directory::read(store)?;
        let (deployment, agent) = directory.agent("agent", &name)?;
        if store.agent(deployment, agent)?.is_none() {
            let what = format!("the agent {:?}", excerpt(&name));
            return Err(ApiError::NotFound { what });
        }
        let cursor = value_of(&pairs, "cursor");
        page(store, (deployment, agent), cursor, limit, &limits).map(|page| Json::of(&page))
    };
    api.readers.read(answer).await
}

/// A page. Keys can be longer than an index's entries, so pages follow the keys' hashes; within one, entries follow
/// their keys.
pub(super) fn page<E: Engine>(
    store: &mut Store<E>,
    (deployment, agent): (DeploymentId, AgentId),
    cursor: Option<&str>,
    limit: usize,
    limits: &Limits,
) -> Result<Value, ApiError> {
    let search = format!("metadata {} {agent}", deployment.0);
    let after: Option<MetadataKey> = cursor::read(&search, cursor)?.pop();
    let rows = store.metadata_after(deployment, agent, after, limit.saturating_add(1))?;
    let mut room = Room::of(limits.bytes);
    let mut items = Vec::new();
    let mut last = None;
    for row in rows.iter().take(limit) {
        let item = render::metadata(row);
        if !room.takes(&item) {
            break;
        }
        last = Some(row.0.clone());
        items.push((&row.1.key, item));
    }
    let next: Vec<MetadataKey> = last
        .filter(|_| items.len() < rows.len())
        .into_iter()
        .collect();
    items.sort_by_key(|(key, _)| *key);
    let items: Vec<Value> = items.into_iter().map(|(_, item)| item).collect();
    Ok(room::page(items, cursor::write(&search, &next)))
}
