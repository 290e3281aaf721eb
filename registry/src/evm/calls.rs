//! Calls of the registries, for plain arguments: the input of a transaction. [`super::abi`] has the
//! views and what else a contract can be asked.
use super::{
    Address, Bytes, U256,
    abi::{
        AuthorizedReputationRegistry as Authorized, Feedback, IdentityRegistry as Identity,
        ReputationRegistry as Open, ValidationRegistry as Validation,
    },
    text::bytes_of,
};
use alloc::{borrow::ToOwned, vec::Vec};
use alloy_sol_types::{SolCall, SolConstructor, SolValue};

/// A feedback for the authorized registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GiveFeedback<'a> {
    /// The agent.
    pub agent_id: U256,
    /// 0 to 100.
    pub score: u8,
    /// Opaque; by convention the padded form of a tag (R14).
    pub tag1: [u8; 32],
    /// As `tag1`.
    pub tag2: [u8; 32],
    /// Where the feedback file is.
    pub uri: &'a str,
    /// Its hash; opaque (R21).
    pub hash: [u8; 32],
    /// Fields and signature, as
    /// [`EvmFeedbackAuth::blob`](concord_canonical::auth::EvmFeedbackAuth::blob) makes them (R6).
    pub authorization: &'a [u8],
}

/// A feedback for an open registry, Concord's or the canonical one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GiveOpenFeedback<'a> {
    /// The agent.
    pub agent_id: U256,
    /// At most 1e38 in magnitude; it means `value / 10^decimals` (R16).
    pub value: i128,
    /// 0 to 18.
    pub decimals: u8,
    /// May be empty.
    pub tag1: &'a str,
    /// May be empty.
    pub tag2: &'a str,
    /// What was used of the agent; in the event only.
    pub endpoint: &'a str,
    /// Where the feedback file is; in the event only.
    pub uri: &'a str,
    /// Its hash; opaque (R21), in the event only.
    pub hash: [u8; 32],
}

/// A response to a feedback, of either profile (R19).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AppendResponse<'a> {
    /// The agent.
    pub agent_id: U256,
    /// Whose feedback it is.
    pub client: Address,
    /// The 1-based index of the feedback.
    pub index: u64,
    /// Not empty.
    pub uri: &'a str,
    /// Hash of the response file; opaque (R21).
    pub hash: [u8; 32],
}

/// A validator's response (R20).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RespondToValidation<'a> {
    /// The request's hash.
    pub request_hash: [u8; 32],
    /// 0 to 100.
    pub score: u8,
    /// Where the evidence is.
    pub uri: &'a str,
    /// Its hash; opaque (R21).
    pub hash: [u8; 32],
    /// Text on this chain (R14).
    pub tag: &'a str,
}

/// Registers an agent of the caller.
pub fn register(uri: &str, metadata: &[(&str, &[u8])]) -> Bytes {
    if metadata.is_empty() {
        return encoded(&Identity::register_1Call {
            agentURI: uri.to_owned(),
        });
    }
    let entries = metadata.iter().map(|(key, value)| Identity::MetadataEntry {
        metadataKey: (*key).to_owned(),
        metadataValue: Bytes::copy_from_slice(value),
    });
    encoded(&Identity::register_2Call {
        agentURI: uri.to_owned(),
        metadata: entries.collect(),
    })
}

/// Sets the agent's URI.
pub fn set_agent_uri(agent_id: U256, uri: &str) -> Bytes {
    encoded(&Identity::setAgentURICall {
        agentId: agent_id,
        newURI: uri.to_owned(),
    })
}

/// Sets a metadata value of the agent.
pub fn set_metadata(agent_id: U256, key: &str, value: &[u8]) -> Bytes {
    encoded(&Identity::setMetadataCall {
        agentId: agent_id,
        metadataKey: key.to_owned(),
        metadataValue: Bytes::copy_from_slice(value),
    })
}

/// Sets where the agent is paid, with the wallet's signature over
/// [`AgentWalletSet::digest`](concord_canonical::wallet::AgentWalletSet::digest) (R3). `deadline` is
/// in Unix seconds, at most 300 ahead.
pub fn set_agent_wallet(agent_id: U256, wallet: Address, deadline: u64, signature: &[u8]) -> Bytes {
    encoded(&Identity::setAgentWalletCall {
        agentId: agent_id,
        newWallet: wallet,
        deadline: U256::from(deadline),
        signature: Bytes::copy_from_slice(signature),
    })
}

/// Leaves the agent without a wallet (R3).
pub fn unset_agent_wallet(agent_id: U256) -> Bytes {
    encoded(&Identity::unsetAgentWalletCall { agentId: agent_id })
}

