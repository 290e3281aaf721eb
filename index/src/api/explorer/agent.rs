//! `/agent/{agent}`: what its file says, its reputation over time, its feedback, its validations.
use super::{
    chart::{self, Point, Series},
    commands,
    page::{
        code, entry, fetched, items, next, pairs, reviewers, short, strange, text, time, value,
        whole,
    },
    site::{Refusal, Site, encoded},
};
use crate::api::{ApiError, request::Path};
use axum::{
    extract::State,
    http::Uri,
    response::{IntoResponse, Response},
};
use maud::{Markup, html};
use serde_json::{Value, json};

/// Pages of feedback that a line of a chart is made of.
const PAGES: usize = 10;

pub async fn page(
    State(site): State<Site>,
    path: Result<Path<String>, ApiError>,
    uri: Uri,
) -> Result<Response, Refusal> {
    let Path(agent) = path?;
    let asked = pairs(&uri);
    let row = site.get(&["v1", "agents", &agent]).await?;
    let id = text(&row, "id");
    let listed = value(&asked, "reviewers");
    let whose = reviewers(listed);
    let theirs = whose.filter(Value::is_array);
    let mut reputations = Vec::new();
    for profile in ["open", "authorized"] {
        if profile == "authorized" && row["clients"][profile] == 0 {
            continue; // on most registries there is none
        }
        reputations.push(Reputation::read(&site, &id, profile, theirs.as_ref()).await?);
    }
    let cursor = value(&asked, "cursor");
    let feedback = feedback(&site, &id, cursor).await?;
    let validations = site.get(&["v1", "agents", &id, "validations"]).await?;
    let name = text(&row["registrationFile"], "name");
    let path = format!("/agent/{}", encoded(&id));
    let main = html! {
        h1 { (strange(match name.trim() { "" => "No name", name => name })) }
        p.id { (code(&id)) }
        (about(&row))
        h2 id="reputation" { "Reputation" }
        (form(&path, listed))
        @for it in &reputations {
            @for summary in &it.summaries { (summarised(summary)) }
            (chart::charts(&it.everyone, it.listed.as_ref()))
        }
        (commands::of_reputation(&id, theirs.as_ref().and_then(Value::as_array).map_or(&[], Vec::as_slice)))
        h2 id="feedback" { "Feedback" }
        (list(&feedback))
        (next(&path, &[("reviewers", listed)], &feedback))
        h2 id="validations" { "Validations" }
        (validated(&validations))
    };
    let title = if name.is_empty() { &id } else { &name };
    Ok(whole(title, &main).into_response())
}

/// What is said of an agent in one profile: by everyone, and by the listed reviewers.
struct Reputation {
    summaries: Vec<Value>,
    everyone: Series,
    listed: Option<Series>,
}

impl Reputation {
    async fn read(
        site: &Site,
        id: &str,
        profile: &str,
        theirs: Option<&Value>,
    ) -> Result<Self, Refusal> {
        let mut summaries = Vec::new();
        for set in [Some(&json!("everyone")), theirs].into_iter().flatten() {
            summaries.push(summary(site, id, (profile, set)).await?);
        }
        Ok(Self {
            summaries,
            everyone: series(site, id, profile, None).await,
            listed: match theirs {
                None => None,
                Some(_) => Some(series(site, id, profile, theirs).await),
            },
        })
    }
}

async fn summary(
    site: &Site,
    id: &str,
    (profile, whose): (&str, &Value),
) -> Result<Value, Refusal> {
    let body = json!({ "agentIds": [id], "profile": profile, "clientAddresses": whose });
    let answer = site.post("/v1/summaries", &body).await?;
    Ok(answer["items"][0].clone())
}

async fn feedback(site: &Site, id: &str, cursor: &str) -> Result<Value, Refusal> {
    let mut body = json!({ "filters": { "agents": [id], "includeRevoked": true } });
    if !cursor.is_empty() {
        body["options"] = json!({ "cursor": cursor });
    }
    site.post("/v1/feedback/search", &body).await
}

/// The newest feedback that is not revoked, of everyone or of the listed reviewers: these are asked for by
/// themselves, because anyone can give so much that theirs is not among the newest.
async fn series(site: &Site, id: &str, profile: &str, theirs: Option<&Value>) -> Series {
    let mut filters = json!({ "agents": [id], "profile": profile });
    if let Some(theirs) = theirs {
        filters["reviewers"] = theirs.clone();
    }
    let mut options = json!({});
    let mut series = Series::default();
    for _ in 0..PAGES {
        let body = json!({ "filters": filters, "options": options });
        // The rest of the page is worth more than a line that takes too long.
        let Ok(answer) = site.post("/v1/feedback/search", &body).await else {
            break;
        };
        series
            .points
            .extend(items(&answer, "items").iter().filter_map(point));
        match &answer["nextCursor"] {
            Value::Null => {
                series.is_whole = true;
                break;
            }
            cursor => options["cursor"] = cursor.clone(),
        }
    }
    series
}

