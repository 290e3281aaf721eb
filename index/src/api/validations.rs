//! Validations of an agent, and by a validator.
use super::{
    Api, ApiError, Json, cursor,
    names::{Directory, account, excerpt},
    render,
    request::{self, number, page_size, truth, value_of},
};
use crate::{
    query::ValidationQuery,
    store::{DeploymentId, Engine, Store},
};
use axum::{
    extract::{Path, State},
    http::Uri,
};
use serde_json::{Value, json};
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
    let limit = page_size(size, &api.limits)?;
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
        page(store, &directory, &query, &search)
    };
    api.readers.read(answer).await
}

/// `GET /v1/validations?chain=…&validator=…`.
pub(super) async fn by_validator<E: Engine + 'static>(
    State(api): State<Arc<Api<E>>>,
    uri: Uri,
) -> Result<Json, ApiError> {
    let pairs = request::pairs(&uri, MEMBERS)?;
    let (size, is_answered) = (number(&pairs, "pageSize")?, truth(&pairs, "answered")?);
    let limit = page_size(size, &api.limits)?;
    let missing = |name: &str| ApiError::malformed(name, "is required");
    let chain = value_of(&pairs, "chain").ok_or_else(|| missing("chain"))?;
    let chain = chain.to_owned();
    let validator = value_of(&pairs, "validator").ok_or_else(|| missing("validator"))?;
    let validator = account("validator", validator)?;
    let answer = move |store: &mut Store<E>| {
        let directory = Directory::read(store)?;
        let found = directory.on_chains("chain", std::slice::from_ref(&chain))?;
        let deployment: DeploymentId = match found.as_slice() {
            [one] => *one,
            _ => return Err(ApiError::malformed("chain", "has several registries here")),
        };
        let search = format!("validations {chain} {validator} {is_answered:?}");
        let query = ValidationQuery {
            deployment,
            agent: None,
            validator: Some(validator),
            is_answered,
            after: cursor::read(&search, value_of(&pairs, "cursor"))?.pop(),
            limit,
        };
        page(store, &directory, &query, &search)
    };
    api.readers.read(answer).await
}

fn page<E: Engine>(
    store: &mut Store<E>,
    directory: &Directory,
    query: &ValidationQuery,
    search: &str,
) -> Result<Json, ApiError> {
    let page = store.search_validations(query)?;
    let items: Vec<Value> = (page.rows.iter())
        .map(|(key, row)| {
            let name = directory.name(query.deployment, key.agent);
            render::validation(&name, key, row)
        })
        .collect();
    Ok(Json(json!({
        "items": items,
        "nextCursor": cursor::write(search, &page.next),
    })))
}
