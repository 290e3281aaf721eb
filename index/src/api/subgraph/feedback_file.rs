//! What the file of a feedback says. It is read when it is asked for: of a page, not of a search.
use super::{
    document::Selected,
    error::QueryError,
    scalar::Scope,
    schema::{FEEDBACK_FILE, Id},
};
use crate::{
    StoreError,
    evidence::Content,
    store::{Cell as _, Engine, Store, Value as Stored},
    table::FeedbackKey,
};
use concord_files::{FeedbackFile, Rating, parse_feedback};
use concord_registry::event::Profile;
use serde_json::{Map, Value, json};

const NAME: &str = "FeedbackFile";

/// The members of the file that a field can be: agent0's, then ERC-8004's and the others'.
const MEMBERS: [(&str, &[&str]); 17] = [
    ("text", &["/text", "/reasoning"]),
    ("mcpTool", &["/mcpTool", "/mcp/tool"]),
    ("mcpPrompt", &["/mcpPrompt", "/mcp/prompt"]),
    ("mcpResource", &["/mcpResource", "/mcp/resource"]),
    ("a2aSkills", &["/a2aSkills", "/a2a/skills"]),
    ("a2aContextId", &["/a2aContextId", "/a2a/contextId"]),
    ("a2aTaskId", &["/a2aTaskId", "/a2a/taskId"]),
    ("oasfSkills", &["/oasfSkills", "/oasf/skills"]),
    ("oasfDomains", &["/oasfDomains", "/oasf/domains"]),
    (
        "proofOfPaymentFromAddress",
        &[
            "/proofOfPayment/fromAddress",
            "/proof_of_payment/fromAddress",
        ],
    ),
    (
        "proofOfPaymentToAddress",
        &["/proofOfPayment/toAddress", "/proof_of_payment/toAddress"],
    ),
    (
        "proofOfPaymentChainId",
        &["/proofOfPayment/chainId", "/proof_of_payment/chainId"],
    ),
    (
        "proofOfPaymentTxHash",
        &["/proofOfPayment/txHash", "/proof_of_payment/txHash"],
    ),
    ("agentRegistry", &["/agentRegistry"]),
    ("clientAddress", &["/clientAddress"]),
    ("createdAtIso", &["/createdAt"]),
    ("agentId", &["/agentId"]),
];

/// Refuses fields that a file does not have, and arguments, of which they have none.
pub fn check(selected: &Selected) -> Result<(), QueryError> {
    for child in &selected.children {
        let is_known = FEEDBACK_FILE.contains(&child.name.as_str()) || child.name == "__typename";
        if !is_known {
            return Err(QueryError::no_field(NAME, &child.name).or_at(child.at));
        }
        super::check::arguments(child, &[])?;
    }
    Ok(())
}

/// Null if there is no file, or none that can be read.
pub fn answer<E: Engine>(
    store: &mut Store<E>,
    scope: &Scope,
    key: &[Stored],
    selected: &Selected,
) -> Result<Value, QueryError> {
    let malformed = StoreError::Malformed {
        table: "feedback",
        column: "key",
    };
    let [agent, client, index] = key else {
        return Err(malformed.into());
    };
    let key_of = || {
        Some(FeedbackKey {
            profile: Profile::Open,
            agent: <_>::from_value(agent)?,
            client: <_>::from_value(client)?,
            index: <_>::from_value(index)?,
        })
    };
    let feedback = key_of().ok_or(malformed)?;
    let row = store.feedback(scope.deployment, &feedback)?;
    let Some(row) = row.filter(|it| !it.uri.is_empty()) else {
        return Ok(Value::Null);
    };
    let Content::Bytes { bytes, .. } = store.content(scope.deployment, &row.uri)? else {
        return Ok(Value::Null);
    };
    let Ok(parsed) = parse_feedback(&bytes) else {
        return Ok(Value::Null);
    };
    let file = parsed.view();
    let members = serde_json::to_value(file).unwrap_or_default();
    let id = Id::Feedback.answer(key, scope);
    let mut answer = Map::new();
    for child in &selected.children {
        let value = match child.name.as_str() {
            "__typename" => json!(NAME),
            "id" | "feedbackId" => json!(id),
            "cid" => json!(row.uri.strip_prefix("ipfs://").unwrap_or_default()),
            "createdAt" => json!(row.at.to_string()),
            "tag1" => json!(file.head().tag1),
            "tag2" => json!(file.head().tag2),
            "valueRaw" => json!(value_of(file).0),
            "valueDecimals" => json!(value_of(file).1),
            name => member(&members, name),
        };
        answer.insert(child.key.clone(), value);
    }
    Ok(Value::Object(answer))
}

fn value_of(file: &FeedbackFile) -> (String, u8) {
    match file.rating() {
        Rating::Score(score) => (score.to_string(), 0),
        Rating::Value(value) => (value.value().to_string(), value.decimals()),
    }
}

/// Lists are lists, also empty; numbers are text, as the subgraph has them.
fn member(file: &Value, name: &str) -> Value {
    let paths = MEMBERS.iter().find(|(known, _)| *known == name);
    let paths = paths.map_or(&[][..], |(_, paths)| paths);
    let found = paths.iter().find_map(|path| file.pointer(path));
    match found {
        Some(Value::Number(number)) => json!(number.to_string()),
        Some(found @ (Value::String(_) | Value::Array(_))) => found.clone(),
        _ if name.ends_with("Skills") || name.ends_with("Domains") => json!([]),
        _ => Value::Null,
    }
}
