use serde::Serialize;

use super::{
    A2aContext, BestPracticesFeedback, FeedbackHead, McpContext, OasfContext,
    best_practices::{optional_text, texts},
};
use crate::{
    AgentId, Extra, RatingValue, RawJson,
    agent_id::{IdForm, as_number},
    error::{Error, Rule},
    mapping::Mappings,
    payment::{ChainForm, PaymentField},
    reader::Fields,
};

/// The keys that only this dialect has.
pub(super) const KEYS: [&str; 9] = [
    "text",
    "mcpTool",
    "mcpPrompt",
    "mcpResource",
    "a2aSkills",
    "a2aContextId",
    "a2aTaskId",
    "oasfSkills",
    "oasfDomains",
];

/// A feedback file as agent0-sdk writes it: BP's fields, with `mcp`, `a2a` and `oasf` flat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Agent0Feedback {
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
    /// The review in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// MCP: a tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcp_tool: Option<String>,
    /// MCP: a prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcp_prompt: Option<String>,
    /// MCP: a resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcp_resource: Option<String>,
    /// A2A: the skills.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, schemars(default))]
    pub a2a_skills: Vec<String>,
    /// A2A: the context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub a2a_context_id: Option<String>,
    /// A2A: the task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub a2a_task_id: Option<String>,
    /// OASF: the skills.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, schemars(default))]
    pub oasf_skills: Vec<String>,
    /// OASF: the domains.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, schemars(default))]
    pub oasf_domains: Vec<String>,
    /// Proof of payment, under either of its keys.
    #[serde(flatten)]
    pub payment: Option<PaymentField>,
    /// Everything else.
    #[serde(flatten)]
    pub extra: Extra,
}

impl Agent0Feedback {
    pub(super) fn read(mut fields: Fields<'_>, notes: &mut Mappings) -> Result<Self, Error> {
        let (registry, agent_id) = AgentId::read_pair(&mut fields, IdForm::Number, notes)?;
        Ok(Self {
            head: FeedbackHead::read(&mut fields, registry, notes)?,
            agent_id,
            value: RatingValue::read(&mut fields, notes)?,
            payment: PaymentField::read(&mut fields, ChainForm::Text, notes)?,
            text: optional_text(&mut fields, "text", notes)?,
            mcp_tool: optional_text(&mut fields, "mcpTool", notes)?,
            mcp_prompt: optional_text(&mut fields, "mcpPrompt", notes)?,
            mcp_resource: optional_text(&mut fields, "mcpResource", notes)?,
            a2a_skills: texts(&mut fields, "a2aSkills", notes)?,
            a2a_context_id: optional_text(&mut fields, "a2aContextId", notes)?,
            a2a_task_id: optional_text(&mut fields, "a2aTaskId", notes)?,
            oasf_skills: texts(&mut fields, "oasfSkills", notes)?,
            oasf_domains: texts(&mut fields, "oasfDomains", notes)?,
            extra: fields.rest(),
        })
    }

    /// The same feedback in ERC-8004's current form. `text` has no place there and becomes an extra
    /// member `reasoning`, PROFILE's name for it.
    ///
    /// # Errors
    /// [`Rule::Conflict`] if the file has another `reasoning` beside `text`.
    pub fn into_best_practices(self) -> Result<BestPracticesFeedback, Error> {
        let mcp = McpContext {
            tool: self.mcp_tool,
            prompt: self.mcp_prompt,
            resource: self.mcp_resource,
            extra: Extra::new(),
        };
        let a2a = A2aContext {
            skills: self.a2a_skills,
            context_id: self.a2a_context_id,
            task_id: self.a2a_task_id,
            extra: Extra::new(),
        };
        let oasf = OasfContext {
            skills: self.oasf_skills,
            domains: self.oasf_domains,
            extra: Extra::new(),
        };
        let mut extra = self.extra;
        if let Some(text) = self.text {
            let reasoning = RawJson::text(&text);
            let replaced = extra.insert("reasoning".to_owned(), reasoning.clone());
            // null is none
            if replaced.is_some_and(|it| it != reasoning && it.as_str() != "null") {
                let other = "$.text".to_owned();
                return Err(Error::new("$.reasoning", Rule::Conflict { other }));
            }
        }
        Ok(BestPracticesFeedback {
            head: self.head,
            agent_id: self.agent_id,
            value: self.value,
            mcp: (mcp != McpContext::default()).then_some(mcp),
            a2a: (a2a != A2aContext::default()).then_some(a2a),
            oasf: (oasf != OasfContext::default()).then_some(oasf),
            payment: self.payment,
            extra,
        })
    }
}
