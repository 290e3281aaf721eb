use super::{
    Actor, Agent, Authorization, Bytes, Bytes32, Chain, Consent, Form, Integer, PaddedTag, Payment,
};
use serde::{Deserialize, Serialize};

/// One call of a registry, in labels (specification §3a). As JSON, an object with one key: the
/// operation's name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Operation {
    /// `by` registers a new agent and owns it.
    Register {
        agent: Agent,
        by: Actor,
        uri: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        metadata: Vec<Metadata>,
    },
    SetAgentUri {
        agent: Agent,
        by: Actor,
        uri: String,
    },
    SetMetadata {
        agent: Agent,
        by: Actor,
        key: String,
        value: Bytes,
    },
    /// `wallet` `None`: the zero address.
    SetAgentWallet {
        agent: Agent,
        by: Actor,
        wallet: Option<Actor>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        consent: Option<Consent>,
    },
    UnsetAgentWallet {
        agent: Agent,
        by: Actor,
    },
    /// `by` sends the agent's token, wherever it is, to `to`.
    Transfer {
        agent: Agent,
        by: Actor,
        to: Actor,
        /// Into a token account whose owner could be changed later (R4). Means nothing on EVM.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        into_mutable_account: bool,
    },
    /// Token-2022's own burn. Solana only.
    Burn {
        agent: Agent,
        by: Actor,
    },
    /// ERC-721's approval of one operator for one token. EVM only.
    Approve {
        agent: Agent,
        by: Actor,
        operator: Option<Actor>,
    },
    /// ERC-721's approval of an operator for every token of `by`. EVM only.
    SetOperator {
        by: Actor,
        operator: Actor,
        approved: bool,
    },
    /// `None`: the owner's key counts again (R7). Solana only.
    SetFeedbackAuthority {
        agent: Agent,
        by: Actor,
        authority: Option<Actor>,
    },
    /// A sum of 1 (x84) and 2 (bounded) (R10). Solana only.
    SetAuthSchemes {
        agent: Agent,
        by: Actor,
        schemes: u8,
    },
    /// Whether payments in `token` count (R13). Solana only, as the three after it.
    ListPaymentToken {
        by: Actor,
        token: Actor,
        listed: bool,
    },
    /// Whether statements of `facilitator` count (R13).
    ListFacilitator {
        by: Actor,
        facilitator: Actor,
        listed: bool,
    },
    /// The registry's authority names its successor.
    ProposeRegistryAuthority {
        by: Actor,
        successor: Actor,
    },
    AcceptRegistryAuthority {
        by: Actor,
    },
    GiveFeedback(Box<Feedback>),
    /// `by` withdraws its own authorized feedback of this 1-based index.
    RevokeFeedback {
        agent: Agent,
        by: Actor,
        index: u64,
    },
    AppendResponse(Response),
    /// `by` proves that `client` paid for the entry (R13). Solana only.
    AttachPaymentProof {
        agent: Agent,
        by: Actor,
        client: Actor,
        index: u64,
        payment: Payment,
    },
    /// Reads count and average of the authorized profile. Sends no transaction.
    Summary {
        agent: Agent,
    },
    GiveOpenFeedback(Box<OpenFeedback>),
    RevokeOpenFeedback {
        agent: Agent,
        by: Actor,
        index: u64,
    },
    AppendOpenResponse(Response),
    /// Reads the open profile's summary over the listed clients (R16). Sends no transaction.
    OpenSummary {
        agent: Agent,
        clients: Vec<Actor>,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        tag1: String,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        tag2: String,
    },
    /// `validator` `None`: the zero address.
    ValidationRequest {
        agent: Agent,
        by: Actor,
        validator: Option<Actor>,
        /// The request's full hash (R20).
        request: Bytes32,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        uri: String,
    },
    ValidationResponse(Box<ValidationAnswer>),
}

/// One metadata value of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metadata {
    pub key: String,
    pub value: Bytes,
}

/// The arguments of authorized feedback.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Feedback {
    pub agent: Agent,
    pub by: Actor,
    /// 0 to 100 are accepted.
    pub score: u8,
    /// Both chains store the same 32 bytes (R14).
    #[serde(default, skip_serializing_if = "PaddedTag::is_empty")]
    pub tag1: PaddedTag,
    #[serde(default, skip_serializing_if = "PaddedTag::is_empty")]
    pub tag2: PaddedTag,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub uri: String,
    /// keccak256 of the feedback file's RFC 8785 bytes (R21), or zeros.
    #[serde(default)]
    pub hash: Bytes32,
    /// What Solana's instruction is told; the client's last index plus one where it is `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authorization: Option<Authorization>,
}