fn point(feedback: &Value) -> Option<Point> {
    Some(Point {
        at: feedback["createdAt"].as_i64()?,
        value: text(feedback, "decimal").parse().ok()?,
        tags: [text(feedback, "tag1"), text(feedback, "tag2")],
    })
}

fn about(row: &Value) -> Markup {
    let file = &row["registrationFile"];
    let proven = if file["contentProven"] == true {
        "The chain proves this file."
    } else {
        "Only the file's host vouches for it."
    };
    html! {
        @if row["incomplete"] == true {
            p.warn { "Events of this agent are missing: what is shown is not all." }
            ul { @for gap in items(row, "gaps") {
                li { "feedback " (text(gap, "first")) " to " (text(gap, "last")) " (" (text(gap, "profile")) ") by " (code(&text(gap, "clientAddress"))) }
            } }
            @if row["moreGaps"] == true { p { "There are more gaps than these." } }
        }
        (differences(row))
        dl {
            (entry("Owner", &text(row, "owner")))
            (bound(&row["binding"]))
            (entry("Wallet", &text(row, "agentWallet")))
            (entry("URI", &short(&text(row, "agentURI"))))
            dt { "Registered" } dd { (time(row, "createdAt")) }
            dt { "Last event" } dd { (time(row, "updatedAt")) }
        }
        @if !file.is_null() {
            h2 id="file" { "Registration file" }
            @if text(file, "state") == "read" {
                p { (proven) @if file["listsThisAgent"] != true { " It does not list this agent." } }
            } @else {
                p.note { "It was not read (" (text(file, "state")) "). " (strange(&text(file, "reason"))) }
            }
            (fetched(file))
            dl {
                (entry("Description", &text(file, "description")))
                @for (term, name) in FILE { (entry(term, &text(file, name))) }
                @for (term, name) in LISTS { (entry(term, &listed(file, name))) }
            }
        }
        @let metadata = items(row, "metadata");
        @if !metadata.is_empty() {
            h2 id="metadata" { "Metadata" }
            @if !row["nextMetadata"].is_null() { p { "There is more metadata than this." } }
            dl { @for it in metadata {
                dt { (strange(&short(&text(it, "key")))) }
                dd { (strange(&short(&match text(it, "text") { text if text.is_empty() => super::page::text(it, "value"), text => text }))) }
            } }
        }
    }
}

/// ERC-8217: who holds the token controls the agent, if the chain confirms what the agent declares.
fn bound(binding: &Value) -> Markup {
    let token = ["standard", "tokenContract", "tokenId"].map(|name| text(binding, name));
    html! {
        @if !binding.is_null() {
            dt { "Bound to" } dd {
                @if !binding["tokenContract"].is_null() { (token[0]) " " (code(&token[1])) " #" (short(&token[2])) " " }
                @if !binding["contract"].is_null() { "by " (code(&text(binding, "contract"))) " " }
                @if binding["proven"] == true { span.good { "proven" } " (block " (text(binding, "block")) ")" }
                @else { span.warn { "only declared" } ": " (text(binding, "reason")) }
            }
        }
    }
}

/// R45: where the registry's state differs from its events.
fn differences(row: &Value) -> Markup {
    let found = items(row, "differences");
    html! {
        @if !found.is_empty() {
            p.warn { "The registry's state differs from its events. What is shown is what the state says." }
            ul { @for it in found {
                li {
                    (text(it, "field")) @if !it["clientAddress"].is_null() { " of " (code(&text(it, "clientAddress"))) }
                    ": events say " (strange(&said(it, "events"))) ", the state " (strange(&said(it, "state")))
                    " (block " (text(it, "block")) ")"
                }
            } }
            @if row["moreDifferences"] == true { p { "There are more differences than these." } }
        }
    }
}

fn said(difference: &Value, by: &str) -> String {
    match text(difference, by) {
        nothing if nothing.is_empty() => "nothing".to_owned(),
        said => short(&said),
    }
}

