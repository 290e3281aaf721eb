//! `/v1/agents`: BP's `searchAgents`, and one agent.
use super::{
    Api, ApiError, Json, Limits, cursor, metadata,
    names::{Directory, accounts, excerpt},
    render, reputation,
    request::{self, Chain, Path, page_size, require_known, require_short, require_within, typed},
    room::{self, Room},
};
use crate::{
    query::{
        AgentFilter, AgentOrder, AgentQuery, FileFilter, ListField, Service, TextField, keep,
        of_rows,
    },
    store::{DeploymentId, Engine, Store},
    table::Agent,
};
use axum::{body::Body, extract::State, http::Uri};
use concord_registry::event::{AccountId, AgentId};
use serde::Deserialize;
use serde_json::{Value, json};
use std::{collections::BTreeMap, sync::Arc};

/// BP's and agent0's filters, and `incomplete` (R46).
pub(super) const FILTERS: &[&str] = &[
    "chains",
    "agentIds",
    "owners",
    "operators",
    "walletAddress",
    "wallets",
    "registeredAtFrom",
    "registeredAtTo",
    "updatedAtFrom",
    "updatedAtTo",
    "hasAgentURI",
    "hasMetadataKey",
    "metadataValue",
    "incomplete",
    "active",
    "x402support",
    "hasRegistrationFile",
    "hasMCP",
    "hasA2A",
    "hasWeb",
    "hasOASF",
    "hasEndpoints",
    "name",
    "description",
    "keyword",
    "mcpContains",
    "a2aContains",
    "webContains",
    "ensContains",
    "didContains",
    "supportedTrust",
    "a2aSkills",
    "mcpTools",
    "mcpPrompts",
    "mcpResources",
    "oasfSkills",
    "oasfDomains",
    "feedback",
];

/// BP's `options`.
pub(super) const OPTIONS: &[&str] = &["sort", "pageSize", "cursor"];

/// What agents can be sorted by.
pub(super) const ORDERS: &[(&str, AgentOrder)] = &[
    ("createdAt", AgentOrder::Created),
    ("updatedAt", AgentOrder::Updated),
    ("totalFeedback", AgentOrder::FeedbackCount),
    ("averageValue", AgentOrder::Average),
    ("count", AgentOrder::Count),
];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Filters {
    #[serde(default)]
    chains: Vec<Chain>,
    #[serde(default)]
    agent_ids: Vec<String>,
    #[serde(default)]
    owners: Vec<String>,
    #[serde(default)]
    operators: Vec<String>,
    wallet_address: Option<String>,
    #[serde(default)]
    wallets: Vec<String>,
    registered_at_from: Option<i64>,
    registered_at_to: Option<i64>,
    updated_at_from: Option<i64>,
    updated_at_to: Option<i64>,
    #[serde(rename = "hasAgentURI")]
    has_agent_uri: Option<bool>,
    has_metadata_key: Option<String>,
    metadata_value: Option<MetadataValue>,
    incomplete: Option<bool>,
    active: Option<bool>,
    x402support: Option<bool>,
    has_registration_file: Option<bool>,
    #[serde(rename = "hasMCP")]
    has_mcp: Option<bool>,
    #[serde(rename = "hasA2A")]
    has_a2a: Option<bool>,
    has_web: Option<bool>,
    #[serde(rename = "hasOASF")]
    has_oasf: Option<bool>,
    has_endpoints: Option<bool>,
    name: Option<String>,
    description: Option<String>,
    keyword: Option<String>,
    mcp_contains: Option<String>,
    a2a_contains: Option<String>,
    web_contains: Option<String>,
    ens_contains: Option<String>,
    did_contains: Option<String>,
    #[serde(default)]
    supported_trust: Vec<String>,
    #[serde(default, rename = "a2aSkills")]
    a2a_skills: Vec<String>,
    #[serde(default)]
    mcp_tools: Vec<String>,
    #[serde(default)]
    mcp_prompts: Vec<String>,
    #[serde(default)]
    mcp_resources: Vec<String>,
    #[serde(default)]
    oasf_skills: Vec<String>,
    #[serde(default)]
    oasf_domains: Vec<String>,
    feedback: Option<Value>,
}

