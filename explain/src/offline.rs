//! From the text of a bundle to the JSON of its report: for a machine without a network, and for the browser.
use crate::{
    Bundle, BundleError, Report, ReputationBundle, ReputationReport, State, SubjectError, Trust,
    explain, explain_reputation, trust::read_hash,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// What a bundle explains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Explanation {
    /// One feedback.
    Feedback(Report),
    /// A number, and every feedback behind it.
    Reputation(ReputationReport),
}

/// Why a text explains nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OfflineError {
    /// It is not a bundle.
    #[error(transparent)]
    Bundle(#[from] BundleError),
    /// It is a bundle that names no feedback.
    #[error(transparent)]
    Subject(#[from] SubjectError),
}

/// Explains a bundle of either form. Reads nothing but its arguments.
///
/// # Errors
/// [`OfflineError`]. A bundle that proves nothing is not an error: its report says so.
pub fn explain_text(text: &str, trust: &Trust) -> Result<Explanation, OfflineError> {
    if ReputationBundle::is_format_of(text) {
        let explained = explain_reputation(&ReputationBundle::parse(text)?, trust)?;
        return Ok(Explanation::Reputation(explained.report));
    }
    let explained = explain(&Bundle::parse(text)?, trust)?;
    Ok(Explanation::Feedback(explained.report))
}

impl Explanation {
    /// The state of the whole (R36).
    #[must_use]
    pub fn state(&self) -> State {
        match self {
            Self::Feedback(report) => report.state(),
            Self::Reputation(report) => report.state(),
        }
    }

    /// The report for programs.
    #[must_use]
    pub fn to_json(&self) -> Value {
        match self {
            Self::Feedback(report) => feedback(report),
            Self::Reputation(report) => reputation(report),
        }
    }
}

fn feedback(report: &Report) -> Value {
    json!({
        "state": report.state(),
        "feedback": report.feedback,
        "restsOn": report.rests_on,
        "findings": report.findings,
        "notApplicable": report.not_applicable,
    })
}

fn reputation(report: &ReputationReport) -> Value {
    let counts = State::ALL.map(|state| (state.name().to_lowercase(), report.count(state).into()));
    let counted: Map<String, Value> = counts.into_iter().collect();
    json!({ "state": report.state(), "counted": counted, "report": report })
}

/// A bundle, and whom its reader trusts beyond the canonical registries.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Request {
    /// The bundle's text.
    bundle: String,
    /// Registries that run Concord's code, each `CONTRACT=CAIP-10` (R28).
    #[serde(default)]
    registries: Vec<String>,
    /// The texts of address books.
    #[serde(default)]
    address_books: Vec<String>,
    /// Block hashes by CAIP-2 id.
    #[serde(default)]
    blocks: BTreeMap<String, String>,
}

/// Answers a JSON request (`bundle`, `registries`, `addressBooks`, `blocks`) with `{"ok": report}` or
/// `{"error": "why"}`.
#[must_use]
pub fn answer(request: &[u8]) -> String {
    let answered = match answered(request) {
        Ok(explanation) => json!({ "ok": explanation.to_json() }),
        Err(reason) => json!({ "error": reason }),
    };
    answered.to_string()
}

fn answered(request: &[u8]) -> Result<Explanation, String> {
    let request: Request =
        serde_json::from_slice(request).map_err(|error| format!("the request: {error}"))?;
    let trust = trust(&request)?;
    explain_text(&request.bundle, &trust).map_err(|error| error.to_string())
}

fn trust(request: &Request) -> Result<Trust, String> {
    let mut trust = Trust::canonical();
    for (at, named) in request.registries.iter().enumerate() {
        let added = trust.add_named(named);
        added.map_err(|error| format!("registries[{at}]: {error}"))?;
    }
    for (at, book) in request.address_books.iter().enumerate() {
        let added = trust.add_address_book(book);
        added.map_err(|error| format!("addressBooks[{at}]: {error}"))?;
    }
    for (chain, hash) in &request.blocks {
        let hash = read_hash(hash).map_err(|error| format!("blocks[{chain:?}]: {error}"))?;
        trust.add_block(chain, hash);
    }
    Ok(trust)
}
