//! Everything that was read, as one canonical JSON text.
mod evm;
mod file;
mod hex_text;
mod need;
mod piece;
mod svm;

pub use evm::{EvmAccount, EvmChain, EvmSlot, EvmTransaction};
pub use file::{Exchange, ReadFile};
pub use hex_text::{HexBytes, HexHash};
pub use need::{Need, Unavailable};
pub use piece::Piece;
pub use svm::{
    SvmAccount, SvmCall, SvmChain, SvmHolder, SvmHolders, SvmInner, SvmLoaded, SvmTransaction,
};

use crate::Subject;
use concord_canonical::json;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What a bundle's `format` says.
const FORMAT: &str = "concord-explain/1";

/// Bytes of a bundle that is read.
const SIZE_MAX: usize = 64 << 20;

/// Everything that was read about one feedback. Raw bytes only: what they mean is computed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Bundle {
    format: String,
    /// Which feedback.
    pub feedback: Subject,
    /// EVM chains by CAIP-2 id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub evm: BTreeMap<String, EvmChain>,
    /// Solana clusters by CAIP-2 id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub svm: BTreeMap<String, SvmChain>,
    /// Files by URI. Those that a URI holds itself are not here.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, ReadFile>,
    /// Request and response, if the caller has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchange: Option<Exchange>,
    /// What could not be had, so that a later reader knows why it is missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unavailable: Vec<Unavailable>,
    /// The answers of contracts (ERC-1271) to the reader of the bundle. They cannot be proven, so they are not written to files.
    #[serde(skip)]
    pub judgements: BTreeMap<Need, bool>,
    /// What the reader's own node answered about a cluster in this run, and files that hosts delivered. No file can say so, because
    /// nothing proves what a cluster did or what a host has.
    #[serde(skip)]
    pub read_here: BTreeSet<Need>,
    /// Whether what only a file says can be read again.
    #[serde(skip)]
    pub(crate) has_source: bool,
}

/// Why a text is not a bundle.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BundleError {
    /// It is too long.
    #[error("the bundle has {length} bytes; the limit is {limit}")]
    Size {
        /// Bytes of the text.
        length: usize,
        /// The most that is read.
        limit: usize,
    },
    /// It is not strict JSON (R22).
    #[error("the bundle is not strict JSON: {0}")]
    Json(concord_canonical::Error),
    /// A member is missing, unknown or of another type.
    #[error("the bundle is malformed: {0}")]
    Malformed(String),
    /// It is of another version.
    #[error("the bundle's format is {found:?}; expected {FORMAT:?}")]
    Format {
        /// What it says.
        found: String,
    },
}

impl Bundle {
    /// A bundle with nothing in it yet.
    #[must_use]
    pub fn new(feedback: Subject) -> Self {
        Self {
            format: FORMAT.to_owned(),
            feedback,
            evm: BTreeMap::new(),
            svm: BTreeMap::new(),
            files: BTreeMap::new(),
            exchange: None,
            unavailable: Vec::new(),
            judgements: BTreeMap::new(),
            read_here: BTreeSet::new(),
            has_source: false,
        }
    }

    /// Reads a bundle.
    ///
    /// # Errors
    /// [`BundleError`]. A bundle that is read may still prove nothing.
    pub fn parse(text: &str) -> Result<Self, BundleError> {
        let bundle: Self = parse_strict(text)?;
        match bundle.format.as_str() {
            FORMAT => Ok(bundle),
            found => Err(BundleError::Format {
                found: found.chars().take(64).collect(),
            }),
        }
    }

    /// The bundle as RFC 8785 text: one bundle has one text.
    ///
    /// # Errors
    /// [`BundleError::Json`] if a number is beyond what JSON keeps exactly.
    pub fn to_canonical(&self) -> Result<String, BundleError> {
        let text = serde_json::to_string(self).map_err(malformed)?;
        json::canonicalize(&text).map_err(BundleError::Json)
    }
}

/// Reads a bundle of either form.
pub(crate) fn parse_strict<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, BundleError> {
    let (length, limit) = (text.len(), SIZE_MAX);
    if length > limit {
        return Err(BundleError::Size { length, limit });
    }
    json::parse(text).map_err(BundleError::Json)?; // R22: serde_json takes duplicate keys
    serde_json::from_str(text).map_err(malformed)
}

fn malformed(error: serde_json::Error) -> BundleError {
    BundleError::Malformed(error.to_string())
}
