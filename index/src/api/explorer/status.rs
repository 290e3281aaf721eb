//! `/status`: how far each chain is indexed, and what is missing.
use super::{
    page::{code, items, text, time, whole},
    site::{Refusal, Site, encoded},
};
use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use maud::html;

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
                }
            }
        }
    };
    Ok(whole("Status", &main).into_response())
}
