//! `/v1/feedback`: BP's `searchFeedback`, one feedback with its responses, and what an agent gave.
use super::{
    Api, ApiError, Json, Limits,
    agents::{OPTIONS, PageOptions, agents},
    cursor,
    item::FeedbackItem,
    names::{Directory, account, accounts, excerpt, profile},
    render,
    request::{self, Bound, Chain, Path, page_size, require_known, require_short, typed, value_of},
    responses,
    room::Items,
};
use crate::{
    query::{
        AgentFilter, AgentOrder, AgentQuery, Bounds, FeedbackFilter, FeedbackQuery, FoundFeedback,
        keep, of_rows,
    },
    store::{DeploymentId, Engine, Store},
    table::FeedbackKey,
};
use axum::{body::Body, extract::State, http::Uri};
use concord_registry::event::{AccountId, AgentId};
use serde::Deserialize;
use serde_json::{Value, json};
use std::{collections::BTreeMap, sync::Arc};

/// BP's and agent0's filters that the chain alone answers, and ours.
pub(super) const FILTERS: &[&str] = &[
    "chains",
    "agentId",
    "agents",
    "reviewers",
    "tags",
    "tag",
    "tag1",
    "tag2",
    "minValue",
    "maxValue",
    "includeRevoked",
    "hasResponse",
    "paymentProven",
    "profile",
];

/// Agents that are named as those of one rater. Anyone can register many with one wallet; `/v1/raters` lists them all.
const RATERS: usize = 20;

/// agent0's filters on feedback files.
pub(super) const FILE_FILTERS: &[&str] = &["capabilities", "skills", "tasks", "names"];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Filters {
    #[serde(default)]
    chains: Vec<Chain>,
    agent_id: Option<String>,
    #[serde(default)]
    agents: Vec<String>,
    #[serde(default)]
    reviewers: Vec<String>,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default)]
    tag: String,
    #[serde(default)]
    tag1: String,
    #[serde(default)]
    tag2: String,
    min_value: Option<Bound>,
    max_value: Option<Bound>,
    #[serde(default)]
    include_revoked: bool,
    has_response: Option<bool>,
    payment_proven: Option<bool>,
    profile: Option<String>,
}

/// `POST /v1/feedback/search`.
pub(super) async fn search<E: Engine + 'static>(
    State(api): State<Arc<Api<E>>>,
    body: Body,
) -> Result<Json, ApiError> {
    let body = request::body(body, &api.limits).await?;
    require_known(&body, "the body", &["filters", "options"])?;
    let none = json!({});
    let filters = body.get("filters").unwrap_or(&none).clone();
    let options = body.get("options").unwrap_or(&none);
    let known: Vec<&str> = OPTIONS.iter().copied().filter(|it| *it != "sort").collect();
    require_known(options, "options", &known)?;
    let options: PageOptions = typed(options, "options")?;
    if let Value::Object(members) = &filters
        && let Some(name) = members
            .keys()
            .find(|it| FILE_FILTERS.contains(&it.as_str()))
    {
        let name = format!("filters.{name}");
        return Err(ApiError::Unavailable { name });
    }
    require_known(&filters, "filters", FILTERS)?;
    let limits = api.limits;
    let answer = move |store: &mut Store<E>| {
        let directory = Directory::read(store)?;
        let search = format!("feedback {filters}");
        let query = FeedbackQuery {
            deployments: deployments(&directory, &filters, &limits)?,
            after: cursor::read(&search, options.cursor.as_deref())?,
            limit: page_size(options.page_size, &limits)?,
        };
        page(store, &directory, &query, &search, &limits)
    };
    api.readers.read(answer).await
}

fn deployments(
    directory: &Directory,
    value: &Value,
    limits: &Limits,
) -> Result<Vec<(DeploymentId, FeedbackFilter)>, ApiError> {
    let filters: Filters = typed(value, "filters")?;
    let chains: Vec<String> = filters.chains.iter().map(|it| it.0.clone()).collect();
    let mut searched = directory.on_chains("filters.chains", &chains)?;
    let mut names = filters.agents.clone();
    names.extend(filters.agent_id.clone());
    let of = agents(directory, "filters.agents", &names, limits)?;
    if !names.is_empty() {
        searched.retain(|it| of.contains_key(&it.0));
    }
    let filter = filter(filters, limits)?;
    let with_agents = searched.into_iter().map(|deployment| {
        let agents = of.get(&deployment.0).cloned().unwrap_or_default();
        let filter = FeedbackFilter {
            agents,
            ..filter.clone()
        };
        (deployment, filter)
    });
    Ok(with_agents.collect())
}

