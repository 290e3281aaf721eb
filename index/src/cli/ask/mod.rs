//! `concord search`, `summary`, `feedback get` and `feedback list`: what an index says, over its `/v1`.
mod options;
mod server;
mod text;

pub use options::{Feedback, Search, Summary};

use crate::{api::read_strictly, query::Reviewers};
use concord_chain::ChainError;
use options::{By, Get, Kind, List, Page, Server, Service, Tagged};
use serde_json::{Map, Value, json};
use std::io::{self, Write};

const FOUND: u8 = 0;
const NOT_INDEXED: u8 = 1;
const USAGE: u8 = 2;
const SILENT: u8 = 3;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum AskError {
    #[error("{0}")]
    Usage(String),
    #[error("the index refuses this: {}", text::shown(.0))]
    Refused(String),
    #[error("{}", text::shown(.0))]
    NotIndexed(String),
    #[error("the index at {index} does not answer: {}", text::shown(reason))]
    Silent { index: String, reason: String },
    #[error(transparent)]
    Runtime(#[from] ChainError),
}

impl AskError {
    const fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) | Self::Refused(_) => USAGE,
            Self::NotIndexed(_) => NOT_INDEXED,
            Self::Silent { .. } | Self::Runtime(_) => SILENT,
        }
    }
}

/// Runs `concord search`, and returns the exit code.
#[must_use]
pub fn search(options: &Search) -> u8 {
    answered(&options.server, text::agents, || {
        let body = json!({ "filters": filters(options)?, "options": page(&options.page, options.sort.as_deref()) });
        server::page(&options.server, &["v1", "agents", "search"], &body)
    })
}

/// Runs `concord summary`, and returns the exit code.
#[must_use]
pub fn summary(options: &Summary) -> u8 {
    answered(&options.server, text::summary, || {
        let mut body = json!({
            "agentIds": [options.agent],
            "clientAddresses": reviewers(&options.by, &[chain_of(&options.agent)])?,
            "profile": profile(options.profile).name(),
        });
        tag(&mut body, &options.tagged);
        server::summary(&options.server, &body)
    })
}

/// Runs `concord feedback get` or `list`, and returns the exit code.
#[must_use]
pub fn feedback(command: &Feedback) -> u8 {
    match command {
        Feedback::Get(options) => get(options),
        Feedback::List(options) => list(options),
    }
}

fn get(options: &Get) -> u8 {
    answered(&options.server, text::feedback, || {
        server::feedback(options)
    })
}

fn list(options: &List) -> u8 {
    answered(&options.server, text::feedback_list, || {
        let mut filters = json!({ "includeRevoked": options.revoked });
        list_of(&mut filters, "chains", &options.chain);
        list_of(&mut filters, "agents", &options.agent);
        list_of(&mut filters, "reviewers", &options.reviewer);
        tag(&mut filters, &options.tagged);
        if let Some(kind) = options.profile {
            filters["profile"] = json!(profile(kind).name());
        }
        let body = json!({ "filters": filters, "options": page(&options.page, None) });
        server::page(&options.server, &["v1", "feedback", "search"], &body)
    })
}

/// Prints the answer, or the error.
fn answered(
    server: &Server,
    lines: impl Fn(&Value) -> String,
    ask: impl FnOnce() -> Result<Value, AskError>,
) -> u8 {
    match ask() {
        Ok(answer) => {
            let printed = if server.json {
                format!("{answer}\n")
            } else {
                lines(&answer)
            };
            // A reader that has gone, as `head` does, had enough of it.
            let _ = io::stdout().lock().write_all(printed.as_bytes());
            FOUND
        }
        Err(error) => {
            eprintln!("concord: {error}");
            error.exit_code()
        }
    }
}

/// What --filter says and what the other options say. Neither replaces a member of the other.
fn filters(options: &Search) -> Result<Value, AskError> {
    let mut filters = match &options.filter {
        None => Map::new(),
        Some(text) => written(text)?,
    };
    if let Some(text) = &options.text {
        add(&mut filters, ("TEXT", "keyword"), json!(text))?;
    }
    for (option, name, entries) in [
        ("--chain", "chains", &options.chain),
        ("--owner", "owners", &options.owner),
    ] {
        if !entries.is_empty() {
            add(&mut filters, (option, name), json!(entries))?;
        }
    }
    for (service, option, name) in [
        (Service::Mcp, "--has mcp", "hasMCP"),
        (Service::A2a, "--has a2a", "hasA2A"),
        (Service::Web, "--has web", "hasWeb"),
        (Service::Oasf, "--has oasf", "hasOASF"),
    ] {
        if options.has.contains(&service) {
            add(&mut filters, (option, name), json!(true))?;
        }
    }
    let said = filters.remove("feedback");
    if let Some(feedback) = reputation(options, said)? {
        filters.insert("feedback".to_owned(), feedback);
    }
    Ok(Value::Object(filters))
}

