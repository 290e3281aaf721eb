use concord_canonical::limits::SCORE_MAX;
use serde::Serialize;

use super::FeedbackHead;
use crate::{
    AgentId, Attachment, Extra,
    agent_id::{IdForm, as_number},
    bytes::Bytes,
    error::Error,
    mapping::Mappings,
    payment::{ChainForm, PaymentField},
    reader::{Fields, Node, list, text, u53},
};

/// A feedback file of PROFILE: authorized feedback, with a score. `feedback_auth` distinguishes
/// the first version (required there) from 1.1 (removed there).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ProfileFeedback {
    /// What every dialect states.
    #[serde(flatten)]
    pub head: FeedbackHead,
    /// The agent's id: a number (R37).
    #[serde(serialize_with = "as_number")]
    #[cfg_attr(test, schemars(schema_with = "crate::schema::agent_id_number"))]
    pub agent_id: AgentId,
    /// The authorization that was used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feedback_auth: Option<Bytes>,
    /// The score on chain.
    #[cfg_attr(test, schemars(range(max = 100)))]
    pub score: u8,
    /// The review in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// A2A: the skill used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
    /// A2A: the context of the task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// A2A: the task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// MCP: `prompts`, `resources`, `tools` or `completions`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capability: Option<String>,
    /// MCP: the name of the tool, resource or prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Proof of payment, under either of its keys.
    #[serde(flatten)]
    pub payment: Option<PaymentField>,
    /// Evidence.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, schemars(default))]
    pub attachments: Vec<Attachment>,
    /// Everything else, such as `rating_breakdown`.
    #[serde(flatten)]
    pub extra: Extra,
}

impl ProfileFeedback {
    pub(super) fn read(mut fields: Fields<'_>, notes: &mut Mappings) -> Result<Self, Error> {
        let (registry, agent_id) = AgentId::read_pair(&mut fields, IdForm::Number, notes)?;
        let head = FeedbackHead::read(&mut fields, registry, notes)?;
        let feedback_auth = fields.optional("feedbackAuth", notes);
        let attachments = fields.optional("attachments", notes);
        let attachments = attachments
            .map(|node| list(&node, |element| Attachment::read(element, notes)))
            .transpose()?;
        let score = read_score(&fields.need("score")?)?;
        let payment = PaymentField::read(&mut fields, ChainForm::Number, notes)?;
        let mut plain = |key| {
            let node = fields.optional(key, notes);
            node.map(|node| text(&node)).transpose()
        };
        Ok(Self {
            head,
            agent_id,
            feedback_auth: feedback_auth.map(|node| Bytes::read(&node)).transpose()?,
            score,
            reasoning: plain("reasoning")?,
            skill: plain("skill")?,
            context: plain("context")?,
            task: plain("task")?,
            capability: plain("capability")?,
            name: plain("name")?,
            payment,
            attachments: attachments.unwrap_or_default(),
            extra: fields.rest(),
        })
    }
}

/// 0 to 100.
fn read_score(node: &Node<'_>) -> Result<u8, Error> {
    let score = u53(node)?;
    let limit = SCORE_MAX;
    u8::try_from(score)
        .ok()
        .filter(|score| *score <= SCORE_MAX)
        .ok_or_else(|| node.form(concord_canonical::Error::ScoreOutOfRange { score, limit }))
}
