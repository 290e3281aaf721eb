//! `/v1/feedback/…/responses`: anyone can append any number of them.
use super::{
    Api, ApiError, Json, Limits, cursor,
    feedback::key_of,
    names::{Directory, excerpt},
    render,
    request::{self, Path, page_size, value_of},
    room::{self, Room},
};
use crate::{
    store::{DeploymentId, Engine, Store},
    table::FeedbackKey,
};
use axum::{extract::State, http::Uri};
use serde_json::Value;
use std::sync::Arc;

/// `GET /v1/feedback/{agent}/{profile}/{client}/{index}/responses`.
pub(super) async fn of_feedback<E: Engine + 'static>(
    State(api): State<Arc<Api<E>>>,
    Path((agent, of, client, index)): Path<(String, String, String, String)>,
    uri: Uri,
) -> Result<Json, ApiError> {
    let pairs = request::pairs(&uri, &["pageSize", "cursor"])?;
    let size = request::number(&pairs, "pageSize")?;
    let limits = api.limits;
    let limit = page_size(size, &limits)?;
    let answer = move |store: &mut Store<E>| {
        let directory = Directory::read(store)?;
        let (deployment, id) = directory.agent("agent", &agent)?;
        let key = key_of(id, (&of, &client, &index))?;
        if store.feedback(deployment, &key)?.is_none() {
            let what = format!(
                "feedback {} by {} about {}",
                key.index,
                key.client,
                excerpt(&agent)
            );
            return Err(ApiError::NotFound { what });
        }
        let cursor = value_of(&pairs, "cursor");
        page(store, (deployment, &key), cursor, limit, &limits).map(|page| Json::of(&page))
    };
    api.readers.read(answer).await
}

/// A page, the first response first.
pub(super) fn page<E: Engine>(
    store: &mut Store<E>,
    (deployment, key): (DeploymentId, &FeedbackKey),
    cursor: Option<&str>,
    limit: usize,
    limits: &Limits,
) -> Result<Value, ApiError> {
    let search = format!("responses {} {key:?}", deployment.0);
    let after: Option<u64> = cursor::read(&search, cursor)?.pop();
    let rows = store.responses_after(deployment, key, after, limit.saturating_add(1))?;
    let mut room = Room::of(limits.bytes);
    let mut items = Vec::new();
    let mut last = None;
    for row in rows.iter().take(limit) {
        let item = render::response(row);
        if !room.takes(&item) {
            break;
        }
        last = Some(row.0.number);
        items.push(item);
    }
    let next: Vec<u64> = last
        .filter(|_| items.len() < rows.len())
        .into_iter()
        .collect();
    Ok(room::page(items, cursor::write(&search, &next)))
}
