use serde::Serialize;

use crate::{
    Extra,
    error::{Error, Rule},
    mapping::{MappingKind, Mappings},
    reader::{Fields, Node, text},
};

/// A way to reach or to pay the agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Service {
    /// Its kind, such as `MCP`, `A2A` or `agentWallet`.
    pub name: String,
    /// A URL; a CAIP-10 id for `agentWallet`.
    pub endpoint: String,
    /// The version of its protocol.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Everything else, such as skills and domains.
    #[serde(flatten)]
    pub extra: Extra,
}

impl Service {
    /// R42: `name` and `endpoint`, or `type` and `url`.
    pub(super) fn read(node: &Node<'_>, notes: &mut Mappings) -> Result<Self, Error> {
        let mut fields = node.fields()?;
        let name = need(
            &mut fields,
            ["name", "type"],
            MappingKind::ServiceTypeKey,
            notes,
        )?;
        let endpoint = need(
            &mut fields,
            ["endpoint", "url"],
            MappingKind::ServiceUrlKey,
            notes,
        )?;
        let version = fields.optional("version", notes);
        Ok(Self {
            name: text(&name)?,
            endpoint: text(&endpoint)?,
            version: version.map(|node| text(&node)).transpose()?,
            extra: fields.rest(),
        })
    }
}

fn need<'v>(
    fields: &mut Fields<'v>,
    names: [&'static str; 2],
    kind: MappingKind,
    notes: &mut Mappings,
) -> Result<Node<'v>, Error> {
    let node = fields.prefer(names, kind, notes);
    node.ok_or_else(|| Error::new(fields.path_of(names[0]), Rule::Missing))
}