fn filter(filters: Filters, limits: &Limits) -> Result<FeedbackFilter, ApiError> {
    require_short("filters.reviewers", &filters.reviewers, limits)?;
    require_short("filters.tags", &filters.tags, limits)?;
    let mut tags = filters.tags;
    if !filters.tag.is_empty() {
        if !tags.is_empty() {
            return Err(ApiError::malformed("filters.tag", "is given beside tags"));
        }
        tags.push(filters.tag);
    }
    let profile = filters.profile.as_deref();
    Ok(FeedbackFilter {
        profile: profile.map(profile_of).transpose()?,
        agents: Vec::new(),
        reviewers: accounts("filters.reviewers", &filters.reviewers)?,
        tags,
        tag1: filters.tag1,
        tag2: filters.tag2,
        value: Bounds {
            min: filters.min_value.map(|it| it.0),
            max: filters.max_value.map(|it| it.0),
        },
        include_revoked: filters.include_revoked,
        has_response: filters.has_response,
        is_paid: filters.payment_proven,
    })
}

fn profile_of(text: &str) -> Result<concord_registry::event::Profile, ApiError> {
    profile("filters.profile", text)
}

/// A page, with the agents whose wallets its clients are (BP).
fn page<E: Engine>(
    store: &mut Store<E>,
    directory: &Directory,
    query: &FeedbackQuery,
    search: &str,
    limits: &Limits,
) -> Result<Json, ApiError> {
    let mut page = store.search_feedback(query)?;
    let raters = raters(store, directory, &page.rows)?;
    let files = of_rows(&page.rows, |deployment, rows| {
        let files = store.evidence_of(deployment, rows.iter().map(|it| &it.key))?;
        store.with_fetchings(deployment, files, |it| it.file)
    })?;
    let mut items = Items::of(limits.bytes);
    for (found, file) in page.rows.iter().zip(&files) {
        let (deployment, key) = (found.deployment, &found.key);
        let evidence = file.as_ref().map(|(evidence, _)| evidence);
        let authorship = store.authorship(deployment, key, &found.row, evidence)?;
        let agents = raters.get(&(deployment.0, key.client));
        let agents = agents.cloned().unwrap_or_default();
        let item = FeedbackItem::new(directory, found, file.as_ref(), &authorship, agents);
        if !items.add(&item) {
            break;
        }
    }
    keep(&mut page, items.count(), &query.after);
    Ok(items.page(cursor::write(search, &page.next).as_deref()))
}

/// The names of agents, by the wallet that is a client in a deployment.
type Raters = BTreeMap<(i64, AccountId), Vec<String>>;

fn raters<E: Engine>(
    store: &mut Store<E>,
    directory: &Directory,
    rows: &[FoundFeedback],
) -> Result<Raters, ApiError> {
    let mut clients: BTreeMap<i64, Vec<AccountId>> = BTreeMap::new();
    for found in rows {
        let of = clients.entry(found.deployment.0).or_default();
        of.push(found.key.client);
    }
    let mut raters = Raters::new();
    for (deployment, mut clients) in clients {
        clients.sort_unstable();
        clients.dedup();
        let id = DeploymentId(deployment);
        let found = store.agents_by_wallet(id, &clients, RATERS)?;
        raters.extend(found.into_iter().map(|(client, agents)| {
            let names = agents.into_iter().map(|it| directory.name(id, it));
            ((deployment, client), names.collect())
        }));
    }
    Ok(raters)
}

