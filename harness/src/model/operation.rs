use super::{
    AcceptRegistryAuthority, Actor, Agent, Approve, AttachPaymentProof, Burn, Chain, Feedback,
    Form, ListFacilitator, ListPaymentToken, OpenFeedback, OpenSummaryQuery,
    ProposeRegistryAuthority, Register, RegistryProfile, Response, Revocation, SetAgentUri,
    SetAgentWallet, SetAuthSchemes, SetFeedbackAuthority, SetMetadata, SetOperator, SummaryQuery,
    Transfer, UnsetAgentWallet, ValidationAnswer, ValidationRequest,
};
use serde::{Deserialize, Serialize};

/// One call of a registry, in labels (specification §3a). As JSON, an object with one key: the
/// operation's name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Operation {
    Register(Register),
    SetAgentUri(SetAgentUri),
    SetMetadata(SetMetadata),
    SetAgentWallet(SetAgentWallet),
    UnsetAgentWallet(UnsetAgentWallet),
    Transfer(Transfer),
    /// Solana only.
    Burn(Burn),
    /// EVM only.
    Approve(Approve),
    /// EVM only.
    SetOperator(SetOperator),
    /// Solana only.
    SetFeedbackAuthority(SetFeedbackAuthority),
    /// Solana only.
    SetAuthSchemes(SetAuthSchemes),
    /// Solana only.
    ListPaymentToken(ListPaymentToken),
    /// Solana only.
    ListFacilitator(ListFacilitator),
    /// Solana only.
    ProposeRegistryAuthority(ProposeRegistryAuthority),
    /// Solana only.
    AcceptRegistryAuthority(AcceptRegistryAuthority),
    GiveFeedback(Box<Feedback>),
    /// Revokes authorized feedback.
    RevokeFeedback(Revocation),
    /// Responds to authorized feedback.
    AppendResponse(Response),
    /// Solana only.
    AttachPaymentProof(AttachPaymentProof),
    /// A read: it sends no transaction.
    Summary(SummaryQuery),
    GiveOpenFeedback(Box<OpenFeedback>),
    RevokeOpenFeedback(Revocation),
    AppendOpenResponse(Response),
    /// A read: it sends no transaction.
    OpenSummary(OpenSummaryQuery),
    ValidationRequest(ValidationRequest),
    ValidationResponse(Box<ValidationAnswer>),
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
            Self::Register(_) => "register",
            Self::SetAgentUri(_) => "set_agent_uri",
            Self::SetMetadata(_) => "set_metadata",
            Self::SetAgentWallet(_) => "set_agent_wallet",
            Self::UnsetAgentWallet(_) => "unset_agent_wallet",
            Self::Transfer(_) => "transfer",
            Self::Burn(_) => "burn",
            Self::Approve(_) => "approve",
            Self::SetOperator(_) => "set_operator",
            Self::SetFeedbackAuthority(_) => "set_feedback_authority",
            Self::SetAuthSchemes(_) => "set_auth_schemes",
            Self::ListPaymentToken(_) => "list_payment_token",
            Self::ListFacilitator(_) => "list_facilitator",
            Self::ProposeRegistryAuthority(_) => "propose_registry_authority",
            Self::AcceptRegistryAuthority(_) => "accept_registry_authority",
            Self::GiveFeedback(_) => "give_feedback",
            Self::RevokeFeedback(_) => "revoke_feedback",
            Self::AppendResponse(_) => "append_response",
            Self::AttachPaymentProof(_) => "attach_payment_proof",
            Self::Summary(_) => "summary",
            Self::GiveOpenFeedback(_) => "give_open_feedback",
            Self::RevokeOpenFeedback(_) => "revoke_open_feedback",
            Self::AppendOpenResponse(_) => "append_open_response",
            Self::OpenSummary(_) => "open_summary",
            Self::ValidationRequest(_) => "validation_request",
            Self::ValidationResponse(_) => "validation_response",
        }
    }

    /// A read sends no transaction, so it takes no time.
    pub fn is_read(&self) -> bool {
        matches!(self, Self::Summary(_) | Self::OpenSummary(_))
    }

    /// Who sends it; `None` for a read.
    pub fn by(&self) -> Option<&Actor> {
        match self {
            Self::Register(Register { by, .. })
            | Self::SetAgentUri(SetAgentUri { by, .. })
            | Self::SetMetadata(SetMetadata { by, .. })
            | Self::SetAgentWallet(SetAgentWallet { by, .. })
            | Self::UnsetAgentWallet(UnsetAgentWallet { by, .. })
            | Self::Transfer(Transfer { by, .. })
            | Self::Burn(Burn { by, .. })
            | Self::Approve(Approve { by, .. })
            | Self::SetOperator(SetOperator { by, .. })
            | Self::SetFeedbackAuthority(SetFeedbackAuthority { by, .. })
            | Self::SetAuthSchemes(SetAuthSchemes { by, .. })
            | Self::ListPaymentToken(ListPaymentToken { by, .. })
            | Self::ListFacilitator(ListFacilitator { by, .. })
            | Self::ProposeRegistryAuthority(ProposeRegistryAuthority { by, .. })
            | Self::AcceptRegistryAuthority(AcceptRegistryAuthority { by })
            | Self::RevokeFeedback(Revocation { by, .. })
            | Self::AttachPaymentProof(AttachPaymentProof { by, .. })
            | Self::RevokeOpenFeedback(Revocation { by, .. })
            | Self::ValidationRequest(ValidationRequest { by, .. }) => Some(by),
            Self::GiveFeedback(feedback) => Some(&feedback.by),
            Self::GiveOpenFeedback(feedback) => Some(&feedback.by),
            Self::AppendResponse(response) | Self::AppendOpenResponse(response) => {
                Some(&response.by)
            }
            Self::ValidationResponse(answer) => Some(&answer.by),
            Self::Summary(_) | Self::OpenSummary(_) => None,
        }
    }

    /// Returns whether it is feedback with an authorization of this form.
    pub fn is_authorized_by(&self, form: Form) -> bool {
        let Self::GiveFeedback(feedback) = self else {
            return false;
        };
        (feedback.authorization.as_ref()).is_some_and(|sent| sent.form == form)
    }

    /// Is it one that reads or writes reviews which an agent's signer allows?
    pub fn is_of_the_authorized_profile(&self) -> bool {
        matches!(
            self,
            Self::GiveFeedback(_)
                | Self::RevokeFeedback(_)
                | Self::AppendResponse(_)
                | Self::Summary(_)
        )
    }

    /// Returns whether it reads or writes reviews that anybody may give.
    pub fn is_of_the_open_profile(&self) -> bool {
        matches!(
            self,
            Self::GiveOpenFeedback(_)
                | Self::RevokeOpenFeedback(_)
                | Self::AppendOpenResponse(_)
                | Self::OpenSummary(_)
        )
    }

    /// The part of the registries that it belongs to.
    pub fn profile(&self) -> RegistryProfile {
        Self::profile_of(self.name()).unwrap_or(RegistryProfile::Identity)
    }

    /// The profile of the operation with this name; `None` if there is none.
    pub fn profile_of(name: &str) -> Option<RegistryProfile> {
        Some(match name {
            "register" | "set_agent_uri" | "set_metadata" | "set_agent_wallet"
            | "unset_agent_wallet" | "transfer" | "burn" | "approve" | "set_operator" => {
                RegistryProfile::Identity
            }
            "set_feedback_authority"
            | "set_auth_schemes"
            | "list_payment_token"
            | "list_facilitator"
            | "propose_registry_authority"
            | "accept_registry_authority"
            | "give_feedback"
            | "revoke_feedback"
            | "append_response"
            | "attach_payment_proof"
            | "summary" => RegistryProfile::Authorized,
            "give_open_feedback"
            | "revoke_open_feedback"
            | "append_open_response"
            | "open_summary" => RegistryProfile::Open,
            "validation_request" | "validation_response" => RegistryProfile::Validation,
            _ => return None,
        })
    }

    /// The only chain that can express it, where the other cannot.
    pub fn only_on(&self) -> Option<Chain> {
        self.absence().map(|(only, ..)| only)
    }

    /// Where one chain cannot express it: the other, the number of the declared variance
    /// (specification §3a), and its words.
    pub fn absence(&self) -> Option<(Chain, u8, &'static str)> {
        match self {
            Self::Approve(_) | Self::SetOperator(_) => {
                Some((Chain::Evm, 6, "ERC-721 approvals exist on EVM only"))
            }
            Self::SetFeedbackAuthority(_) => Some((
                Chain::Svm,
                6,
                "the feedback authority exists on Solana only",
            )),
            Self::SetAuthSchemes(_) => {
                Some((Chain::Svm, 6, "the x84 scheme exists on Solana only"))
            }
            Self::GiveFeedback(feedback) => feedback
                .authorization
                .as_ref()
                .filter(|sent| sent.form == Form::X84)
                .map(|_| (Chain::Svm, 6, "the x84 scheme exists on Solana only")),
            Self::ListPaymentToken(_)
            | Self::ListFacilitator(_)
            | Self::ProposeRegistryAuthority(_)
            | Self::AcceptRegistryAuthority(_)
            | Self::AttachPaymentProof(_) => {
                Some((Chain::Svm, 4, "payment proofs exist on Solana only"))
            }
            Self::Burn(_) => Some((Chain::Svm, 7, "only a Solana token can be burned")),
            Self::Register(_)
            | Self::SetAgentUri(_)
            | Self::SetMetadata(_)
            | Self::SetAgentWallet(_)
            | Self::UnsetAgentWallet(_)
            | Self::Transfer(_)
            | Self::RevokeFeedback(_)
            | Self::AppendResponse(_)
            | Self::Summary(_)
            | Self::GiveOpenFeedback(_)
            | Self::RevokeOpenFeedback(_)
            | Self::AppendOpenResponse(_)
            | Self::OpenSummary(_)
            | Self::ValidationRequest(_)
            | Self::ValidationResponse(_) => None,
        }
    }

    /// The agent that it is about.
    pub fn agent(&self) -> Option<&Agent> {
        match self {
            Self::Register(Register { agent, .. })
            | Self::SetAgentUri(SetAgentUri { agent, .. })
            | Self::SetMetadata(SetMetadata { agent, .. })
            | Self::SetAgentWallet(SetAgentWallet { agent, .. })
            | Self::UnsetAgentWallet(UnsetAgentWallet { agent, .. })
            | Self::Transfer(Transfer { agent, .. })
            | Self::Burn(Burn { agent, .. })
            | Self::Approve(Approve { agent, .. })
            | Self::SetFeedbackAuthority(SetFeedbackAuthority { agent, .. })
            | Self::SetAuthSchemes(SetAuthSchemes { agent, .. })
            | Self::RevokeFeedback(Revocation { agent, .. })
            | Self::AttachPaymentProof(AttachPaymentProof { agent, .. })
            | Self::Summary(SummaryQuery { agent })
            | Self::RevokeOpenFeedback(Revocation { agent, .. })
            | Self::OpenSummary(OpenSummaryQuery { agent, .. })
            | Self::ValidationRequest(ValidationRequest { agent, .. }) => Some(agent),
            Self::GiveFeedback(feedback) => Some(&feedback.agent),
            Self::GiveOpenFeedback(feedback) => Some(&feedback.agent),
            Self::AppendResponse(response) | Self::AppendOpenResponse(response) => {
                Some(&response.agent)
            }
            Self::ValidationResponse(answer) => Some(&answer.agent),
            Self::SetOperator(_)
            | Self::ListPaymentToken(_)
            | Self::ListFacilitator(_)
            | Self::ProposeRegistryAuthority(_)
            | Self::AcceptRegistryAuthority(_) => None,
        }
    }
}
