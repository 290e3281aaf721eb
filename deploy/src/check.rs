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