/// `GET /v1/feedback/{agent}/{profile}/{client}/{index}`. R44: the index counts from 1.
pub(super) async fn one<E: Engine + 'static>(
    State(api): State<Arc<Api<E>>>,
    Path((agent, of, client, index)): Path<(String, String, String, String)>,
    uri: Uri,
) -> Result<Json, ApiError> {
    request::pairs(&uri, &[])?;
    let limits = api.limits;
    let answer = move |store: &mut Store<E>| {
        let directory = Directory::read(store)?;
        let (deployment, id) = directory.agent("agent", &agent)?;
        let key = key_of(id, (&of, &client, &index))?;
        let row = store.feedback(deployment, &key)?;
        let row = row.ok_or_else(|| ApiError::NotFound {
            what: format!(
                "feedback {} by {} about {}",
                key.index,
                key.client,
                excerpt(&agent)
            ),
        })?;
        let found = FoundFeedback {
            deployment,
            key,
            row,
        };
        let files = vec![store.evidence(deployment, &found.key)?];
        let files = store.with_fetchings(deployment, files, |it| it.file)?;
        let file = files[0].as_ref();
        let evidence = file.map(|(evidence, _)| evidence);
        let authorship = store.authorship(deployment, &found.key, &found.row, evidence)?;
        let raters = raters(store, &directory, std::slice::from_ref(&found))?;
        let raters = raters.into_values().flatten().collect();
        let item = FeedbackItem::new(&directory, &found, file, &authorship, raters);
        let mut rendered = json!(item);
        let responses = responses::page(store, (deployment, &key), None, limits.page, &limits)?;
        rendered["responses"] = responses["items"].clone();
        rendered["nextResponses"] = responses["nextCursor"].clone();
        let payment = store.payment(deployment, &key)?;
        rendered["payment"] = payment.as_ref().map_or(Value::Null, render::payment);
        Ok(Json::of(&rendered))
    };
    api.readers.read(answer).await
}

/// Names a feedback by parts of a path: profile, client, index. R44: the index counts from 1.
pub(super) fn key_of(
    agent: AgentId,
    (of, client, index): (&str, &str, &str),
) -> Result<FeedbackKey, ApiError> {
    let index = index.parse().ok().filter(|it: &u64| *it > 0);
    Ok(FeedbackKey {
        profile: profile("profile", of)?,
        agent,
        client: account("client", client)?,
        index: index.ok_or_else(|| ApiError::malformed("index", "counts from 1"))?,
    })
}

/// `GET /v1/agents/{agent}/given`: feedback by the agent's wallet (BP's agent-as-rater).
pub(super) async fn given<E: Engine + 'static>(
    State(api): State<Arc<Api<E>>>,
    Path(name): Path<String>,
    uri: Uri,
) -> Result<Json, ApiError> {
    let pairs = request::pairs(&uri, &["pageSize", "cursor"])?;
    let size = request::number(&pairs, "pageSize")?;
    let limits = api.limits;
    let answer = move |store: &mut Store<E>| {
        let directory = Directory::read(store)?;
        let (deployment, agent) = directory.agent("agent", &name)?;
        let row = store.agent(deployment, agent)?;
        let row = row.ok_or_else(|| ApiError::NotFound {
            what: format!("the agent {:?}", excerpt(&name)),
        })?;
        let Some(wallet) = row.wallet else {
            return Ok(Json::of(&json!({ "items": [], "nextCursor": null })));
        };
        let search = format!("given {} {wallet}", directory.name(deployment, agent));
        let filter = FeedbackFilter {
            reviewers: vec![wallet],
            ..FeedbackFilter::default()
        };
        let query = FeedbackQuery {
            deployments: vec![(deployment, filter)],
            after: cursor::read(&search, value_of(&pairs, "cursor"))?,
            limit: page_size(size, &limits)?,
        };
        page(store, &directory, &query, &search, &limits)
    };
    api.readers.read(answer).await
}

/// `GET /v1/raters/{account}`: the agents that have the account as their wallet.
pub(super) async fn rater<E: Engine + 'static>(
    State(api): State<Arc<Api<E>>>,
    Path(name): Path<String>,
    uri: Uri,
) -> Result<Json, ApiError> {
    let pairs = request::pairs(&uri, &["pageSize", "cursor"])?;
    let size = request::number(&pairs, "pageSize")?;
    let wallet = account("account", &name)?;
    let limits = api.limits;
    let answer = move |store: &mut Store<E>| {
        let directory = Directory::read(store)?;
        let search = format!("rater {wallet}");
        let query = AgentQuery {
            deployments: (directory.0.iter())
                .map(|it| (it.id, with_wallet(wallet)))
                .collect(),
            order: AgentOrder::Created,
            is_descending: false,
            after: cursor::read(&search, value_of(&pairs, "cursor"))?,
            limit: page_size(size, &limits)?,
        };
        let page = store.search_agents(&query)?;
        let agents = page.rows.iter();
        let agents = agents.map(|it| directory.name(it.deployment, it.agent));
        Ok(Json::of(&json!({
            "account": wallet.to_string(),
            "agents": agents.collect::<Vec<_>>(),
            "nextCursor": cursor::write(&search, &page.next),
        })))
    };
    api.readers.read(answer).await
}

fn with_wallet(wallet: AccountId) -> AgentFilter {
    AgentFilter {
        wallets: vec![wallet],
        ..AgentFilter::default()
    }
}