/// The arguments of open feedback.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenFeedback {
    pub agent: Agent,
    pub by: Actor,
    /// At most 1e38 either way are accepted (R16).
    pub value: Integer,
    /// 0 to 18 are accepted (R16).
    #[serde(default)]
    pub decimals: u8,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tag1: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tag2: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub endpoint: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub uri: String,
    #[serde(default)]
    pub hash: Bytes32,
    /// As [`Feedback::index`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<u64>,
}

/// The arguments of a response to a feedback, in either profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Response {
    pub agent: Agent,
    /// Whoever responds: anyone may (R19).
    pub by: Actor,
    /// Whose feedback it is.
    pub client: Actor,
    pub index: u64,
    pub uri: String,
    #[serde(default)]
    pub hash: Bytes32,
}

/// The arguments of a validation's response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ValidationAnswer {
    /// The agent and the validator of the request. An EVM registry finds it by its hash alone.
    pub agent: Agent,
    pub validator: Actor,
    pub by: Actor,
    pub request: Bytes32,
    /// 0 to 100 are accepted.
    pub score: u8,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub uri: String,
    #[serde(default)]
    pub hash: Bytes32,
    /// Text on EVM, the padded 32 bytes on Solana (R14).
    #[serde(default, skip_serializing_if = "PaddedTag::is_empty")]
    pub tag: PaddedTag,
}

impl Operation {
    /// The name of every operation.
    pub const NAMES: [&'static str; 26] = [
        "register",
        "set_agent_uri",
        "set_metadata",
        "set_agent_wallet",
        "unset_agent_wallet",
        "transfer",
        "burn",
        "approve",
        "set_operator",
        "set_feedback_authority",
        "set_auth_schemes",
        "list_payment_token",
        "list_facilitator",
        "propose_registry_authority",
        "accept_registry_authority",
        "give_feedback",
        "revoke_feedback",
        "append_response",
        "attach_payment_proof",
        "summary",
        "give_open_feedback",
        "revoke_open_feedback",
        "append_open_response",
        "open_summary",
        "validation_request",
        "validation_response",
    ];