impl Filters {
    fn file(&self, limits: &Limits) -> Result<FileFilter, ApiError> {
        let services = [
            (Service::Mcp, self.has_mcp),
            (Service::A2a, self.has_a2a),
            (Service::Web, self.has_web),
            (Service::Oasf, self.has_oasf),
        ];
        let texts = [
            ("name", TextField::Name, &self.name),
            ("description", TextField::Description, &self.description),
            ("mcpContains", TextField::Mcp, &self.mcp_contains),
            ("a2aContains", TextField::A2a, &self.a2a_contains),
            ("webContains", TextField::Web, &self.web_contains),
            ("ensContains", TextField::Ens, &self.ens_contains),
            ("didContains", TextField::Did, &self.did_contains),
        ];
        for (name, _, text) in texts {
            require_short_text(name, text.as_deref(), limits)?;
        }
        require_short_text("keyword", self.keyword.as_deref(), limits)?;
        let lists = [
            ("supportedTrust", ListField::Trust, &self.supported_trust),
            ("a2aSkills", ListField::A2aSkills, &self.a2a_skills),
            ("mcpTools", ListField::McpTools, &self.mcp_tools),
            ("mcpPrompts", ListField::McpPrompts, &self.mcp_prompts),
            ("mcpResources", ListField::McpResources, &self.mcp_resources),
            ("oasfSkills", ListField::OasfSkills, &self.oasf_skills),
            ("oasfDomains", ListField::OasfDomains, &self.oasf_domains),
        ];
        for (name, _, entries) in lists {
            let name = format!("filters.{name}");
            require_within(ENTRIES, &name, entries)?;
        }
        let services = services.into_iter();
        let texts = texts.into_iter();
        Ok(FileFilter {
            is_read: self.has_registration_file,
            active: self.active,
            x402: self.x402support,
            services: services.filter_map(|(it, has)| Some((it, has?))).collect(),
            has_services: self.has_endpoints,
            contains: (texts)
                .filter_map(|(_, it, text)| Some((it, text.clone()?)))
                .collect(),
            keyword: self.keyword.clone(),
            lists: (lists.into_iter())
                .filter(|(_, _, entries)| !entries.is_empty())
                .map(|(_, it, entries)| (it, entries.clone()))
                .collect(),
        })
    }
}

/// Each is a condition, and SQLite's expressions have a depth.
const ENTRIES: usize = 50;

