use serde::Serialize;

use super::{Found, from_extensions};
use crate::{
    AgentId, Extra,
    agent_id::{IdForm, as_text},
    error::{Error, Rule},
    mapping::{MappingKind, Mappings},
    parsed::{Parsed, parse_with, write_canonical},
    reader::{Fields, Node, http_url, list},
};

/// What a 402 announces at `extensions[key].info`: X402's `ReputationInfo`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReputationInfo {
    /// The extension's version, such as `1.0.0`.
    #[cfg_attr(test, schemars(regex(pattern = r"^\d+\.\d+\.\d+$")))]
    pub version: String,
    /// The agent's registrations, at least one.
    #[cfg_attr(test, schemars(length(min = 1)))]
    pub registrations: Vec<RegistrationId>,
    /// Where feedback can be submitted without gas.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(url))]
    pub feedback_aggregator: Option<String>,
    /// Everything else.
    #[serde(flatten)]
    pub extra: Extra,
}

/// An agent on a registry: exactly two keys (R42), the id as text (R37).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RegistrationId {
    /// The identity registry, CAIP-10.
    #[cfg_attr(test, schemars(schema_with = "crate::schema::account_id"))]
    pub agent_registry: String,
    /// The agent's id.
    #[serde(serialize_with = "as_text")]
    #[cfg_attr(test, schemars(with = "String"))]
    pub agent_id: AgentId,
}

impl RegistrationId {
    pub(super) fn read(fields: &mut Fields<'_>, notes: &mut Mappings) -> Result<Self, Error> {
        let (agent_registry, agent_id) = AgentId::read_pair(fields, IdForm::Text, notes)?;
        Ok(Self {
            agent_registry,
            agent_id,
        })
    }
}

/// Reads a `ReputationInfo` by itself.
///
/// # Errors
/// Refuses what is not strict JSON (R22) and the first field that breaks its form.
pub fn parse_info(bytes: &[u8]) -> Result<Parsed<ReputationInfo>, Error> {
    parse_with(bytes, ReputationInfo::read)
}

/// Reads the `info` under each profile's key of a 402's `extensions` object.
///
/// # Errors
/// As [`parse_info`]; a key without `info` is malformed.
pub fn info_from_extensions(extensions: &[u8]) -> Result<Vec<Found<ReputationInfo>>, Error> {
    from_extensions(extensions, |node, notes| {
        let info = node.fields()?.need("info")?;
        ReputationInfo::read(&info, notes)
    })
}

impl ReputationInfo {
    fn read(node: &Node<'_>, notes: &mut Mappings) -> Result<Self, Error> {
        let mut fields = node.fields()?;
        let registrations = fields.need("registrations")?;
        let read = list(&registrations, |entry| {
            let mut fields = entry.fields()?;
            let id = RegistrationId::read(&mut fields, notes)?;
            if !fields.rest().is_empty() {
                notes.note(MappingKind::RegistrationKeys, &entry.path);
            }
            Ok(id)
        })?;
        if read.is_empty() {
            return Err(registrations.broken(Rule::Empty { unit: "entry" }));
        }
        // R35: either spelling
        let names = ["feedbackAggregator", "feedbackEndpoint"];
        let aggregator = fields.either(names, MappingKind::FeedbackEndpointKey, notes)?;
        Ok(Self {
            version: read_version(&fields.need("version")?)?,
            registrations: read,
            feedback_aggregator: aggregator.map(|node| http_url(&node)).transpose()?,
            extra: fields.rest(),
        })
    }

    /// The info in its current form, RFC 8785.
    ///
    /// # Errors
    /// Refuses what [`parse_info`] would refuse.
    pub fn to_canonical(&self) -> Result<String, Error> {
        write_canonical(self, Self::read).map(|(text, _)| text)
    }
}

/// Three decimal numbers.
fn read_version(node: &Node<'_>) -> Result<String, Error> {
    let text = node.str()?;
    let parts: Vec<&str> = text.split('.').collect();
    let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let allowed = "a version of three numbers, such as 1.0.0";
    if parts.len() == 3 && parts.iter().all(is_number) {
        Ok(text.to_owned())
    } else {
        Err(node.broken(Rule::Name { allowed }))
    }
}
