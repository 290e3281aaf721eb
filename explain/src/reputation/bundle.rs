use crate::{Bundle, BundleError, Piece, Subject, SubjectError, bundle::parse_strict};
use concord_canonical::{caip::EIP155, json};
use concord_registry::event::Profile;
use core::fmt;
use serde::{Deserialize, Serialize};

/// What a bundle's `format` says.
const FORMAT: &str = "concord-explain-reputation/1";

/// Whose feedback counts (R48). There is no default.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ReviewerSet {
    /// Everyone who ever gave feedback.
    Everyone,
    /// These. As in `getSummary`, one that is listed twice counts twice.
    Listed(Vec<String>),
}

/// What a number is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Query {
    /// The identity registry, CAIP-10; on Solana the program.
    pub agent_registry: String,
    /// The address of the reputation registry; on Solana the program again.
    pub reputation_registry: String,
    /// `open` or `authorized`.
    pub profile: String,
    /// The agent's id.
    pub agent_id: String,
    /// Whose feedback counts.
    pub reviewers: ReviewerSet,
    /// The first tag; empty for any.
    pub tag1: String,
    /// The second tag; empty for any.
    pub tag2: String,
    /// E: the number of the block whose state is asked.
    pub at_block: u64,
}

impl Query {
    pub(super) fn read_profile(&self) -> Option<Profile> {
        match self.profile.as_str() {
            "open" => Some(Profile::Open),
            "authorized" => Some(Profile::Authorized),
            _ => None,
        }
    }
}

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (registry, agent, profile) = (&self.agent_registry, &self.agent_id, &self.profile);
        write!(f, "{registry}:{agent} {profile} by ")?;
        match &self.reviewers {
            ReviewerSet::Everyone => f.write_str("everyone")?,
            ReviewerSet::Listed(listed) => write!(f, "{} listed reviewers", listed.len())?,
        }
        if !registry.ends_with(&self.reputation_registry) {
            write!(f, ", counted by {}", self.reputation_registry)?;
        }
        if registry.starts_with(EIP155) {
            write!(f, ", at block {}", self.at_block)?;
        }
        for (name, tag) in [("tag1", &self.tag1), ("tag2", &self.tag2)] {
            if !tag.is_empty() {
                write!(f, ", {name} {tag}")?;
            }
        }
        Ok(())
    }
}

/// Everything that was read about a number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReputationBundle {
    format: String,
    /// What the number is over.
    pub query: Query,
    /// The feedbacks behind it.
    pub feedbacks: Vec<Subject>,
    /// What was read, about all of them.
    pub read: Bundle,
}

impl ReputationBundle {
    /// A bundle with nothing in it yet.
    #[must_use]
    pub fn new(query: Query, feedbacks: Vec<Subject>) -> Self {
        let mut bundle = Self {
            format: FORMAT.to_owned(),
            read: Bundle::new(nobodys(&query)),
            query,
            feedbacks,
        };
        bundle.read.feedback = bundle.subject_of_nobody();
        bundle
    }

    /// Whether a text says that it is one of these.
    #[must_use]
    pub fn is_format_of(text: &str) -> bool {
        let value: Option<serde_json::Value> = serde_json::from_str(text).ok();
        value.is_some_and(|it| it.get("format").and_then(|it| it.as_str()) == Some(FORMAT))
    }

    /// Reads a bundle.
    ///
    /// # Errors
    /// [`BundleError`].
    pub fn parse(text: &str) -> Result<Self, BundleError> {
        let bundle: Self = parse_strict(text)?;
        if bundle.format == FORMAT {
            Ok(bundle)
        } else {
            Err(BundleError::Format {
                found: bundle.format.chars().take(64).collect(),
            })
        }
    }

    /// The bundle as RFC 8785 text.
    ///
    /// # Errors
    /// [`BundleError::Json`].
    pub fn to_canonical(&self) -> Result<String, BundleError> {
        let text = serde_json::to_string(self);
        let text = text.map_err(|error| BundleError::Malformed(error.to_string()))?;
        json::canonicalize(&text).map_err(BundleError::Json)
    }

    /// Adds what was fetched.
    pub fn add(&mut self, piece: Piece) {
        self.read.add(piece);
    }

    /// Names the agent, for questions that are about no client.
    pub(super) fn subject_of_nobody(&self) -> Subject {
        self.feedbacks.first().map_or_else(
            || nobodys(&self.query),
            |it| Subject {
                at_block: self.query.at_block,
                ..it.clone()
            },
        )
    }

    /// One of the feedbacks, at the query's block.
    pub(super) fn of_query(&self, subject: &Subject) -> Result<Subject, SubjectError> {
        let query = &self.query;
        let same = [
            (&subject.agent_registry, &query.agent_registry),
            (&subject.reputation_registry, &query.reputation_registry),
            (&subject.profile, &query.profile),
            (&subject.agent_id, &query.agent_id),
        ];
        match same.iter().find(|(own, asked)| own != asked) {
            Some((own, asked)) => Err(SubjectError::of_another(own, asked)),
            None => Ok(Subject {
                at_block: query.at_block,
                ..subject.clone()
            }),
        }
    }
}

/// A subject that names the agent only.
fn nobodys(query: &Query) -> Subject {
    let client = if query.agent_registry.starts_with("eip155:") {
        format!("0x{}", "0".repeat(40))
    } else {
        query.reputation_registry.clone()
    };
    Subject {
        agent_registry: query.agent_registry.clone(),
        reputation_registry: query.reputation_registry.clone(),
        profile: query.profile.clone(),
        agent_id: query.agent_id.clone(),
        client,
        index: 1,
        transaction: String::new(),
        at_block: query.at_block,
    }
}
