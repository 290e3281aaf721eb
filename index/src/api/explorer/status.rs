//! `/status`: how far each chain is indexed, and what is missing.
use super::{
    page::{code, items, text, time, whole},
    site::{Refusal, Site, encoded},
};
use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use maud::{Markup, html};
use serde_json::Value;

pub async fn page(State(site): State<Site>) -> Result<Response, Refusal> {
    let status = site.get(&["v1", "status"]).await?;
    let main = html! {
        h1 { "Status" }
        @for it in items(&status, "deployments") {
            section {
                h2 { (code(&text(it, "chain"))) }
                dl {
                    dt { "Registry" } dd { (code(&text(it, "registry"))) }
                    dt { "Indexed through" } dd { "block " (text(it, "block")) ", " (time(it, "blockTime")) }
                    dt { "Final" } dd {
                        @if it["finalBlock"].is_null() { "not known: a reorganization may take any block back" }
                        @else { "through block " (text(it, "finalBlock")) "; a reorganization may take later ones back" }
                    }
                    dt { "Agents" } dd { (text(it, "agents")) }
                    dt { "With missing events" } dd {
                        @if it["incompleteAgents"] == 0 { "none" }
                        @else { a href={ "/?incomplete=1&chain=" (encoded(&text(it, "chain"))) } { (text(it, "incompleteAgents")) } }
                    }
                    dt { "Agent ids without an event" } dd { (or_none(&text(it, "missingAgentIds"))) }
                    dt { "Events that cannot be read" } dd { (or_none(&text(it, "undecodedEvents"))) }
                    dt { "Events of a later version" } dd { (or_none(&text(it, "unknownEvents"))) }
                    dt { "State not compared yet" } dd { (or_none(&text(it, "stateUnread"))) }
                    dt { "State that differs from events" } dd { (differences(&it["stateDifferences"])) }
                    dt { "Reorganizations" } dd { (reorganizations(&it["reorganizations"])) }
                }
                (newest(&it["reorganizations"]))
            }
        }
    };
    Ok(whole("Status", &main).into_response())
}

fn or_none(count: &str) -> &str {
    match count {
        "0" => "none",
        count => count,
    }
}

/// R45: how often, for each field.
fn differences(of: &Value) -> String {
    let counts = of.as_object().into_iter().flatten();
    let counts: Vec<String> = counts
        .map(|(field, count)| format!("{field}: {count}"))
        .collect();
    if counts.is_empty() {
        "none".to_owned()
    } else {
        counts.join(", ")
    }
}

fn reorganizations(of: &Value) -> String {
    match of["count"].as_u64() {
        None | Some(0) => "none was seen".to_owned(),
        Some(count) => {
            let deepest = text(of, "deepest");
            format!("{count} since this index began; the deepest took {deepest} blocks back")
        }
    }
}

/// What was taken back, as it was noted then.
fn newest(of: &Value) -> Markup {
    let newest = items(of, "newest");
    html! {
        @if !newest.is_empty() {
            h3 { "The newest reorganizations" }
            ul.reorganizations {
                @for it in newest {
                    li {
                        "Blocks " (text(it, "fromBlock")) " to " (text(it, "toBlock")) " (depth " (text(it, "depth"))
                        ") were taken back, with " (text(it, "events")) " events. Noticed " (time(it, "noticedAt")) ". The last one was "
                        (code(&text(it, "replacedHash"))) "; the one before them, which stayed, is " (code(&text(it, "forkHash"))) "."
                    }
                }
            }
        }
    }
}
