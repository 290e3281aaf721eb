use super::{Actor, Agent, Bytes, Bytes32, Integer, PaddedTag, WideInteger};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// What a registry knows, in the same terms on every chain (specification §3a).
///
/// Serialized it is this JSON, whose RFC 8785 form is hashed into the state digest:
///
/// ```json
/// {
///   "time": 7,
///   "agents": {
///     "<agent label>": {
///       "owner": "<actor label>",
///       "uri": "<text>",
///       "wallet": "<actor label>" or null,
///       "metadata": { "<key ever set>": "0x<value>" },
///       "authorized": {
///         "count": 1, "sum": 95, "average": 95,
///         "clients": ["<actor label>", ...],
///         "entries": {
///           "<client label>": [
///             { "score": 95, "tag1": "<tag>", "tag2": "<tag>",
///               "time": 3, "revoked": false, "responses": 0 }
///           ]
///         }
///       },
///       "open": {
///         "count": 1, "sum": "95000000000000000000",
///         "clients": ["<actor label>", ...],
///         "entries": {
///           "<client label>": [
///             { "value": "95", "decimals": 0, "tag1": "<tag>", "tag2": "<tag>",
///               "revoked": false, "responses": 0 }
///           ]
///         }
///       },
///       "validations": {
///         "answered": 1,
///         "requests": {
///           "0x<request hash>": {
///             "<validator label>": { "time": 9, "answer": { "score": 80, "hash": "0x<hash>", "tag": "<tag>" } or null }
///           }
///         }
///       }
///     }
///   }
/// }
/// ```
///
/// Counts and sums are over feedback that is not revoked; the open sum is in units of 1e-18.
/// `clients` are in the order of their first feedback; a client's list holds index 1 first. Times
/// are seconds after the scenario's start; the outermost one is that of the latest transaction,
/// a validation's that of its request or latest response. An address that no label stands for is
/// written `unlabelled:<native address>`. A 32-byte tag that is not text is written in hex. Where
/// an entry has a payment proof (Solana only), it has a member `payment`, and the authorized
/// profile a member `verified` with count and sum of such entries; else they are absent. Native
/// ids, gas and rent never enter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CanonicalState {
    pub time: u64,
    pub agents: BTreeMap<Agent, AgentState>,
}

/// One agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AgentState {
    pub owner: Actor,
    pub uri: String,
    pub wallet: Option<Actor>,
    /// Keys ever set, each with its value.
    pub metadata: BTreeMap<String, Bytes>,
    pub authorized: AuthorizedState,
    pub open: OpenState,
    pub validations: ValidationsState,
}

/// The authorized profile of one agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AuthorizedState {
    pub count: u64,
    pub sum: u64,
    pub average: u8,
    /// Count and sum of the entries with payment proof (R13); `None` without such entries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified: Option<Totals>,
    pub clients: Vec<Actor>,
    pub entries: BTreeMap<Actor, Vec<FeedbackState>>,
}

/// Count of scores, and their sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Totals {
    pub count: u64,
    pub sum: u64,
}

/// One authorized feedback.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FeedbackState {
    pub score: u8,
    pub tag1: PaddedTag,
    pub tag2: PaddedTag,
    pub time: u64,
    pub revoked: bool,
    pub responses: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payment: Option<PaymentState>,
}

/// What was paid for a feedback (R13).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PaymentState {
    pub token: Actor,
    /// In the token's smallest unit.
    pub amount: Integer,
}

/// The open profile of one agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct OpenState {
    pub count: u64,
    /// In units of 1e-18.
    pub sum: WideInteger,
    pub clients: Vec<Actor>,
    pub entries: BTreeMap<Actor, Vec<OpenFeedbackState>>,
}

/// One open feedback.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct OpenFeedbackState {
    pub value: Integer,
    pub decimals: u8,
    pub tag1: String,
    pub tag2: String,
    pub revoked: bool,
    pub responses: u64,
}

/// The validations of one agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ValidationsState {
    /// Requests with a response (R20).
    pub answered: u64,
    /// By request hash, then by validator: on Solana several may be asked under one hash
    /// (declared variance 3).
    pub requests: BTreeMap<Bytes32, BTreeMap<Actor, ValidationState>>,
}

/// One validation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ValidationState {
    /// Of the request, or of the latest response.
    pub time: u64,
    /// `None` while it is pending.
    pub answer: Option<AnswerState>,
}

/// A validator's latest response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AnswerState {
    pub score: u8,
    pub hash: Bytes32,
    pub tag: PaddedTag,
}

impl AgentState {
    /// R3: the owner is the wallet at registration.
    pub fn registered(owner: Actor, uri: String) -> Self {
        Self {
            wallet: Some(owner.clone()),
            owner,
            uri,
            metadata: BTreeMap::new(),
            authorized: AuthorizedState::default(),
            open: OpenState::default(),
            validations: ValidationsState::default(),
        }
    }
}

impl AuthorizedState {
    /// The client's last index: 0 when it never gave feedback (R8).
    pub fn last_index(&self, client: &Actor) -> u64 {
        self.entries
            .get(client)
            .map_or(0, |entries| entries.len() as u64)
    }
}

impl OpenState {
    /// As [`AuthorizedState::last_index`].
    pub fn last_index(&self, client: &Actor) -> u64 {
        self.entries
            .get(client)
            .map_or(0, |entries| entries.len() as u64)
    }
}

impl CanonicalState {
    /// The state as JSON.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).expect("labels, texts and integers are JSON")
    }

    /// keccak256 of the RFC 8785 form of [`Self::to_json`].
    pub fn digest(&self) -> Bytes32 {
        let text = self.to_json().to_string();
        Bytes32(
            concord_canonical::json::file_hash(&text)
                .expect("a state's integers are below 2^53, and its texts hold no lone surrogate"),
        )
    }
}

/// The first place, in the order of sorted keys, where two JSON documents differ:
/// its path, and the value on either side (`null` if there is none).
pub fn first_difference(left: &Value, right: &Value) -> Option<(String, Value, Value)> {
    difference_at("$".to_owned(), left, right)
}

fn difference_at(path: String, left: &Value, right: &Value) -> Option<(String, Value, Value)> {
    match (left, right) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: std::collections::BTreeSet<_> = a.keys().chain(b.keys()).collect();
            keys.into_iter().find_map(|key| {
                let child = format!("{path}.{key}");
                difference_between(child, a.get(key), b.get(key))
            })
        }
        (Value::Array(a), Value::Array(b)) => (0..a.len().max(b.len()))
            .find_map(|at| difference_between(format!("{path}[{at}]"), a.get(at), b.get(at))),
        _ if left == right => None,
        _ => Some((path, left.clone(), right.clone())),
    }
}

fn difference_between(
    path: String,
    left: Option<&Value>,
    right: Option<&Value>,
) -> Option<(String, Value, Value)> {
    match (left, right) {
        (Some(left), Some(right)) => difference_at(path, left, right),
        (left, right) => Some((
            path,
            left.cloned().unwrap_or(Value::Null),
            right.cloned().unwrap_or(Value::Null),
        )),
    }
}
