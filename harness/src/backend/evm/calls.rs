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
        Actor, Approve, Feedback, Metadata, OpenFeedback, Operation, PaddedTag, Response,
        Revocation, SetAgentUri, SetAgentWallet, SetMetadata, SetOperator, Transfer,
        UnsetAgentWallet, ValidationAnswer, ValidationRequest,
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
    /// Returns the caller and the calldata. `registry` is the operation's, `now` in unix seconds.
    pub(super) fn call(
        &mut self,
        registry: Address,
        operation: &Operation,
        now: u64,
    ) -> Answer<Call> {
        let by = operation.by().ok_or_else(|| inexpressible(operation))?;
        Ok((by.clone(), self.calldata(registry, operation, now)?))
    }

    fn calldata(&mut self, registry: Address, operation: &Operation, now: u64) -> Answer<Vec<u8>> {
        Ok(match operation {
            Operation::Register(it) => register(&it.uri, &it.metadata),
            Operation::SetAgentUri(it) => self.set_agent_uri(it),
            Operation::SetMetadata(it) => self.set_metadata(it),
            Operation::SetAgentWallet(it) => self.set_agent_wallet(it, now)?,
            Operation::UnsetAgentWallet(it) => self.unset_agent_wallet(it),
            Operation::Transfer(it) => self.transfer(it)?,
            Operation::Approve(it) => self.approve(it),
            Operation::SetOperator(it) => self.set_operator(it),
            Operation::GiveFeedback(it) => self.give_feedback(registry, it)?,
            Operation::GiveOpenFeedback(it) => self.give_open_feedback(it),
            Operation::RevokeFeedback(it) | Operation::RevokeOpenFeedback(it) => {
                self.revoke_feedback(it)
            }
            Operation::AppendResponse(it) | Operation::AppendOpenResponse(it) => {
                self.append_response(it)
            }
            Operation::ValidationRequest(it) => self.validation_request(it),
            Operation::ValidationResponse(it) => self.validation_response(it)?,
            // Reads have no transaction.
            Operation::Summary(_)
            | Operation::OpenSummary(_)
            // Solana only: declared variances 4, 6 and 7.
            | Operation::AttachPaymentProof(_)
            | Operation::ListPaymentToken(_)
            | Operation::ListFacilitator(_)
            | Operation::ProposeRegistryAuthority(_)
            | Operation::AcceptRegistryAuthority(_)
            | Operation::SetFeedbackAuthority(_)
            | Operation::SetAuthSchemes(_)
            | Operation::Burn(_) => return Err(inexpressible(operation)),
        })
    }

    fn set_agent_uri(&self, set: &SetAgentUri) -> Vec<u8> {
        let call = Identity::setAgentURICall {
            agentId: self.id_of(&set.agent),
            newURI: set.uri.clone(),
        };
        call.abi_encode()
    }

    fn set_metadata(&self, set: &SetMetadata) -> Vec<u8> {
        let call = Identity::setMetadataCall {
            agentId: self.id_of(&set.agent),
            metadataKey: set.key.clone(),
            metadataValue: set.value.0.clone().into(),
        };
        call.abi_encode()
    }

    fn unset_agent_wallet(&self, unset: &UnsetAgentWallet) -> Vec<u8> {
        let call = Identity::unsetAgentWalletCall {
            agentId: self.id_of(&unset.agent),
        };
        call.abi_encode()
    }

    fn approve(&mut self, approve: &Approve) -> Vec<u8> {
        let call = Identity::approveCall {
            to: self.address_or_zero(approve.operator.as_ref()),
            agentId: self.id_of(&approve.agent),
        };
        call.abi_encode()
    }

    fn set_operator(&mut self, set: &SetOperator) -> Vec<u8> {
        let call = Identity::setApprovalForAllCall {
            operator: self.address_of(&set.operator),
            approved: set.approved,
        };
        call.abi_encode()
    }

    fn revoke_feedback(&self, revocation: &Revocation) -> Vec<u8> {
        let call = Reputation::revokeFeedbackCall {
            agentId: self.id_of(&revocation.agent),
            feedbackIndex: revocation.index,
        };
        call.abi_encode()
    }

    fn validation_request(&mut self, request: &ValidationRequest) -> Vec<u8> {
        let call = Validation::validationRequestCall {
            validatorAddress: self.address_or_zero(request.validator.as_ref()),
            agentId: self.id_of(&request.agent),
            requestURI: request.uri.clone(),
            requestHash: self.requests.native(&request.request),
        };
        call.abi_encode()
    }

    /// Without a consent nothing is signed, and the deadline is one that holds.
    fn set_agent_wallet(&mut self, set: &SetAgentWallet, now: u64) -> Answer<Vec<u8>> {
        let (deadline, signature) = match &set.consent {
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
            agentId: self.id_of(&set.agent),
            newWallet: self.address_or_zero(set.wallet.as_ref()),
            deadline: U256::from(deadline),
            signature: signature.into(),
        };
        Ok(call.abi_encode())
    }

    /// From the token's owner, or from the caller if the token has none.
    fn transfer(&mut self, transfer: &Transfer) -> Answer<Vec<u8>> {
        let agent_id = self.id_of(&transfer.agent);
        let owner_of = Identity::ownerOfCall { agentId: agent_id };
        let owner = try_view(&mut self.ledger, self.addresses.identity, &owner_of)?;
        let call = Identity::transferFromCall {
            from: owner.unwrap_or_else(|_| self.address_of(&transfer.by)),
            to: self.address_of(&transfer.to),
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
