use serde::Serialize;

/// One fact that was read from the chain and compared with what it should be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Check {
    /// What it is about, such as `IdentityRegistry`.
    pub subject: String,
    /// What was compared, such as `code` or `getIdentityRegistry()`.
    pub fact: String,
    pub expected: String,
    pub found: String,
}

impl Check {
    pub fn new(subject: &str, fact: &str, expected: impl ToString, found: impl ToString) -> Self {
        Self {
            subject: subject.to_owned(),
            fact: fact.to_owned(),
            expected: expected.to_string(),
            found: found.to_string(),
        }
    }

    pub fn holds(&self) -> bool {
        self.expected == self.found
    }
}

/// One contract, as the address book, the local build and the chain have it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusRow {
    pub title: String,
    /// The address on record.
    pub recorded: Option<String>,
    /// The address that the local build comes to.
    pub built: String,
    /// What the chain has there, such as `as built` or `nothing`.
    pub on_chain: String,
    /// What differs; `None`: nothing does.
    pub drift: Option<String>,
}

/// What a smoke test did, and whether the registries then gave the right answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Smoke {
    #[serde(rename = "deeds")]
    pub steps: Vec<SmokeStep>,
    pub checks: Vec<Check>,
}

/// One thing that a smoke test made or sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SmokeStep {
    /// Such as `agent` or `register`.
    pub what: String,
    /// An id, an address, or a transaction.
    pub value: String,
    /// The explorer's page, on networks with a known explorer.
    pub link: Option<String>,
}