/// Transfers the agent.
pub fn transfer(agent_id: U256, from: Address, to: Address) -> Bytes {
    encoded(&Identity::transferFromCall {
        from,
        to,
        tokenId: agent_id,
    })
}

/// Lets one account act for the agent; the zero address for none.
pub fn approve(agent_id: U256, to: Address) -> Bytes {
    encoded(&Identity::approveCall {
        to,
        tokenId: agent_id,
    })
}

/// Lets an operator act for every agent of the caller, or no longer.
pub fn set_operator(operator: Address, approved: bool) -> Bytes {
    encoded(&Identity::setApprovalForAllCall { operator, approved })
}

/// Gives authorized feedback.
pub fn give_feedback(feedback: &GiveFeedback<'_>) -> Bytes {
    encoded(&Authorized::giveFeedbackCall {
        agentId: feedback.agent_id,
        score: feedback.score,
        tag1: feedback.tag1.into(),
        tag2: feedback.tag2.into(),
        fileuri: feedback.uri.to_owned(),
        filehash: feedback.hash.into(),
        feedbackAuth: Bytes::copy_from_slice(feedback.authorization),
    })
}

/// Gives open feedback.
pub fn give_open_feedback(feedback: &GiveOpenFeedback<'_>) -> Bytes {
    encoded(&Open::giveFeedbackCall {
        agentId: feedback.agent_id,
        value: feedback.value,
        valueDecimals: feedback.decimals,
        tag1: feedback.tag1.to_owned(),
        tag2: feedback.tag2.to_owned(),
        endpoint: feedback.endpoint.to_owned(),
        feedbackURI: feedback.uri.to_owned(),
        feedbackHash: feedback.hash.into(),
    })
}

/// Asks for a summary of open feedback by these clients; an empty tag matches all (R16). Tags are texts as
/// [`text_of`](super::text::text_of) has them (EVM-31), so that each tag on chain can be asked for.
pub fn open_summary(agent_id: U256, clients: &[Address], tag1: &str, tag2: &str) -> Bytes {
    let [tag1, tag2] = [tag1, tag2].map(|tag| Bytes::from(bytes_of(tag)));
    let arguments = (agent_id, clients.to_vec(), tag1, tag2).abi_encode_params();
    [&Open::getSummaryCall::SELECTOR[..], &arguments]
        .concat()
        .into()
}

/// Revokes the caller's feedback, in either reputation registry.
pub fn revoke_feedback(agent_id: U256, index: u64) -> Bytes {
    encoded(&Feedback::revokeFeedbackCall {
        agentId: agent_id,
        feedbackIndex: index,
    })
}

/// Responds to a feedback, in either reputation registry.
pub fn append_response(response: &AppendResponse<'_>) -> Bytes {
    encoded(&Feedback::appendResponseCall {
        agentId: response.agent_id,
        clientAddress: response.client,
        feedbackIndex: response.index,
        responseURI: response.uri.to_owned(),
        responseHash: response.hash.into(),
    })
}

/// Asks a validator to validate the agent.
pub fn request_validation(
    agent_id: U256,
    validator: Address,
    uri: &str,
    request_hash: [u8; 32],
) -> Bytes {
    encoded(&Validation::validationRequestCall {
        validatorAddress: validator,
        agentId: agent_id,
        requestURI: uri.to_owned(),
        requestHash: request_hash.into(),
    })
}

/// Responds to a request for validation.
pub fn respond_to_validation(response: &RespondToValidation<'_>) -> Bytes {
    encoded(&Validation::validationResponseCall {
        requestHash: response.request_hash.into(),
        response: response.score,
        responseURI: response.uri.to_owned(),
        responseHash: response.hash.into(),
        tag: response.tag.to_owned(),
    })
}

/// The constructor arguments of `AuthorizedReputationRegistry`, to follow its creation code (R6).
pub fn authorized_reputation_arguments(identity: Address, accepts_draft_v1: bool) -> Vec<u8> {
    Authorized::constructorCall {
        identityRegistry: identity,
        acceptsDraftV1: accepts_draft_v1,
    }
    .abi_encode()
}

/// The constructor arguments of `ReputationRegistry` and of `ValidationRegistry`, to follow the
/// creation code.
pub fn bound_registry_arguments(identity: Address) -> Vec<u8> {
    Open::constructorCall {
        identityRegistry: identity,
    }
    .abi_encode()
}

fn encoded(call: &impl SolCall) -> Bytes {
    call.abi_encode().into()
}
