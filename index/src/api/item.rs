//! A feedback as answers have it. A page has many, so that it becomes text without a value of JSON in between.
use super::{
    names::{Directory, profile_name},
    render::{decimal, hexadecimal, state, transaction},
};
use crate::{
    query::{Authorship, FoundFeedback},
    table::{Evidence, Feedback, Fetched},
};
use serde::Serialize;
use serde_json::Value;

/// A feedback with what its file supports (R49), and the agents whose wallet its client is (BP).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FeedbackItem<'a> {
    agent: String,
    profile: &'static str,
    client_address: String,
    feedback_index: u64, // R44
    value: String,
    value_decimals: u8,
    decimal: Option<String>,
    tag1: &'a str,
    tag2: &'a str,
    endpoint: &'a str,
    #[serde(rename = "feedbackURI")]
    uri: &'a str,
    feedback_hash: String,
    authorization: Option<AuthorizationItem>,
    created_at: i64,
    transaction: String,
    is_revoked: bool,
    revoked_at: Option<i64>,
    responses: u64,
    payment_proven: bool,
    evidence: Option<EvidenceItem<'a>>,
    authorship: AuthorshipItem<'a>,
    rater_agents: Vec<String>,
}

#[derive(Serialize)]
struct AuthorizationItem {
    scheme: u8,
    signature: Option<String>,
}

/// R49: what a file supports.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EvidenceItem<'a> {
    state: &'static str,
    reason: Option<&'a str>,
    checked_at: Option<i64>,
    fetched_at: Option<i64>,
    fetch_error: Option<&'a str>,
    content_proven: bool,
    hash_scheme: Option<&'a str>,
    dialect: Option<&'a str>,
    differences: Option<Value>,
    task_ref: Option<&'a str>,
    signatures_hold: Option<bool>,
}

/// R49: who counts, and whom the file names without proof.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AuthorshipItem<'a> {
    kind: &'static str,
    reviewer: String,
    claimed_reviewer: Option<&'a str>,
}

impl<'a> FeedbackItem<'a> {
    pub fn new(
        directory: &Directory,
        found: &'a FoundFeedback,
        evidence: Option<&'a Fetched<Evidence>>,
        authorship: &'a Authorship,
        rater_agents: Vec<String>,
    ) -> Self {
        let (deployment, key, row) = (found.deployment, &found.key, &found.row);
        Self {
            agent: directory.name(deployment, key.agent),
            profile: profile_name(key.profile),
            client_address: key.client.to_string(),
            feedback_index: key.index,
            value: row.value.to_string(),
            value_decimals: row.decimals,
            decimal: decimal(row.value, row.decimals),
            tag1: &row.tag1,
            tag2: &row.tag2,
            endpoint: &row.endpoint,
            uri: &row.uri,
            feedback_hash: hexadecimal(&row.hash),
            authorization: authorization(row),
            created_at: row.at,
            transaction: transaction(&row.transaction),
            is_revoked: row.revoked_at.is_some(),
            revoked_at: row.revoked_at,
            responses: row.responses,
            payment_proven: row.is_paid,
            evidence: evidence.map(EvidenceItem::new),
            authorship: AuthorshipItem::new(directory.account(deployment, key.client), authorship),
            rater_agents,
        }
    }
}

fn authorization(row: &Feedback) -> Option<AuthorizationItem> {
    row.scheme.map(|scheme| AuthorizationItem {
        scheme,
        signature: row.signature.as_deref().map(hexadecimal),
    })
}

impl<'a> EvidenceItem<'a> {
    fn new((evidence, fetching): &'a Fetched<Evidence>) -> Self {
        let differences = evidence.differences.as_deref();
        let proof = evidence.proof.as_ref();
        Self {
            state: state(evidence.state),
            reason: evidence.reason.as_deref(),
            checked_at: fetching.checked_at,
            fetched_at: fetching.fetched_at,
            fetch_error: fetching.error.as_deref(),
            content_proven: evidence.is_proven,
            hash_scheme: evidence.scheme.as_deref(),
            dialect: evidence.dialect.as_deref(),
            differences: differences.and_then(|it| serde_json::from_str(it).ok()),
            task_ref: proof.map(|it| it.task_ref.as_str()),
            signatures_hold: proof.map(|it| it.holds),
        }
    }
}

impl<'a> AuthorshipItem<'a> {
    /// `client`: CAIP-10.
    fn new(client: String, authorship: &'a Authorship) -> Self {
        let (kind, reviewer, claimed_reviewer) = match authorship {
            Authorship::Onchain => ("onchain", client, None),
            Authorship::Signed { reviewer } => ("signed", reviewer.clone(), None),
            Authorship::Claimed { reviewer } => ("claimed", client, Some(reviewer.as_str())),
        };
        Self {
            kind,
            reviewer,
            claimed_reviewer,
        }
    }
}
