//! `/feedback/…`: one feedback, what of it is verified, and what was answered.
use super::{
    commands,
    page::{agent_link, code, entry, fetched, items, strange, text, time, whole},
    site::{Refusal, Site},
};
use crate::api::{ApiError, request::Path};
use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use maud::{Markup, html};
use serde_json::Value;

pub async fn page(
    State(site): State<Site>,
    path: Result<Path<(String, String, String, String)>, ApiError>,
) -> Result<Response, Refusal> {
    let Path((agent, profile, client, index)) = path?;
    let path = ["v1", "feedback", &agent, &profile, &client, &index];
    let it = site.get(&path).await?;
    let about = site.get(&["v1", "agents", &agent]).await?;
    let name = text(&about["registrationFile"], "name");
    let main = html! {
        h1 { "Feedback: " (text(&it, "decimal")) }
        @if it["isRevoked"] == true { p.warn { "Revoked " (time(&it, "revokedAt")) } }
        dl {
            dt { "About" } dd { (agent_link(&text(&it, "agent"), &name)) }
            dt { "By" } dd { (code(&text(&it, "clientAddress"))) }
            dt { "Given" } dd { (time(&it, "createdAt")) }
            (entry("Number", &format!("{} of this client, {}", text(&it, "feedbackIndex"), text(&it, "profile"))))
            (entry("First tag", &text(&it, "tag1")))
            (entry("Second tag", &text(&it, "tag2")))
            (entry("Endpoint", &text(&it, "endpoint")))
            (entry("File", &text(&it, "feedbackURI")))
            (entry("Transaction", &text(&it, "transaction")))
        }
        (evidence(&it))
        (commands::of_feedback(&it))
        h2 { "Responses" }
        @let responses = items(&it, "responses");
        @if responses.is_empty() { p { "There is none." } }
        @if !it["nextResponses"].is_null() { p { "These are the first " (responses.len()) ": there are more." } }
        ul { @for response in responses { li {
            p { (strange(&text(response, "responseURI"))) }
            p.facts { span { "by " (code(&text(response, "responder"))) } span { (time(response, "createdAt")) } }
        } } }
    };
    Ok(whole("Feedback", &main).into_response())
}

/// R49: what is verified is kept apart from what is only claimed.
fn evidence(it: &Value) -> Markup {
    let (evidence, authorship) = (&it["evidence"], &it["authorship"]);
    let claimed = text(authorship, "claimedReviewer");
    html! {
        h2 { "Evidence" }
        h3.good { "Verified" }
        ul {
            li { "The chain has the value, the tags and who submitted them." }
            @if text(authorship, "kind") == "signed" { li { "Signatures prove that it is by " (code(&text(authorship, "reviewer"))) "." } }
            @if evidence["contentProven"] == true { li { "The file is the one that was meant when the feedback was given." } }
            @if !it["payment"].is_null() {
                li { "A payment of " (text(&it["payment"], "amount")) " of " (code(&text(&it["payment"], "token"))) " was proven." }
            }
        }
        (fetched(evidence))
        h3.warn { "Only claimed" }
        ul {
            @if evidence.is_null() { li { "There is no file." } }
            @else if text(evidence, "state") != "read" {
                li { "The file was not read (" (text(evidence, "state")) "). " (strange(&text(evidence, "reason"))) }
            } @else if evidence["contentProven"] != true {
                li { "What the file says: only its host vouches for it." }
            }
            @if !claimed.is_empty() { li { "The file names " (code(&claimed)) " as the reviewer, without proof." } }
            @for difference in items(evidence, "differences") {
                li { "The file differs from the chain in " (strange(&text(difference, "field"))) ": " (strange(&text(difference, "inFile"))) }
            }
        }
    }
}
