//! Operations as calldata.
use super::{
    Registries,
    abi::{AuthorizedReputation, Identity, OpenReputation, Reputation, Validation},
    authorization::{self, Audience},
    consent,
    ledger::{Answer, Ledger, try_view},
};
use crate::{
    backend::StepFault,
    model::{
        Actor, Agent, Consent, Feedback, Metadata, OpenFeedback, Operation, PaddedTag, Response,
        ValidationAnswer,
    },
};
use alloy::{
    primitives::{Address, U256},
    sol_types::SolCall,
};
use concord_canonical::tag;

/// Who calls, and with which calldata.
pub(super) type Call = (Actor, Vec<u8>);

impl<L: Ledger> Registries<L> {
    /// `registry` is the operation's, `now` in unix seconds.
    pub(super) fn call(
        &mut self,
        registry: Address,
        operation: &Operation,
        now: u64,
    ) -> Answer<Call> {
        match operation {
            Operation::Register { .. }
            | Operation::SetAgentUri { .. }
            | Operation::SetMetadata { .. } => self.settings_call(operation),
            Operation::SetAgentWallet { .. } | Operation::UnsetAgentWallet { .. } => {
                self.wallet_call(operation, now)
            }
            Operation::Transfer { .. }
            | Operation::Approve { .. }
            | Operation::SetOperator { .. } => self.token_call(operation),
            Operation::ValidationRequest { .. } | Operation::ValidationResponse(_) => {
                self.validation_call(operation)
            }
            _ => self.reputation_call(registry, operation),
        }
    }

    /// What an agent says of itself.
    fn settings_call(&mut self, operation: &Operation) -> Answer<Call> {
        let (by, input) = match operation {
            Operation::Register {
                by, uri, metadata, ..
            } => (by, register(uri, metadata)),
            Operation::SetAgentUri { agent, by, uri } => {
                let call = Identity::setAgentURICall {
                    agentId: self.id_of(agent),
                    newURI: uri.clone(),
                };
                (by, call.abi_encode())
            }
            Operation::SetMetadata {
                agent,
                by,
                key,
                value,
            } => {
                let call = Identity::setMetadataCall {
                    agentId: self.id_of(agent),
                    metadataKey: key.clone(),
                    metadataValue: value.0.clone().into(),
                };
                (by, call.abi_encode())
            }
            other => return Err(inexpressible(other)),
        };
        Ok((by.clone(), input))
    }

    /// Where an agent is paid.
    fn wallet_call(&mut self, operation: &Operation, now: u64) -> Answer<Call> {
        let (by, input) = match operation {
            Operation::SetAgentWallet {
                agent,
                by,
                wallet,
                consent,
            } => {
                let call = self.set_agent_wallet(agent, wallet.as_ref(), consent.as_ref(), now)?;
                (by, call)
            }
            Operation::UnsetAgentWallet { agent, by } => {
                let call = Identity::unsetAgentWalletCall {
                    agentId: self.id_of(agent),
                };
                (by, call.abi_encode())
            }
            other => return Err(inexpressible(other)),
        };
        Ok((by.clone(), input))
    }

    /// Who holds an agent's token, and who may move it.
    fn token_call(&mut self, operation: &Operation) -> Answer<Call> {
        let (by, input) = match operation {
            Operation::Transfer { agent, by, to, .. } => (by, self.transfer(agent, by, to)?),
            Operation::Approve {
                agent,
                by,
                operator,
            } => {
                let call = Identity::approveCall {
                    to: self.address_or_zero(operator.as_ref()),
                    agentId: self.id_of(agent),
                };
                (by, call.abi_encode())
            }
            Operation::SetOperator {
                by,
                operator,
                approved,
            } => {
                let call = Identity::setApprovalForAllCall {
                    operator: self.address_of(operator),
                    approved: *approved,
                };
                (by, call.abi_encode())
            }
            other => return Err(inexpressible(other)),
        };
        Ok((by.clone(), input))
    }

    /// In either profile.
    fn reputation_call(&mut self, registry: Address, operation: &Operation) -> Answer<Call> {
        let (by, input) = match operation {
            Operation::GiveFeedback(feedback) => {
                (&feedback.by, self.give_feedback(registry, feedback)?)
            }
            Operation::GiveOpenFeedback(feedback) => {
                (&feedback.by, self.give_open_feedback(feedback))
            }
            Operation::RevokeFeedback { agent, by, index }
            | Operation::RevokeOpenFeedback { agent, by, index } => {
                let call = Reputation::revokeFeedbackCall {
                    agentId: self.id_of(agent),
                    feedbackIndex: *index,
                };
                (by, call.abi_encode())
            }
            Operation::AppendResponse(response) | Operation::AppendOpenResponse(response) => {
                (&response.by, self.append_response(response))
            }
            other => return Err(inexpressible(other)),
        };
        Ok((by.clone(), input))
    }

    /// Requests and their answers.
    fn validation_call(&mut self, operation: &Operation) -> Answer<Call> {
        let (by, input) = match operation {
            Operation::ValidationRequest {
                agent,
                by,
                validator,
                request,
                uri,
            } => {
                let call = Validation::validationRequestCall {
                    validatorAddress: self.address_or_zero(validator.as_ref()),
                    agentId: self.id_of(agent),
                    requestURI: uri.clone(),
                    requestHash: self.requests.native(request),
                };
                (by, call.abi_encode())
            }
            Operation::ValidationResponse(answer) => {
                (&answer.by, self.validation_response(answer)?)
            }
            other => return Err(inexpressible(other)),
        };
        Ok((by.clone(), input))
    }

