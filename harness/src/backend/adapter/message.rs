use crate::{
    backend::{
        Cost, Observed,
        views::{ViewName, asked_by_name},
    },
    model::{
        Actor, Agent, AgentState, Chain, Event, Operation, Outcome, RegistryProfile, Summary,
        Verdict,
    },
};
use concord_canonical::ErrorClass;
use serde::{Deserialize, Deserializer, Serialize, de::Error};
use serde_json::Value;
use std::collections::BTreeSet;

/// The longest name of an adapter, in characters: a column of the matrix.
const NAME_MAX: usize = 12;
/// Names that other participants have.
const TAKEN: &[&str] = &[
    "model",
    "evm-anvil",
    "evm-revm",
    "evm-rpc",
    "svm-litesvm",
    "svm-rpc",
];

/// What the harness asks.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub(super) enum Ask<'a> {
    Hello { protocol: u64, chain: Chain },
    Reset { start: u64, actors: &'a [Actor] },
    Execute { operation: &'a Operation, time: u64 },
    State {},
    AgentState { agent: &'a Agent },
    View { view: &'a str, arguments: &'a Value },
}

/// Who answers, and what its registry can do.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct Hello {
    pub protocol: u64,
    pub name: String,
    pub operations: BTreeSet<String>,
    /// The parts of the registries that it has. Absent: those of its operations.
    #[serde(default)]
    profiles: Option<BTreeSet<RegistryProfile>>,
    /// The views that it can be asked at the end of a scenario. Absent: none.
    #[serde(default)]
    views: BTreeSet<String>,
}

/// What came of an operation.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct Executed {
    outcome: Verdict,
    #[serde(default)]
    events: Vec<Event>,
    #[serde(default)]
    summary: Option<Summary>,
    #[serde(default)]
    native_error: Option<String>,
    #[serde(default)]
    cost: Option<Cost>,
}

/// One agent, or null.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct Snapshot {
    pub agent: Option<AgentState>,
}

/// What a view returned, in canonical terms, or the class of its refusal.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub(super) enum Viewed {
    Returns(Value),
    Refused(Refusal),
}

/// The error class of the rule that was broken.
#[derive(Debug)]
pub(super) struct Refusal(pub ErrorClass);

impl<'de> Deserialize<'de> for Refusal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let class = ErrorClass::from_name(&name);
        class
            .map(Self)
            .ok_or_else(|| D::Error::custom(format!("`{name}` is not an error class")))
    }
}

/// An answer without content: `{}`.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct Done {}

impl Ask<'_> {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Hello { .. } => "hello",
            Self::Reset { .. } => "reset",
            Self::Execute { .. } => "execute",
            Self::State {} => "state",
            Self::AgentState { .. } => "agent_state",
            Self::View { .. } => "view",
        }
    }
}

impl Hello {
    /// What is checked.
    pub fn profiles(&self) -> BTreeSet<RegistryProfile> {
        let of_operations = || {
            let names = self.operations.iter();
            names
                .filter_map(|name| Operation::profile_of(name))
                .collect()
        };
        self.profiles.clone().unwrap_or_else(of_operations)
    }

    /// The views that it can be asked.
    ///
    /// # Errors
    /// The name is not that of a view, or the view belongs to a part that the registry does not have.
    pub fn views(&self, chain: Chain) -> Result<BTreeSet<ViewName>, String> {
        let views = asked_by_name(chain, &self.views).map_err(|unknown| {
            format!(
                "hello.views has `{unknown}`, which is not a view that an adapter is asked on {chain}"
            )
        })?;
        let profiles = self.profiles();
        let undeclared = views.iter().find(|it| !profiles.contains(&it.profile()));
        match undeclared {
            Some(view) => Err(format!(
                "hello.views has `{view}`, and hello.profiles does not have `{}`",
                view.profile()
            )),
            None => Ok(views),
        }
    }

    /// The protocol's name, which no other protocol has.
    pub fn check(&self) -> Result<(), String> {
        if self.protocol != super::PROTOCOL {
            let (theirs, ours) = (self.protocol, super::PROTOCOL);
            return Err(format!(
                "hello.protocol is {theirs}, this harness speaks {ours}"
            ));
        }
        if let Some(unknown) = self
            .operations
            .iter()
            .find(|it| Operation::profile_of(it).is_none())
        {
            return Err(format!(
                "hello.operations has `{unknown}`, which is not an operation"
            ));
        }
        let name = &self.name;
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if name.is_empty() || name.len() > NAME_MAX || !name.chars().all(is_plain) {
            return Err(format!(
                "hello.name is `{name}`, and must be 1 to {NAME_MAX} lower-case letters, digits or hyphens"
            ));
        }
        if TAKEN.contains(&name.as_str()) {
            return Err(format!(
                "hello.name is `{name}`, which is another participant's"
            ));
        }
        Ok(())
    }
}

impl From<Executed> for Observed {
    fn from(executed: Executed) -> Self {
        Self {
            outcome: Outcome {
                verdict: executed.outcome,
                events: executed.events,
                summary: executed.summary,
            },
            native_error: executed.native_error,
            cost: executed.cost,
            transaction: None,
            token_events: None,
        }
    }
}