/// SQLite's LIKE has a limit too, which would be an error of the store.
fn require_short_text(name: &str, text: Option<&str>, limits: &Limits) -> Result<(), ApiError> {
    let (length, limit) = (text.map_or(0, str::len), limits.text);
    if length <= limit {
        Ok(())
    } else {
        let reason = format!("has {length} bytes, the limit is {limit}");
        Err(ApiError::malformed(format!("filters.{name}"), reason))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MetadataValue {
    key: String,
    /// Text, or `0x` and hex digits.
    value: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PageOptions {
    #[serde(default)]
    sort: Vec<String>,
    pub page_size: Option<u64>,
    pub cursor: Option<String>,
}

/// `POST /v1/agents/search`.
pub(super) async fn search<E: Engine + 'static>(
    State(api): State<Arc<Api<E>>>,
    body: Body,
) -> Result<Json, ApiError> {
    let body = request::body(body, &api.limits).await?;
    require_known(&body, "the body", &["filters", "options"])?;
    let (filters, options) = read(&body)?;
    let limits = api.limits;
    let answer = move |store: &mut Store<E>| {
        let directory = Directory::read(store)?;
        let (query, search) = query(&directory, &filters, &options, &limits)?;
        let mut page = store.search_agents(&query)?;
        let mut items = Vec::with_capacity(page.rows.len());
        let mut room = Room::of(limits.bytes);
        let files = of_rows(&page.rows, |deployment, rows| {
            let files = store.registrations(deployment, rows.iter().map(|it| it.agent))?;
            store.with_fetchings(deployment, files, |it| it.file)
        })?;
        for (found, file) in page.rows.iter().zip(files) {
            let item = render::found_agent(&directory, found, file.as_ref());
            if !room.takes(&item) {
                break;
            }
            items.push(item);
        }
        keep(&mut page, items.len(), &query.after);
        let mut answer = room::page(items, cursor::write(&search, &page.next));
        answer["fromReviewers"] = reviewers_of(&filters);
        answer["filesWaiting"] = files_waiting(store, &query)?;
        Ok(Json::of(&answer))
    };
    api.readers.read(answer).await
}

/// How many files were not fetched yet, if the search is about files: what they say is not known.
fn files_waiting<E: Engine>(store: &mut Store<E>, query: &AgentQuery) -> Result<Value, ApiError> {
    let mut waiting = 0;
    for (deployment, filter) in &query.deployments {
        if filter.file.is_empty() {
            return Ok(Value::Null);
        }
        waiting += store.waiting_registrations(*deployment)?;
    }
    Ok(json!(waiting))
}

/// The body's filters and options.
fn read(body: &Value) -> Result<(Value, PageOptions), ApiError> {
    let none = json!({});
    let filters = body.get("filters").unwrap_or(&none);
    let options = body.get("options").unwrap_or(&none);
    require_known(options, "options", OPTIONS)?;
    require_known(filters, "filters", FILTERS)?;
    Ok((filters.clone(), typed(options, "options")?))
}

/// R48: every answer with summaries names the reviewers that it counts.
fn reviewers_of(filters: &Value) -> Value {
    let feedback = filters.get("feedback");
    let reviewers = feedback.and_then(|it| it.get("fromReviewers"));
    reviewers.cloned().unwrap_or(Value::Null)
}

/// The query, and what its cursors belong to.
fn query(
    directory: &Directory,
    filters: &Value,
    options: &PageOptions,
    limits: &Limits,
) -> Result<(AgentQuery, String), ApiError> {
    let (order, is_descending) = sort(&options.sort)?;
    let search = format!("agents {order:?} {is_descending} {filters}");
    let deployments = deployments(directory, filters, limits)?;
    let is_rated = |filter: &AgentFilter| {
        let reputation = filter.reputation.as_ref();
        reputation.is_some_and(|it| it.has_feedback)
    };
    if order.is_of_reputation() && !deployments.iter().all(|(_, it)| is_rated(it)) {
        let reason = "needs filters.feedback with fromReviewers, and agents with feedback";
        return Err(ApiError::malformed("options.sort", reason));
    }
    let after = cursor::read(&search, options.cursor.as_deref())?;
    let query = AgentQuery {
        deployments,
        order,
        is_descending,
        after,
        limit: page_size(options.page_size, limits)?,
    };
    Ok((query, search))
}

/// BP's form is `field:asc` or `field:desc`.
fn sort(asked: &[String]) -> Result<(AgentOrder, bool), ApiError> {
    let malformed = |text: &str| {
        let known: Vec<&str> = ORDERS.iter().map(|(name, _)| *name).collect();
        let expected = format!(
            "{:?}: expected one of {known:?}, then :asc or :desc",
            excerpt(text)
        );
        ApiError::malformed("options.sort", expected)
    };
    let text = match asked {
        [] => return Ok((AgentOrder::Created, true)),
        [text] => text,
        _ => return Err(ApiError::malformed("options.sort", "more than one order")),
    };
    let (name, direction) = text.split_once(':').unwrap_or((text, "desc"));
    let order = ORDERS.iter().find(|(known, _)| *known == name);
    let is_descending = match direction {
        "asc" => false,
        "desc" => true,
        _ => return Err(malformed(text)),
    };
    let (_, order) = order.ok_or_else(|| malformed(text))?;
    Ok((*order, is_descending))
}

fn deployments(
    directory: &Directory,
    value: &Value,
    limits: &Limits,
) -> Result<Vec<(DeploymentId, AgentFilter)>, ApiError> {
    let filters: Filters = typed(value, "filters")?;
    let chains: Vec<String> = filters.chains.iter().map(|it| it.0.clone()).collect();
    let mut searched = directory.on_chains("filters.chains", &chains)?;
    let field = "filters.agentIds";
    let of = agents(directory, field, &filters.agent_ids, limits)?;
    if !filters.agent_ids.is_empty() {
        searched.retain(|it| of.contains_key(&it.0));
    }
    let filter = filter(&filters, limits)?;
    let with_agents = searched.into_iter().map(|deployment| {
        let agents = of.get(&deployment.0).cloned().unwrap_or_default();
        let filter = AgentFilter {
            agents,
            ..filter.clone()
        };
        (deployment, filter)
    });
    Ok(with_agents.collect())
}

/// Agents by their deployments.
pub(super) fn agents(
    directory: &Directory,
    field: &str,
    names: &[String],
    limits: &Limits,
) -> Result<BTreeMap<i64, Vec<AgentId>>, ApiError> {
    require_short(field, names, limits)?;
    let mut found: BTreeMap<i64, Vec<AgentId>> = BTreeMap::new();
    for name in names {
        let (deployment, agent) = directory.agent(field, name)?;
        found.entry(deployment.0).or_default().push(agent);
    }
    Ok(found)
}

fn filter(filters: &Filters, limits: &Limits) -> Result<AgentFilter, ApiError> {
    require_short("filters.owners", &filters.owners, limits)?;
    require_short("filters.operators", &filters.operators, limits)?;
    require_short("filters.wallets", &filters.wallets, limits)?;
    let mut wallets: Vec<AccountId> = accounts("filters.wallets", &filters.wallets)?;
    if let Some(wallet) = &filters.wallet_address {
        wallets.push(super::names::account("filters.walletAddress", wallet)?);
    }
    let metadata = filters.metadata_value.as_ref();
    Ok(AgentFilter {
        agents: Vec::new(),
        owners: accounts("filters.owners", &filters.owners)?,
        operators: accounts("filters.operators", &filters.operators)?,
        wallets,
        created: (filters.registered_at_from, filters.registered_at_to),
        updated: (filters.updated_at_from, filters.updated_at_to),
        has_uri: filters.has_agent_uri,
        metadata_key: filters.has_metadata_key.clone(),
        metadata: metadata.map(metadata_bytes).transpose()?,
        is_incomplete: filters.incomplete,
        file: filters.file(limits)?,
        reputation: (filters.feedback.as_ref())
            .map(|it| reputation::read(it, "filters.feedback", limits))
            .transpose()?,
    })
}

fn metadata_bytes(wanted: &MetadataValue) -> Result<(String, Vec<u8>), ApiError> {
    let value = match wanted.value.strip_prefix("0x") {
        None => wanted.value.as_bytes().to_vec(),
        Some(digits) => hex::decode(digits)
            .map_err(|error| ApiError::malformed("filters.metadataValue.value", error))?,
    };
    Ok((wanted.key.clone(), value))
}

/// `GET /v1/agents/{agent}`.
pub(super) async fn one<E: Engine + 'static>(
    State(api): State<Arc<Api<E>>>,
    Path(name): Path<String>,
    uri: Uri,
) -> Result<Json, ApiError> {
    request::pairs(&uri, &[])?;
    let limits = api.limits;
    let answer = move |store: &mut Store<E>| {
        let directory = Directory::read(store)?;
        let (deployment, agent) = directory.agent("agent", &name)?;
        let row = store.agent(deployment, agent)?;
        let row = row.ok_or_else(|| ApiError::NotFound {
            what: format!("the agent {:?}", excerpt(&name)),
        })?;
        let name = directory.name(deployment, agent);
        let file = vec![store.registration(deployment, agent)?];
        let file = store.with_fetchings(deployment, file, |it| it.file)?;
        let mut rendered = render::agent(&name, agent, &row, file[0].as_ref());
        let metadata = metadata::page(store, (deployment, agent), None, limits.page, &limits)?;
        rendered["metadata"] = metadata["items"].clone();
        rendered["nextMetadata"] = metadata["nextCursor"].clone();
        let binding = store.binding(deployment, agent, &row)?;
        rendered["binding"] = json!(binding.as_ref().map(render::binding));
        gaps(store, (deployment, agent), &row, limits.page, &mut rendered)?;
        Ok(Json::of(&rendered))
    };
    api.readers.read(answer).await
}

/// R45, R46: what is missing, and where the state differs from the events. Lists end where a page does, and say so.
fn gaps<E: Engine>(
    store: &mut Store<E>,
    (deployment, agent): (DeploymentId, AgentId),
    row: &Agent,
    limit: usize,
    rendered: &mut Value,
) -> Result<(), ApiError> {
    let gaps = match row.missing {
        0 => Vec::new(),
        _ => store.first_gaps(deployment, (agent, row), limit.saturating_add(1))?,
    };
    rendered["moreGaps"] = json!(gaps.len() > limit);
    rendered["gaps"] = gaps.iter().take(limit).map(render::gap).collect();
    let differences = store.differences_of(deployment, agent, limit.saturating_add(1))?;
    rendered["moreDifferences"] = json!(differences.len() > limit);
    let differences = differences.iter().take(limit);
    rendered["differences"] = differences.map(render::difference).collect();
    Ok(())
}
