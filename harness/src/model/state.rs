use super::{Actor, Agent, Bytes32};
use serde::Serialize;
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
///             { "score": 95, "tag1": "0x<64 digits>", "tag2": "0x<64 digits>",
///               "time": 3, "revoked": false, "responses": 0 }
///           ]
///         }
///       },
///       "open": { "clients": [], "entries": {} },
///       "validations": {}
///     }
///   }
/// }
/// ```
///
/// `count`, `sum` and `average` are over feedback that is not revoked. `clients` are in the order
/// of their first feedback; a client's list holds index 1 first. Times are seconds after the
/// scenario's start; the outermost one is that of the latest transaction. An address that no
/// label stands for is written `unlabelled:<native address>`. Native ids, gas and rent never
/// enter. `metadata`, `open` and `validations` are empty until their operations exist; what is
/// added later goes into them and takes no name from the others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CanonicalState {
    pub time: u64,
    pub agents: BTreeMap<Agent, AgentState>,
}

/// One agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AgentState {
    pub owner: Actor,
    pub uri: String,
    pub wallet: Option<Actor>,
    /// Keys ever set, each with its value as hex.
    pub metadata: BTreeMap<String, String>,
    pub authorized: AuthorizedState,
    pub open: OpenState,
    /// By request hash.
    pub validations: BTreeMap<String, Value>,
}

/// The authorized profile of one agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AuthorizedState {
    pub count: u64,
    pub sum: u64,
    pub average: u8,
    pub clients: Vec<Actor>,
    pub entries: BTreeMap<Actor, Vec<FeedbackState>>,
}

/// One authorized feedback.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FeedbackState {
    pub score: u8,
    pub tag1: Bytes32,
    pub tag2: Bytes32,
    pub time: u64,
    pub revoked: bool,
    pub responses: u64,
}

/// The open profile of one agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OpenState {
    pub clients: Vec<Actor>,
    pub entries: BTreeMap<Actor, Vec<Value>>,
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
            validations: BTreeMap::new(),
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
/// its path, and the value on either side (`null` where there is none).
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
