use concord_canonical::sign::PublicKey;
use serde::Serialize;

use crate::{
    Algorithm, Extra,
    bytes::key_without_prefix,
    error::{Error, Rule},
    mapping::{MappingKind, Mappings},
    reader::{Node, text, u53},
};

/// A key that may sign the agent's responses (X402, R29, R30).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Signer {
    /// The key, compressed, without `0x`.
    #[serde(serialize_with = "key_without_prefix")]
    #[cfg_attr(test, schemars(schema_with = "crate::schema::public_key"))]
    pub public_key: PublicKey,
    /// Its algorithm.
    pub algorithm: Algorithm,
    /// Unix seconds from which it is valid.
    pub valid_from: u64,
    /// Unix seconds from which it is no longer valid; `None` means that it does not expire.
    #[cfg_attr(test, schemars(required, schema_with = "crate::schema::expiry"))]
    pub valid_until: Option<u64>,
    /// A note for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// Everything else.
    #[serde(flatten)]
    pub extra: Extra,
}

impl Signer {
    pub(super) fn read(node: &Node<'_>, notes: &mut Mappings) -> Result<Self, Error> {
        let mut fields = node.fields()?;
        let algorithm = Algorithm::read(&fields.need("algorithm")?)?;
        let key = fields.need("publicKey")?;
        if key.str()?.starts_with("0x") {
            notes.note(MappingKind::PublicKeyPrefix, &key.path);
        }
        // X402 requires validUntil: null, and only null, means that the key does not expire
        let until = fields.need("validUntil")?;
        let comment = fields.optional("comment", notes);
        Ok(Self {
            public_key: algorithm.read_key(&key)?,
            algorithm,
            valid_from: u53(&fields.need("validFrom")?)?,
            valid_until: if until.value.is_null() {
                None
            } else {
                Some(u53(&until)?)
            },
            comment: comment.map(|node| text(&node)).transpose()?,
            extra: fields.rest(),
        })
    }

    /// Whether the key is valid at a time in unix seconds: `validFrom ≤ t < validUntil` (R30).
    #[must_use]
    pub fn is_valid_at(&self, unix_seconds: u64) -> bool {
        self.valid_from <= unix_seconds && self.valid_until.is_none_or(|until| unix_seconds < until)
    }

    /// A key with an empty window could never sign, so no writer publishes it.
    pub(super) fn check_window(&self, index: usize) -> Result<(), Error> {
        match self.valid_until {
            Some(until) if until <= self.valid_from => {
                let limit = "later than validFrom";
                let path = format!("$.signers[{index}].validUntil");
                Err(Error::new(path, Rule::Range { limit }).found(&until.to_string()))
            }
            _ => Ok(()),
        }
    }
}