    /// Without a consent nothing is signed, and the deadline is one that holds.
    fn set_agent_wallet(
        &mut self,
        agent: &Agent,
        wallet: Option<&Actor>,
        consent: Option<&Consent>,
        now: u64,
    ) -> Answer<Vec<u8>> {
        let (deadline, signature) = match consent {
            Some(consent) => {
                let deadline = self.start.saturating_add(consent.deadline);
                let agent_id = self.id_of(&consent.agent);
                let (chain_id, identity) = (self.ledger.chain_id(), self.addresses.identity);
                self.memory.note_consent(deadline);
                let signature = consent::signature(
                    consent,
                    &self.keyring,
                    agent_id,
                    deadline,
                    chain_id,
                    identity,
                )?;
                (deadline, signature.to_vec())
            }
            None => (self.memory.unused_deadline(now), Vec::new()),
        };
        let call = Identity::setAgentWalletCall {
            agentId: self.id_of(agent),
            newWallet: self.address_or_zero(wallet),
            deadline: U256::from(deadline),
            signature: signature.into(),
        };
        Ok(call.abi_encode())
    }

    /// From whoever holds it; from the caller where nobody does.
    fn transfer(&mut self, agent: &Agent, by: &Actor, to: &Actor) -> Answer<Vec<u8>> {
        let agent_id = self.id_of(agent);
        let owner_of = Identity::ownerOfCall { agentId: agent_id };
        let owner = try_view(&mut self.ledger, self.addresses.identity, &owner_of)?;
        let call = Identity::transferFromCall {
            from: owner.unwrap_or_else(|_| self.address_of(by)),
            to: self.address_of(to),
            agentId: agent_id,
        };
        Ok(call.abi_encode())
    }

    fn give_feedback(&mut self, reputation: Address, feedback: &Feedback) -> Answer<Vec<u8>> {
        let blob = match &feedback.authorization {
            Some(sent) => {
                let audience = Audience {
                    chain_id: self.ledger.chain_id(),
                    identity: self.addresses.identity,
                    reputation,
                };
                authorization::blob(
                    sent,
                    &self.keyring,
                    self.id_of(&sent.agent),
                    &audience,
                    self.start,
                )?
            }
            None => Vec::new(),
        };
        let call = AuthorizedReputation::giveFeedbackCall {
            agentId: self.id_of(&feedback.agent),
            score: feedback.score,
            tag1: feedback.tag1.0.into(),
            tag2: feedback.tag2.0.into(),
            fileuri: feedback.uri.clone(),
            filehash: feedback.hash.0.into(),
            feedbackAuth: blob.into(),
        };
        Ok(call.abi_encode())
    }

    fn give_open_feedback(&self, feedback: &OpenFeedback) -> Vec<u8> {
        let call = OpenReputation::giveFeedbackCall {
            agentId: self.id_of(&feedback.agent),
            value: feedback.value.0,
            valueDecimals: feedback.decimals,
            tag1: feedback.tag1.clone(),
            tag2: feedback.tag2.clone(),
            endpoint: feedback.endpoint.clone(),
            feedbackURI: feedback.uri.clone(),
            feedbackHash: feedback.hash.0.into(),
        };
        call.abi_encode()
    }

    fn validation_response(&mut self, answer: &ValidationAnswer) -> Answer<Vec<u8>> {
        let call = Validation::validationResponseCall {
            requestHash: self.requests.native(&answer.request),
            response: answer.score,
            responseURI: answer.uri.clone(),
            responseHash: answer.hash.0.into(),
            tag: text_of(&answer.tag)?,
        };
        Ok(call.abi_encode())
    }

    fn append_response(&mut self, response: &Response) -> Vec<u8> {
        let call = Reputation::appendResponseCall {
            agentId: self.id_of(&response.agent),
            clientAddress: self.address_of(&response.client),
            feedbackIndex: response.index,
            responseURI: response.uri.clone(),
            responseHash: response.hash.0.into(),
        };
        call.abi_encode()
    }
}

fn inexpressible(operation: &Operation) -> StepFault {
    StepFault::Inexpressible(operation.name().to_owned())
}

/// The overload that the arguments ask for.
fn register(uri: &str, metadata: &[Metadata]) -> Vec<u8> {
    if metadata.is_empty() {
        let call = Identity::register_0Call {
            agentURI: uri.to_owned(),
        };
        return call.abi_encode();
    }
    let entries = metadata.iter().map(|entry| Identity::MetadataEntry {
        metadataKey: entry.key.clone(),
        metadataValue: entry.value.0.clone().into(),
    });
    let call = Identity::register_1Call {
        agentURI: uri.to_owned(),
        metadata: entries.collect(),
    };
    call.abi_encode()
}

/// The contract takes a tag as text (R14).
fn text_of(tag: &PaddedTag) -> Answer<String> {
    tag::decode_padded(&tag.0)
        .map(|tag| tag.to_string())
        .map_err(|fault| StepFault::Inexpressible(format!("tag {tag}: {fault}")))
}