    /// The name used in scenario files and reports.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Register { .. } => "register",
            Self::SetAgentUri { .. } => "set_agent_uri",
            Self::SetMetadata { .. } => "set_metadata",
            Self::SetAgentWallet { .. } => "set_agent_wallet",
            Self::UnsetAgentWallet { .. } => "unset_agent_wallet",
            Self::Transfer { .. } => "transfer",
            Self::Burn { .. } => "burn",
            Self::Approve { .. } => "approve",
            Self::SetOperator { .. } => "set_operator",
            Self::SetFeedbackAuthority { .. } => "set_feedback_authority",
            Self::SetAuthSchemes { .. } => "set_auth_schemes",
            Self::ListPaymentToken { .. } => "list_payment_token",
            Self::ListFacilitator { .. } => "list_facilitator",
            Self::ProposeRegistryAuthority { .. } => "propose_registry_authority",
            Self::AcceptRegistryAuthority { .. } => "accept_registry_authority",
            Self::GiveFeedback(_) => "give_feedback",
            Self::RevokeFeedback { .. } => "revoke_feedback",
            Self::AppendResponse(_) => "append_response",
            Self::AttachPaymentProof { .. } => "attach_payment_proof",
            Self::Summary { .. } => "summary",
            Self::GiveOpenFeedback(_) => "give_open_feedback",
            Self::RevokeOpenFeedback { .. } => "revoke_open_feedback",
            Self::AppendOpenResponse(_) => "append_open_response",
            Self::OpenSummary { .. } => "open_summary",
            Self::ValidationRequest { .. } => "validation_request",
            Self::ValidationResponse(_) => "validation_response",
        }
    }

    /// A read sends no transaction, so it takes no time.
    pub fn is_read(&self) -> bool {
        matches!(self, Self::Summary { .. } | Self::OpenSummary { .. })
    }

    /// Who sends it; `None` for a read.
    pub fn by(&self) -> Option<&Actor> {
        match self {
            Self::Register { by, .. }
            | Self::SetAgentUri { by, .. }
            | Self::SetMetadata { by, .. }
            | Self::SetAgentWallet { by, .. }
            | Self::UnsetAgentWallet { by, .. }
            | Self::Transfer { by, .. }
            | Self::Burn { by, .. }
            | Self::Approve { by, .. }
            | Self::SetOperator { by, .. }
            | Self::SetFeedbackAuthority { by, .. }
            | Self::SetAuthSchemes { by, .. }
            | Self::ListPaymentToken { by, .. }
            | Self::ListFacilitator { by, .. }
            | Self::ProposeRegistryAuthority { by, .. }
            | Self::AcceptRegistryAuthority { by }
            | Self::RevokeFeedback { by, .. }
            | Self::AttachPaymentProof { by, .. }
            | Self::RevokeOpenFeedback { by, .. }
            | Self::ValidationRequest { by, .. } => Some(by),
            Self::GiveFeedback(feedback) => Some(&feedback.by),
            Self::GiveOpenFeedback(feedback) => Some(&feedback.by),
            Self::AppendResponse(response) | Self::AppendOpenResponse(response) => {
                Some(&response.by)
            }
            Self::ValidationResponse(answer) => Some(&answer.by),
            Self::Summary { .. } | Self::OpenSummary { .. } => None,
        }
    }

    /// Is it one that reads or writes reviews which an agent's signer allows?
    pub fn is_of_the_authorized_profile(&self) -> bool {
        matches!(
            self,
            Self::GiveFeedback(_)
                | Self::RevokeFeedback { .. }
                | Self::AppendResponse(_)
                | Self::Summary { .. }
        )
    }

    /// The only chain that can express it, where the other cannot.
    pub fn only_on(&self) -> Option<Chain> {
        self.absence().map(|(only, ..)| only)
    }

    /// Where one chain cannot express it: the other, the number of the declared variance
    /// (specification §3a), and its words.
    pub fn absence(&self) -> Option<(Chain, u8, &'static str)> {
        match self {
            Self::Approve { .. } | Self::SetOperator { .. } => {
                Some((Chain::Evm, 6, "ERC-721 approvals exist on EVM only"))
            }
            Self::SetFeedbackAuthority { .. } => Some((
                Chain::Svm,
                6,
                "the feedback authority exists on Solana only",
            )),
            Self::SetAuthSchemes { .. } => {
                Some((Chain::Svm, 6, "the x84 scheme exists on Solana only"))
            }
            Self::GiveFeedback(feedback) => feedback
                .authorization
                .as_ref()
                .filter(|sent| sent.form == Form::X84)
                .map(|_| (Chain::Svm, 6, "the x84 scheme exists on Solana only")),
            Self::ListPaymentToken { .. }
            | Self::ListFacilitator { .. }
            | Self::ProposeRegistryAuthority { .. }
            | Self::AcceptRegistryAuthority { .. }
            | Self::AttachPaymentProof { .. } => {
                Some((Chain::Svm, 4, "payment proofs exist on Solana only"))
            }
            Self::Burn { .. } => Some((Chain::Svm, 7, "only a Solana token can be burned")),
            _ => None,
        }
    }

    /// The agent that it is about.
    pub fn agent(&self) -> Option<&Agent> {
        match self {
            Self::Register { agent, .. }
            | Self::SetAgentUri { agent, .. }
            | Self::SetMetadata { agent, .. }
            | Self::SetAgentWallet { agent, .. }
            | Self::UnsetAgentWallet { agent, .. }
            | Self::Transfer { agent, .. }
            | Self::Burn { agent, .. }
            | Self::Approve { agent, .. }
            | Self::SetFeedbackAuthority { agent, .. }
            | Self::SetAuthSchemes { agent, .. }
            | Self::RevokeFeedback { agent, .. }
            | Self::AttachPaymentProof { agent, .. }
            | Self::Summary { agent }
            | Self::RevokeOpenFeedback { agent, .. }
            | Self::OpenSummary { agent, .. }
            | Self::ValidationRequest { agent, .. } => Some(agent),
            Self::GiveFeedback(feedback) => Some(&feedback.agent),
            Self::GiveOpenFeedback(feedback) => Some(&feedback.agent),
            Self::AppendResponse(response) | Self::AppendOpenResponse(response) => {
                Some(&response.agent)
            }
            Self::ValidationResponse(answer) => Some(&answer.agent),
            Self::SetOperator { .. }
            | Self::ListPaymentToken { .. }
            | Self::ListFacilitator { .. }
            | Self::ProposeRegistryAuthority { .. }
            | Self::AcceptRegistryAuthority { .. } => None,
        }
    }
}