/// What --filter says.
fn written(filter: &str) -> Result<Map<String, Value>, AskError> {
    let usage = |reason: &str| AskError::Usage(format!("--filter: {reason}"));
    match read_strictly(filter) {
        Ok(Value::Object(members)) => Ok(members),
        Ok(_) => Err(usage("expected a JSON object")),
        Err(error) => Err(usage(&error.to_string())),
    }
}

/// Adds what an option says, unless --filter says it already.
fn add(
    to: &mut Map<String, Value>,
    (option, name): (&str, &str),
    value: Value,
) -> Result<(), AskError> {
    match to.insert(name.to_owned(), value) {
        None => Ok(()),
        Some(_) => Err(AskError::Usage(format!(
            "{option} and {name:?} in --filter set the same filter: leave one of them out"
        ))),
    }
}

/// `said`: what --filter has of it.
fn reputation(options: &Search, said: Option<Value>) -> Result<Option<Value>, AskError> {
    let is_said = said.is_some();
    let mut asked = match said {
        None => Map::new(),
        Some(Value::Object(members)) => members,
        Some(_) => {
            let words = "--filter: feedback: expected an object";
            return Err(AskError::Usage(words.to_owned()));
        }
    };
    for (name, tag) in tags(&options.tagged) {
        add(&mut asked, (&format!("--{name}"), name), json!(tag))?;
    }
    if let Some(count) = options.min_count {
        add(&mut asked, ("--min-count", "minCount"), json!(count))?;
    }
    if let Some(average) = &options.min_average {
        add(&mut asked, ("--min-average", "minValue"), json!(average))?;
    }
    if let Some(option) = whose(&options.by) {
        let reviewers = reviewers(&options.by, &options.chain)?;
        add(&mut asked, (option, "fromReviewers"), reviewers)?;
    }
    if asked.is_empty() && !is_said {
        return Ok(None);
    }
    if asked.contains_key("fromReviewers") {
        Ok(Some(Value::Object(asked)))
    } else {
        Err(AskError::Usage(
            "feedback of whom? name --reviewer, --reviewers or --everyone".to_owned(),
        ))
    }
}

/// The option that names the reviewers.
fn whose(by: &By) -> Option<&'static str> {
    if by.everyone {
        return Some("--everyone");
    }
    let is_listed = by.reviewers.is_some().then_some("--reviewers");
    is_listed.or((!by.reviewer.is_empty()).then_some("--reviewer"))
}

/// CAIP-2, of a chain that is named by it, by the number of an EVM chain, or with a registry.
fn network_of(chain: &str) -> String {
    let parts: Vec<_> = chain.split(':').collect();
    match parts[..] {
        [namespace, reference, ..] => format!("{namespace}:{reference}"),
        _ => format!("eip155:{chain}"),
    }
}

/// The chain of an agent that is named as `CAIP-2:registry:agent` or `EVM chain:agent`.
fn chain_of(agent: &str) -> String {
    let parts: Vec<_> = agent.splitn(3, ':').collect();
    match parts[..] {
        [namespace, reference, _] => format!("{namespace}:{reference}"),
        _ => parts[0].to_owned(),
    }
}

/// R48: as the API has them. A list names accounts by their chains, so that it counts on one chain only.
fn reviewers(by: &By, networks: &[String]) -> Result<Value, AskError> {
    let usage = |error: crate::ReviewersError| AskError::Usage(error.to_string());
    if by.everyone {
        return Ok(json!("everyone"));
    }
    let Some(file) = &by.reviewers else {
        return Ok(json!(by.reviewer));
    };
    let [network] = networks else {
        return Err(AskError::Usage(
            "--reviewers needs one --chain: a list names accounts by their chains".to_owned(),
        ));
    };
    let list = Reviewers::List {
        path: file.clone(),
        network: network_of(network),
    };
    let listed = list.accounts().map_err(usage)?.unwrap_or_default();
    Ok(listed.iter().map(|it| json!(it.to_string())).collect())
}

fn tags(tagged: &Tagged) -> impl Iterator<Item = (&'static str, &String)> {
    let tags = [
        ("tag", &tagged.tag),
        ("tag1", &tagged.tag1),
        ("tag2", &tagged.tag2),
    ];
    (tags.into_iter()).filter_map(|(name, tag)| Some((name, tag.as_ref()?)))
}

fn tag(into: &mut Value, tagged: &Tagged) {
    for (name, tag) in tags(tagged) {
        into[name] = json!(tag);
    }
}

fn list_of(into: &mut Value, name: &str, entries: &[String]) {
    if !entries.is_empty() {
        into[name] = json!(entries);
    }
}

fn page(page: &Page, sort: Option<&str>) -> Value {
    let mut options = json!({ "pageSize": page.limit });
    if let Some(cursor) = &page.cursor {
        options["cursor"] = json!(cursor);
    }
    if let Some(sort) = sort {
        options["sort"] = json!([sort]);
    }
    options
}

const fn profile(kind: Kind) -> concord_client::Kind {
    match kind {
        Kind::Open => concord_client::Kind::Open,
        Kind::Authorized => concord_client::Kind::Authorized,
    }
}
