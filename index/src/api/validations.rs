//! Validations of an agent, and by a validator.
use super::{
    Api, ApiError, Json, Limits, cursor,
    names::{Directory, account, excerpt},
    render,
    request::{self, Path, number, page_size, truth, value_of},
    room::{self, Room},
};
use crate::{
    query::ValidationQuery,
    store::{Engine, Store},
};
use axum::{extract::State, http::Uri};
use std::sync::Arc;

const PAGE: &[&str] = &["answered", "pageSize", "cursor"];
/// The members of a query by validator.
pub(super) const MEMBERS: &[&str] = &["chain", "validator", "answered", "pageSize", "cursor"];

/// `GET /v1/agents/{agent}/validations`.
pub(super) async fn of_agent<E: Engine + 'static>(
    State(api): State<Arc<Api<E>>>,
    Path(name): Path<String>,
    uri: Uri,
) -> Result<Json, ApiError> {
    let pairs = request::pairs(&uri, PAGE)?;
    let (size, is_answered) = (number(&pairs, "pageSize")?, truth(&pairs, "answered")?);
    let limits = api.limits;
    let limit = page_size(size, &limits)?;
    let answer = move |store: &mut Store<E>| {
        let directory = Directory::read(store)?;
        let (deployment, agent) = directory.agent("agent", &name)?;
        if store.agent(deployment, agent)?.is_none() {
            let what = format!("the agent {:?}", excerpt(&name));
            return Err(ApiError::NotFound { what });
        }
        let search = format!("validations {name} {is_answered:?}");
        let query = ValidationQuery {
            deployment,
            agent: Some(agent),
            validator: None,
            is_answered,
            after: cursor::read(&search, value_of(&pairs, "cursor"))?.pop(),
            limit,
        };
        page(store, &directory, &query, &search, &limits)
    };
    api.readers.read(answer).await
}

/// `GET /v1/validations?chain=…&validator=…`. A chain with several registries is named with one of them.
pub(super) async fn by_validator<E: Engine + 'static>(
    State(api): State<Arc<Api<E>>>,
    uri: Uri,
) -> Result<Json, ApiError> {
    let pairs = request::pairs(&uri, MEMBERS)?;
    let (size, is_answered) = (number(&pairs, "pageSize")?, truth(&pairs, "answered")?);
    let limits = api.limits;
    let limit = page_size(size, &limits)?;
    let missing = |name: &str| ApiError::malformed(name, "is required");
    let chain = value_of(&pairs, "chain").ok_or_else(|| missing("chain"))?;
    let chain = chain.to_owned();
    let validator = value_of(&pairs, "validator").ok_or_else(|| missing("validator"))?;
    let validator = account("validator", validator)?;
    let answer = move |store: &mut Store<E>| {
        let directory = Directory::read(store)?;
        let deployment = directory.on_chain("chain", &chain)?;
        let search = format!("validations {chain} {validator} {is_answered:?}");
        let query = ValidationQuery {
            deployment,
            agent: None,
            validator: Some(validator),
            is_answered,
            after: cursor::read(&search, value_of(&pairs, "cursor"))?.pop(),
            limit,
        };
        page(store, &directory, &query, &search, &limits)
    };
    api.readers.read(answer).await
}

fn page<E: Engine>(
    store: &mut Store<E>,
    directory: &Directory,
    query: &ValidationQuery,
    search: &str,
    limits: &Limits,
) -> Result<Json, ApiError> {
    let mut page = store.search_validations(query)?;
    let mut room = Room::of(limits.bytes);
    let mut items = Vec::with_capacity(page.rows.len());
    for (key, row) in &page.rows {
        let name = directory.name(query.deployment, key.agent);
        let item = render::validation(&name, key, row);
        if !room.takes(&item) {
            break;
        }
        items.push(item);
    }
    if items.len() < page.rows.len() {
        page.rows.truncate(items.len());
        page.next = page.rows.last().map(|(key, _)| *key).into_iter().collect();
    }
    let next = cursor::write(search, &page.next);
    Ok(Json::of(&room::page(items, next)))
}
