use super::HexBytes;
use serde::{Deserialize, Serialize};

/// A file that was fetched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadFile {
    /// Its bytes.
    pub bytes: HexBytes,
    /// The host that had it; `None` if it was fetched by CID.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The blocks from its CID to it, in the order in which they lead to it; empty if it is one raw block.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<HexBytes>,
}

/// The request and the response that a review is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exchange {
    /// Path and query as they were sent (R33).
    pub target: String,
    /// The request's body; empty if there was none.
    pub request: HexBytes,
    /// The response's body, decoded.
    pub response: HexBytes,
}
