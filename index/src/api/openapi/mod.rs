//! The API's own description, made of the same lists that requests are checked against.
mod answers;

use super::{
    Api, ROUTES,
    agents::{self, ORDERS},
    error::Json,
    feedback, reputation, summaries, validations,
};
use crate::store::Engine;
use axum::extract::State;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// `GET /v1/openapi.json`.
pub(super) async fn document<E: Engine + 'static>(State(api): State<Arc<Api<E>>>) -> Json {
    Json::of(&openapi(api.limits.page))
}

/// OpenAPI 3.1.
fn openapi(page_limit: usize) -> Value {
    let mut paths = Map::new();
    for (method, path) in ROUTES {
        let entry = paths.entry(*path).or_insert_with(|| json!({}));
        entry[*method] = operation(method, path);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Concord index",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Agents, feedback and summaries of ERC-8004 registries on EVM chains and on Solana. Every answer can be verified against the chain.",
        },
        "paths": paths,
        "components": { "schemas": schemas(page_limit) },
    })
}

fn operation(method: &str, path: &str) -> Value {
    let mut operation = json!({
        "summary": summary_of(path),
        "parameters": parameters(path),
        "responses": {
            "200": { "description": "The answer", "content": content(path) },
            "default": {
                "description": "An error that names what is wrong",
                "content": { "application/json": { "schema": fault(path) } },
            },
        },
    });
    if method == "post" {
        operation["requestBody"] = json!({
            "content": { "application/json": { "schema": reference(body_of(path)) } },
        });
    }
    operation
}

fn content(path: &str) -> Value {
    match path {
        "/livez" | "/metrics" => json!({ "text/plain": { "schema": { "type": "string" } } }),
        _ => {
            let schema = answers::of(path).map(reference);
            let schema = schema.unwrap_or_else(|| json!({ "type": "object" }));
            json!({ "application/json": { "schema": schema } })
        }
    }
}

/// Answers of a request that failed.
fn fault(path: &str) -> Value {
    match path {
        "/readyz" => json!({ "anyOf": [reference("Ready"), reference("Error")] }),
        "/subgraphs/{name}/graphql" => {
            json!({ "anyOf": [reference("GraphqlErrors"), reference("Error")] })
        }
        _ => reference("Error"),
    }
}

fn summary_of(path: &str) -> &'static str {
    match path {
        "/v1/agents/search" => "Search agents with BP's filters",
        "/v1/agents/{agent}" => "An agent with its metadata",
        "/v1/agents/{agent}/summary" => "A summary that equals the chain's, for named reviewers",
        "/v1/agents/{agent}/validations" => "An agent's validations",
        "/v1/agents/{agent}/given" => "Feedback that the agent gave from its wallet",
        "/v1/summaries" => "Summaries of several agents, for named reviewers",
        "/v1/feedback/search" => "Search feedback, the newest first",
        "/v1/agents/{agent}/metadata" => "An agent's metadata, by page",
        "/v1/feedback/{agent}/{profile}/{client}/{index}" => "A feedback with its first responses",
        "/v1/feedback/{agent}/{profile}/{client}/{index}/responses" => {
            "The responses to a feedback, by page"
        }
        "/v1/validations" => "Validations by a validator",
        "/v1/raters/{account}" => "The agents that have an account as their wallet",
        "/v1/status" => "How far each deployment is indexed, and what is missing",
        "/v1/openapi.json" => "This document",
        "/subgraphs/{name}/graphql" => "GraphQL as agent0's subgraph has it, over one EVM chain",
        "/livez" => "Whether the process answers",
        "/readyz" => "Whether the store can be read and has blocks",
        "/metrics" => "Metrics in Prometheus's text format",
        _ => "",
    }
}

fn body_of(path: &str) -> &'static str {
    match path {
        "/v1/agents/search" => "AgentSearch",
        "/v1/feedback/search" => "FeedbackSearch",
        "/subgraphs/{name}/graphql" => "Graphql",
        _ => "Summaries",
    }
}

