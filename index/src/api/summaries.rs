//! `/v1/summaries`: summaries that equal the chain's to the digit (R47), of reviewers that the caller
//! names, with the facts about these (R48).
use super::{
    Api, ApiError, Json, Limits,
    names::Directory,
    render, reputation,
    request::{self, Path, ReviewerList, require_known, require_short, typed, value_of},
    room::Items,
};
use crate::{
    query::Tags,
    store::{DeploymentId, Engine, Store},
};
use axum::{body::Body, extract::State, http::Uri};
use concord_registry::event::{AccountId, AgentId, Profile};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// The members of a request.
pub(super) const MEMBERS: &[&str] = &[
    "agentIds",
    "clientAddresses",
    "profile",
    "tag",
    "tag1",
    "tag2",
];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Asked {
    #[serde(default)]
    agent_ids: Vec<String>,
    client_addresses: Option<ReviewerList>,
    profile: Option<String>,
    #[serde(default)]
    tag: String,
    #[serde(default)]
    tag1: String,
    #[serde(default)]
    tag2: String,
}

/// Which feedback is summarised.
struct Scope {
    profile: Profile,
    reviewers: Option<Vec<AccountId>>,
    tag: String,
    tag1: String,
    tag2: String,
}

/// `POST /v1/summaries`.
pub(super) async fn many<E: Engine + 'static>(
    State(api): State<Arc<Api<E>>>,
    body: Body,
) -> Result<Json, ApiError> {
    let body = request::body(body, &api.limits).await?;
    require_known(&body, "the body", MEMBERS)?;
    let asked: Asked = typed(&body, "the body")?;
    let names = asked.agent_ids.clone();
    require_short("agentIds", &names, &api.limits)?;
    let scope = scope(asked, &api.limits)?;
    let bytes = api.limits.bytes;
    let answer = move |store: &mut Store<E>| {
        let directory = Directory::read(store)?;
        let mut items = Items::of(bytes);
        for name in &names {
            let of = directory.agent("agentIds", name)?;
            if !items.add(&one_of(store, &directory, of, &scope)?) {
                let reason =
                    format!("the answer has more than {bytes} bytes; ask for fewer agents");
                return Err(ApiError::malformed("agentIds", reason));
            }
        }
        Ok(items.list())
    };
    api.readers.read(answer).await
}

/// `GET /v1/agents/{agent}/summary?clientAddresses=…`: addresses with commas between them, or
/// `everyone`.
pub(super) async fn one<E: Engine + 'static>(
    State(api): State<Arc<Api<E>>>,
    Path(name): Path<String>,
    uri: Uri,
) -> Result<Json, ApiError> {
    let pairs = request::pairs(&uri, &MEMBERS[1..])?;
    let text = |name| value_of(&pairs, name).unwrap_or_default().to_owned();
    let listed = value_of(&pairs, "clientAddresses").filter(|it| !it.is_empty());
    let asked = Asked {
        agent_ids: Vec::new(),
        client_addresses: listed.map(|listed| match listed {
            "everyone" => ReviewerList::Everyone,
            listed => ReviewerList::Listed(listed.split(',').map(str::to_owned).collect()),
        }),
        profile: value_of(&pairs, "profile").map(str::to_owned),
        tag: text("tag"),
        tag1: text("tag1"),
        tag2: text("tag2"),
    };
    let scope = scope(asked, &api.limits)?;
    let answer = move |store: &mut Store<E>| {
        let directory = Directory::read(store)?;
        let of = directory.agent("agent", &name)?;
        Ok(Json::of(&one_of(store, &directory, of, &scope)?))
    };
    api.readers.read(answer).await
}

fn scope(asked: Asked, limits: &Limits) -> Result<Scope, ApiError> {
    let reviewers = asked.client_addresses.as_ref();
    let profile = asked.profile.as_deref();
    Ok(Scope {
        reviewers: reputation::reviewers(reviewers, "clientAddresses", limits)?,
        profile: match profile {
            None => Profile::Open,
            Some(text) => super::names::profile("profile", text)?,
        },
        tag: asked.tag,
        tag1: asked.tag1,
        tag2: asked.tag2,
    })
}

fn one_of<E: Engine>(
    store: &mut Store<E>,
    directory: &Directory,
    (deployment, agent): (DeploymentId, AgentId),
    scope: &Scope,
) -> Result<Value, ApiError> {
    let name = directory.name(deployment, agent);
    let row = store.agent(deployment, agent)?;
    let row = row.ok_or_else(|| ApiError::NotFound {
        what: format!("the agent {name}"),
    })?;
    let tags = Tags {
        either: &scope.tag,
        tag1: &scope.tag1,
        tag2: &scope.tag2,
    };
    let (of, reviewers) = ((scope.profile, agent), scope.reviewers.as_deref());
    let sums = store.sums(deployment, of, reviewers, tags)?;
    let facts = store.facts(deployment, of, reviewers, tags)?;
    let listed = reviewers.map(|it| it.iter().map(ToString::to_string).collect::<Vec<_>>());
    Ok(json!({
        "agent": name,
        "profile": super::names::profile_name(scope.profile),
        // R48: every summary states its set.
        "clientAddresses": listed.map_or(json!("everyone"), |it| json!(it)),
        "tag": scope.tag,
        "tag1": scope.tag1,
        "tag2": scope.tag2,
        "summary": render::summary(scope.profile, &sums)?,
        "facts": render::facts(&facts),
        "incomplete": row.is_incomplete(), // R46
    }))
}