const FILE: [(&str, &str); 9] = [
    ("Active", "active"),
    ("Takes x402 payments", "x402Support"),
    ("MCP", "mcpEndpoint"),
    ("A2A", "a2aEndpoint"),
    ("Web", "webEndpoint"),
    ("OASF", "oasfEndpoint"),
    ("ENS", "ens"),
    ("DID", "did"),
    ("Email", "emailEndpoint"),
];

const LISTS: [(&str, &str); 7] = [
    ("Trust models", "supportedTrust"),
    ("MCP tools", "mcpTools"),
    ("MCP prompts", "mcpPrompts"),
    ("MCP resources", "mcpResources"),
    ("A2A skills", "a2aSkills"),
    ("OASF skills", "oasfSkills"),
    ("OASF domains", "oasfDomains"),
];

fn listed(file: &Value, name: &str) -> String {
    let entries = items(file, name).iter().filter_map(Value::as_str);
    entries.map(short).collect::<Vec<_>>().join(", ")
}

fn form(path: &str, listed: &str) -> Markup {
    html! {
        form method="get" action=(path) {
            p {
                label for="reviewers" { "Reviewers whom you trust: addresses" }
                textarea id="reviewers" name="reviewers" rows="2" { (listed) }
            }
            p { button type="submit" { "Show theirs" } }
        }
    }
}

/// R48: every summary states its set.
fn summarised(answer: &Value) -> Markup {
    let whose = match &answer["clientAddresses"] {
        Value::Array(listed) => format!("by the listed ({})", listed.len()),
        _ => "by everyone: anyone can make accounts that review".to_owned(),
    };
    let (summary, facts) = (&answer["summary"], &answer["facts"]);
    let (kind, average) = if answer["profile"] == "authorized" {
        ("Authorized scores", text(summary, "averageScore"))
    } else {
        ("Open feedback", text(summary, "decimal"))
    };
    html! {
        section.summary {
            h3 { (kind) ", " (whose) }
            p { "Average " strong { (average) } " of " strong { (text(summary, "count")) } " feedback" }
            p.facts {
                span { (text(facts, "reviewers")) " reviewers" }
                span { (text(&facts["mostActive"], "feedback")) " by the most active one" }
                span { (text(&facts["proven"], "payers")) " proven payers" }
            }
        }
    }
}

fn list(answer: &Value) -> Markup {
    let found = items(answer, "items");
    html! {
        @if found.is_empty() { p { "There is none." } }
        ul.feedback { @for it in found { li { (row(it)) } } }
    }
}

fn row(it: &Value) -> Markup {
    let parts = ["agent", "profile", "clientAddress", "feedbackIndex"];
    let path: Vec<String> = parts.iter().map(|part| encoded(&text(it, part))).collect();
    let evidence = &it["evidence"];
    html! {
        p {
            a href={ "/feedback/" (path.join("/")) } { strong { (text(it, "decimal")) } }
            @for tag in ["tag1", "tag2"] {
                @let tag = text(it, tag);
                @if !tag.is_empty() { " " span.tag { (strange(&short(&tag))) } }
            }
            @if it["isRevoked"] == true { " " span.warn { "revoked" } }
            @if it["paymentProven"] == true { " " span.good { "payment proven" } }
            @if !evidence.is_null() { (content(evidence)) }
        }
        p.facts {
            span { "by " (code(&text(it, "clientAddress"))) }
            span { (text(it, "profile")) }
            span { (time(it, "createdAt")) }
            span { (text(it, "responses")) " responses" }
        }
    }
}

/// R49: proven content may be no file at all, or say something else than the chain.
fn content(evidence: &Value) -> Markup {
    let state = text(evidence, "state");
    html! {
        " "
        @if evidence["contentProven"] == true { span.good { "content verified" } } @else { span.warn { "content only claimed" } }
        @if state != "read" { " " span.warn { "file " (state) } }
        @if !items(evidence, "differences").is_empty() { " " span.warn { "file differs from the chain" } }
    }
}

fn validated(answer: &Value) -> Markup {
    let found = items(answer, "items");
    html! {
        @if found.is_empty() { p { "There is none." } }
        ul { @for it in found { li {
            p {
                @if it["answer"].is_null() { "Not answered yet" } @else {
                    strong { (text(&it["answer"], "response")) } " of 100"
                    @let tag = text(&it["answer"], "tag");
                    @if !tag.is_empty() { " " span.tag { (strange(&short(&tag))) } }
                }
            }
            p.facts { span { "by " (code(&text(it, "validatorAddress"))) } span { (time(it, "updatedAt")) } }
        } } }
        @if !answer["nextCursor"].is_null() { p.note { "There are more: ask the API." } }
    }
}
