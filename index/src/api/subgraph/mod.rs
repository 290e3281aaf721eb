//! `/subgraphs/{name}/graphql`: agent0's subgraph over one registry of an EVM chain, so that clients of
//! it work unchanged (R50). It has the open profile only, as the subgraph does; ids count from 1 (R44).
//!
//! A field, filter or argument that is not known is an error that names it, before anything is read.
mod brackets;
mod check;
mod document;
mod error;
mod feedback_file;
mod filter;
mod paging;
mod protocol;
mod scalar;
mod schema;
mod select;

use super::{
    Api, ApiError, Json, Limits,
    names::Directory,
    request::{self, Path},
};
use crate::store::{Engine, Store};
use axum::{body::Body, extract::State};
use check::Root;
use document::Selected;
use error::QueryError;
use scalar::Scope;
use select::Execution;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;

const MEMBERS: [&str; 4] = ["query", "variables", "operationName", "extensions"];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Asked {
    query: String,
    variables: Option<Map<String, Value>>,
    operation_name: Option<String>,
}

/// `POST /subgraphs/{name}/graphql`. The name is the chain's number, its CAIP-2 id, or the registry's
/// CAIP-10 id.
pub(super) async fn query<E: Engine + 'static>(
    State(api): State<Arc<Api<E>>>,
    path: Result<Path<String>, ApiError>,
    body: Body,
) -> Result<Json, QueryError> {
    let Path(name) = path?;
    let limits = api.limits;
    let body = request::body(body, &limits).await?;
    request::require_known(&body, "the body", &MEMBERS)?;
    let asked: Asked = request::typed(&body, "the body")?;
    let variables = asked.variables.unwrap_or_default();
    let selected = document::read(&asked.query, asked.operation_name.as_deref(), &variables)?;
    check::query(&selected, &limits)?;
    // An error of the query is an answer like any other: the connection is as good as before.
    let answer = move |store: &mut Store<E>| Ok(execute(store, &name, &selected, limits));
    let answered = api.readers.read(answer).await?;
    Ok(Json::of(&json!({ "data": answered? })))
}

fn execute<E: Engine>(
    store: &mut Store<E>,
    name: &str,
    selected: &[Selected],
    limits: Limits,
) -> Result<Value, QueryError> {
    let scope = scope(&Directory::read(store)?, name)?;
    let mut execution = Execution::new(store, &scope, limits);
    let mut data = Map::new();
    for field in selected {
        require_now(execution.store, &scope, field)?;
        let value = match Root::of(&field.name) {
            Some(Root::TypeName) => json!("Query"),
            Some(Root::One(entity)) => execution.one(entity, field)?,
            Some(Root::Many(entity)) => execution.page(entity, field)?,
            Some(Root::Computed(computed, false)) => execution.computed(computed, field)?,
            Some(Root::Computed(computed, true)) => {
                if paging::has_first(&field.arguments)? {
                    json!([execution.computed(computed, field)?])
                } else {
                    json!([])
                }
            }
            None => return Err(QueryError::no_field("Query", &field.name)),
        };
        data.insert(field.key.clone(), value);
    }
    Ok(Value::Object(data))
}

/// The registry that a subgraph is about.
fn scope(directory: &Directory, name: &str) -> Result<Scope, QueryError> {
    let named = if name.contains(':') {
        name.to_owned()
    } else {
        format!("eip155:{name}")
    };
    let not_found = || ApiError::NotFound {
        what: format!("the subgraph {:?}", super::names::excerpt(name)),
    };
    let Some(rest) = named.strip_prefix("eip155:") else {
        return Err(not_found().into()); // agent0's ids have the numbers of EVM chains
    };
    let (chain, registry) = match rest.split_once(':') {
        Some((chain, registry)) => (chain, Some(registry)),
        None => (rest, None),
    };
    let of = format!("eip155:{chain}");
    let mut found = directory.0.iter().filter(|it| {
        it.chain == of && registry.is_none_or(|registry| it.registry.eq_ignore_ascii_case(registry))
    });
    match (found.next(), found.next()) {
        (Some(it), None) => Ok(Scope {
            deployment: it.id,
            chain: chain.to_owned(),
        }),
        (None, _) => Err(not_found().into()),
        _ => {
            let message = format!("{of} has several registries here: name one as {of}:0x…");
            Err(QueryError::new(message))
        }
    }
}

/// `block`: only the last state is kept.
fn require_now<E: Engine>(
    store: &mut Store<E>,
    scope: &Scope,
    field: &Selected,
) -> Result<(), QueryError> {
    let Some(block) = field.arguments.get("block").filter(|it| !it.is_null()) else {
        return Ok(());
    };
    let head = store.cursor(scope.deployment)?.map(|it| it.head);
    let (number, hash) = head.map_or((0, [0; 32]), |it| (it.number, it.hash));
    let hash = format!("0x{}", hex::encode(hash));
    let is_of_now = |(name, value): (&String, &Value)| match name.as_str() {
        "number" => value.as_u64() == Some(number),
        "number_gte" => value.as_u64().is_some_and(|least| least <= number),
        "hash" => (value.as_str()).is_some_and(|it| it.eq_ignore_ascii_case(&hash)),
        _ => false,
    };
    let members = block.as_object().filter(|it| !it.is_empty());
    let is_now = members.is_some_and(|it| it.iter().all(is_of_now));
    if is_now {
        Ok(())
    } else {
        let message = format!(
            "block: {}: only the state at block {number} is kept",
            super::names::excerpt(&block.to_string())
        );
        Err(QueryError::at(message, field.at))
    }
}