fn parameters(path: &str) -> Value {
    let in_path = path.split('/').filter_map(|part| {
        let name = part.strip_prefix('{')?.strip_suffix('}')?;
        Some(json!({
            "name": name, "in": "path", "required": true, "schema": { "type": "string" },
        }))
    });
    let query: &[&str] = match path {
        "/v1/agents/{agent}/summary" => &summaries::MEMBERS[1..],
        "/v1/agents/{agent}/validations" => &validations::MEMBERS[2..],
        "/v1/agents/{agent}/given"
        | "/v1/agents/{agent}/metadata"
        | "/v1/raters/{account}"
        | "/v1/feedback/{agent}/{profile}/{client}/{index}/responses" => &["pageSize", "cursor"],
        "/v1/validations" => validations::MEMBERS,
        _ => &[],
    };
    let in_query = query.iter().map(|name| {
        let is_required = matches!(*name, "clientAddresses" | "chain" | "validator");
        json!({
            "name": name, "in": "query", "required": is_required, "schema": type_of(name),
            "explode": false, // lists have commas between their entries
        })
    });
    in_path.chain(in_query).collect()
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

fn schemas(page_limit: usize) -> Value {
    let sorts: Vec<String> = (ORDERS.iter())
        .flat_map(|(name, _)| [format!("{name}:asc"), format!("{name}:desc")])
        .collect();
    let page = object(&["pageSize", "cursor"]);
    let mut options = page.clone();
    options["properties"]["sort"] = json!({
        "type": "array", "maxItems": 1, "items": { "enum": sorts },
    });
    let mut filters = object(agents::FILTERS);
    filters["properties"]["feedback"] = reference("ReputationFilter");
    let mut reputation = object(reputation::MEMBERS);
    reputation["required"] = json!(["fromReviewers"]); // R48
    let mut summaries = object(summaries::MEMBERS);
    summaries["required"] = json!(["agentIds", "clientAddresses"]);
    let mut schemas = json!({
        "PageSize": { "type": "integer", "minimum": 1, "maximum": page_limit },
        "AgentSearch": search("AgentFilters", options),
        "AgentFilters": filters,
        "ReputationFilter": reputation,
        "FeedbackSearch": search("FeedbackFilters", page),
        "FeedbackFilters": object(feedback::FILTERS),
        "Summaries": summaries,
        "Graphql": {
            "type": "object",
            "required": ["query"],
            "additionalProperties": false,
            "properties": {
                "query": { "type": "string" },
                "variables": { "type": ["object", "null"] },
                "operationName": { "type": ["string", "null"] },
                "extensions": { "type": ["object", "null"] },
            },
        },
        "Error": {
            "type": "object",
            "required": ["error"],
            "additionalProperties": false,
            "properties": { "error": {
                "type": "object",
                "additionalProperties": false,
                "required": ["code", "message"],
                "properties": {
                    "code": { "type": "string" },
                    "message": { "type": "string" },
                    "field": { "type": ["string", "null"] },
                },
            } },
        },
    });
    for (name, schema) in answers::schemas() {
        schemas[name] = schema;
    }
    schemas
}

fn search(filters: &str, options: Value) -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": { "filters": reference(filters), "options": options },
    })
}

fn object(members: &[&str]) -> Value {
    object_of((members.iter()).map(|name| ((*name).to_owned(), type_of(name))))
}

fn object_of(members: impl Iterator<Item = (String, Value)>) -> Value {
    let properties: Map<String, Value> = members.collect();
    json!({ "type": "object", "additionalProperties": false, "properties": properties })
}

/// How a chain is named.
const CHAIN: &str = "A CAIP-2 id, the number of an EVM chain, or CAIP-2:registry for one of several registries on a chain";

/// A member has one type wherever it is.
fn type_of(name: &str) -> Value {
    let texts = json!({ "type": "array", "items": { "type": "string" } });
    match name {
        "fromReviewers" | "clientAddresses" => json!({
            "description": "Reviewers; there is no default (R48). In a URL, with commas between them.",
            "anyOf": [texts, { "const": "everyone" }],
        }),
        "chain" => json!({ "description": CHAIN, "type": "string" }),
        "chains" => json!({
            "type": "array",
            "items": { "description": CHAIN, "type": ["string", "integer"] },
        }),
        "agentIds" | "owners" | "operators" | "wallets" | "agents" | "reviewers" | "tags"
        | "supportedTrust" | "a2aSkills" | "mcpTools" | "mcpPrompts" | "mcpResources"
        | "oasfSkills" | "oasfDomains" => texts,
        "minValue" | "maxValue" => json!({
            "description": "A decimal within ±1e38 with at most 18 digits after its point, compared exactly (R47). A number that is not exact as a double is refused: send it as text, which has no exponent.",
            "type": ["number", "string"],
        }),
        "minCount" | "maxCount" | "registeredAtFrom" | "registeredAtTo" | "updatedAtFrom"
        | "updatedAtTo" => json!({ "type": "integer" }),
        "pageSize" => reference("PageSize"),
        "hasFeedback"
        | "hasNoFeedback"
        | "hasAgentURI"
        | "incomplete"
        | "includeRevoked"
        | "hasResponse"
        | "paymentProven"
        | "answered"
        | "active"
        | "x402support"
        | "hasRegistrationFile"
        | "hasMCP"
        | "hasA2A"
        | "hasWeb"
        | "hasEndpoints" => json!({ "type": "boolean" }),
        "hasOASF" => json!({ "description": "Has skills or domains of OASF", "type": "boolean" }),
        "profile" => json!({ "enum": ["open", "authorized"] }),
        "metadataValue" => json!({
            "type": "object",
            "required": ["key", "value"],
            "properties": { "key": { "type": "string" }, "value": { "type": "string" } },
        }),
        _ => json!({ "type": "string" }),
    }
}
