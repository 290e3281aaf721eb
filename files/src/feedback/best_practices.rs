use serde::Serialize;

use super::FeedbackHead;
use crate::{
    AgentId, Extra, RatingValue,
    agent_id::{IdForm, as_number},
    error::Error,
    mapping::Mappings,
    payment::{ChainForm, PaymentField},
    reader::{Fields, Node, list, text},
};

/// A feedback file of ERC-8004, as BP describes it: open feedback, with a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct BestPracticesFeedback {
    /// What every dialect states.
    #[serde(flatten)]
    pub head: FeedbackHead,
    /// The agent's id: a number (R37).
    #[serde(serialize_with = "as_number")]
    #[cfg_attr(test, schemars(schema_with = "crate::schema::agent_id_number"))]
    pub agent_id: AgentId,
    /// The rating.
    #[serde(flatten)]
    pub value: RatingValue,
    /// What was used over MCP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcp: Option<McpContext>,
    /// What was used over A2A.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub a2a: Option<A2aContext>,
    /// The kind of work, in OASF's terms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oasf: Option<OasfContext>,
    /// Proof of payment, under either of its keys.
    #[serde(flatten)]
    pub payment: Option<PaymentField>,
    /// Everything else.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What was used over MCP.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct McpContext {
    /// A tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// A prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// A resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
    /// Everything else.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What was used over A2A.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct A2aContext {
    /// The skills.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, schemars(default))]
    pub skills: Vec<String>,
    /// The context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_id: Option<String>,
    /// The task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// Everything else.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The kind of work, in OASF's terms.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OasfContext {
    /// The skills.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, schemars(default))]
    pub skills: Vec<String>,
    /// The domains.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, schemars(default))]
    pub domains: Vec<String>,
    /// Everything else.
    #[serde(flatten)]
    pub extra: Extra,
}

impl BestPracticesFeedback {
    pub(super) fn read(mut fields: Fields<'_>, notes: &mut Mappings) -> Result<Self, Error> {
        let (registry, agent_id) = AgentId::read_pair(&mut fields, IdForm::Number, notes)?;
        let head = FeedbackHead::read(&mut fields, registry, notes)?;
        let value = RatingValue::read(&mut fields, notes)?;
        let payment = PaymentField::read(&mut fields, ChainForm::Text, notes)?;
        let [mcp, a2a, oasf] = ["mcp", "a2a", "oasf"].map(|key| fields.optional(key, notes));
        Ok(Self {
            head,
            agent_id,
            value,
            mcp: mcp.map(|node| McpContext::read(&node, notes)).transpose()?,
            a2a: a2a.map(|node| A2aContext::read(&node, notes)).transpose()?,
            oasf: oasf
                .map(|node| OasfContext::read(&node, notes))
                .transpose()?,
            payment,
            extra: fields.rest(),
        })
    }
}

impl McpContext {
    fn read(node: &Node<'_>, notes: &mut Mappings) -> Result<Self, Error> {
        let mut fields = node.fields()?;
        Ok(Self {
            tool: optional_text(&mut fields, "tool", notes)?,
            prompt: optional_text(&mut fields, "prompt", notes)?,
            resource: optional_text(&mut fields, "resource", notes)?,
            extra: fields.rest(),
        })
    }
}

impl A2aContext {
    fn read(node: &Node<'_>, notes: &mut Mappings) -> Result<Self, Error> {
        let mut fields = node.fields()?;
        Ok(Self {
            skills: texts(&mut fields, "skills", notes)?,
            context_id: optional_text(&mut fields, "contextId", notes)?,
            task_id: optional_text(&mut fields, "taskId", notes)?,
            extra: fields.rest(),
        })
    }
}

impl OasfContext {
    fn read(node: &Node<'_>, notes: &mut Mappings) -> Result<Self, Error> {
        let mut fields = node.fields()?;
        Ok(Self {
            skills: texts(&mut fields, "skills", notes)?,
            domains: texts(&mut fields, "domains", notes)?,
            extra: fields.rest(),
        })
    }
}

pub(super) fn optional_text(
    fields: &mut Fields<'_>,
    key: &'static str,
    notes: &mut Mappings,
) -> Result<Option<String>, Error> {
    let node = fields.optional(key, notes);
    node.map(|node| text(&node)).transpose()
}

/// A list of texts; missing means empty.
pub(super) fn texts(
    fields: &mut Fields<'_>,
    key: &'static str,
    notes: &mut Mappings,
) -> Result<Vec<String>, Error> {
    let node = fields.optional(key, notes);
    let read = node.map(|node| list(&node, text)).transpose()?;
    Ok(read.unwrap_or_default())
}
