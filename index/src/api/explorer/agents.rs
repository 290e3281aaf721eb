//! `/`: agents of every chain, by filters.
use super::{
    page::{
        agent_link, code, items, next, pairs, refused, reviewers, strange, text, time, value, whole,
    },
    site::{Refusal, Site},
};
use axum::{
    extract::State,
    http::{StatusCode, Uri},
    response::{IntoResponse, Response},
};
use maud::{Markup, html};
use serde_json::{Value, json};

const ORDERS: [(&str, &str); 5] = [
    ("", "Newest first"),
    ("createdAt:asc", "Oldest first"),
    ("totalFeedback:desc", "Most feedback"),
    (
        "averageValue:desc",
        "Highest average by the reviewers below",
    ),
    ("count:desc", "Most feedback by the reviewers below"),
];
const SERVICES: [(&str, &str); 4] = [
    ("hasMCP", "MCP"),
    ("hasA2A", "A2A"),
    ("hasWeb", "Web"),
    ("hasOASF", "OASF"),
];
/// What a link to the next page repeats.
const REPEATED: [&str; 13] = [
    "q",
    "chain",
    "owner",
    "hasMCP",
    "hasA2A",
    "hasWeb",
    "hasOASF",
    "incomplete",
    "reviewers",
    "tag",
    "min",
    "count",
    "sort",
];

type Pairs = [(String, String)];

pub async fn page(State(site): State<Site>, uri: Uri) -> Result<Response, Refusal> {
    let asked = pairs(&uri);
    let status = site.get(&["v1", "status"]).await?;
    let found = site.post("/v1/agents/search", &search(&asked)).await;
    let (code, list) = match &found {
        Ok(answer) => (StatusCode::OK, list(answer, &asked)),
        Err(refusal) => (refusal.status, refused(&refusal.message)),
    };
    let main = html! {
        h1 { "Agents" }
        (form(&asked, &status))
        (list)
    };
    Ok((code, whole("Agents", &main)).into_response())
}

/// The body of a search: what is left empty is left out.
fn search(asked: &Pairs) -> Value {
    let mut filters = json!({});
    let of = |name| value(asked, name);
    for (name, filter) in [("q", "keyword")] {
        if !of(name).is_empty() {
            filters[filter] = json!(of(name));
        }
    }
    for (name, filter) in [("chain", "chains"), ("owner", "owners")] {
        if !of(name).is_empty() {
            filters[filter] = json!([of(name)]);
        }
    }
    for (name, _) in SERVICES {
        if !of(name).is_empty() {
            filters[name] = json!(true);
        }
    }
    if !of("incomplete").is_empty() {
        filters["incomplete"] = json!(true);
    }
    let mut feedback = json!({});
    for (name, filter) in [("tag", "tag"), ("min", "minValue")] {
        if !of(name).is_empty() {
            feedback[filter] = json!(of(name));
        }
    }
    if !of("count").is_empty() {
        let count = of("count").parse::<u64>();
        feedback["minCount"] = count.map_or_else(|_| json!(of("count")), |it| json!(it));
    }
    if let Some(reviewers) = reviewers(of("reviewers")) {
        feedback["fromReviewers"] = reviewers;
        feedback["hasFeedback"] = json!(true);
    }
    if feedback != json!({}) {
        filters["feedback"] = feedback;
    }
    let mut options = json!({});
    if !of("sort").is_empty() {
        options["sort"] = json!([of("sort")]);
    }
    if !of("cursor").is_empty() {
        options["cursor"] = json!(of("cursor"));
    }
    json!({ "filters": filters, "options": options })
}

fn form(asked: &Pairs, status: &Value) -> Markup {
    let of = |name| value(asked, name);
    let mut chains: Vec<String> = (items(status, "deployments").iter())
        .map(|it| text(it, "chain"))
        .collect();
    chains.dedup();
    html! {
        form method="get" action="/" role="search" {
            p {
                label for="q" { "In the name or the description" }
                input id="q" type="search" name="q" value=(of("q"));
            }
            p {
                label for="chain" { "Chain" }
                select id="chain" name="chain" {
                    option value="" { "All" }
                    @for chain in &chains { option value=(chain) selected[chain == of("chain")] { (chain) } }
                }
                label for="sort" { "Order" }
                select id="sort" name="sort" {
                    @for (order, words) in ORDERS { option value=(order) selected[order == of("sort")] { (words) } }
                }
            }
            fieldset {
                legend { "With" }
                @for (name, words) in SERVICES {
                    label.check { input type="checkbox" name=(name) value="1" checked[!of(name).is_empty()]; " " (words) }
                }
                label.check { input type="checkbox" name="incomplete" value="1" checked[!of("incomplete").is_empty()]; " events missing" }
            }
            details open[!of("reviewers").is_empty() || !of("tag").is_empty() || !of("owner").is_empty()] {
                summary { "Owner and reputation" }
                p {
                    label for="owner" { "Owner" }
                    input id="owner" name="owner" value=(of("owner"));
                }
                p {
                    label for="reviewers" { "Reviewers: addresses, or everyone" }
                    textarea id="reviewers" name="reviewers" rows="2" { (of("reviewers")) }
                }
                p {
                    label for="tag" { "Tag" }
                    input id="tag" name="tag" value=(of("tag"));
                    label for="min" { "Average at least" }
                    input id="min" name="min" inputmode="decimal" value=(of("min"));
                    label for="count" { "Feedback at least" }
                    input id="count" name="count" inputmode="numeric" value=(of("count"));
                }
            }
            p { button type="submit" { "Search" } }
        }
    }
}

fn list(answer: &Value, asked: &Pairs) -> Markup {
    let found = items(answer, "items");
    let repeated: Vec<(&str, &str)> = REPEATED.map(|name| (name, value(asked, name))).to_vec();
    html! {
        @if let Some(waiting @ 1..) = answer["filesWaiting"].as_u64() {
            p.note { (waiting) " files were not fetched yet: what they say is not known." }
        }
        @if found.is_empty() { p { "No agent is like that." } }
        ul.agents {
            @for agent in found { li { (row(agent)) } }
        }
        (next("/", &repeated, answer))
    }
}

fn row(agent: &Value) -> Markup {
    let file = &agent["registrationFile"];
    html! {
        h2 { (agent_link(&text(agent, "id"), &text(file, "name"))) }
        p.id { (code(&text(agent, "id"))) }
        @if agent["incomplete"] == true { p.warn { "Events of this agent are missing." } }
        @let description = text(file, "description");
        @if !description.is_empty() { p { (strange(&super::page::short(&description))) } }
        p.facts {
            span { (text(agent, "totalFeedback")) " feedback" }
            @if !agent["feedback"].is_null() {
                span { "average " (text(&agent["feedback"]["average"], "decimal")) " of " (text(&agent["feedback"], "count")) " by these reviewers" }
            }
            span { "registered " (time(agent, "createdAt")) }
        }
    }
}
