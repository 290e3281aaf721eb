//! Operations as calldata.
use super::{
    Registries,
    authorization::{self, Audience},
    consent,
    ledger::{Answer, Ledger, try_view},
};
use crate::{
    backend::StepFault,
    model::{
        Actor, Feedback, Metadata, OpenFeedback, Operation, PaddedTag, Response, SetAgentWallet,
        Transfer, ValidationAnswer, ValidationRequest,
    },
};
use alloy::primitives::{Address, Bytes};
use concord_canonical::tag;
use concord_registry::evm::{abi::IdentityRegistry as Identity, calls};

/// Who calls, and with which calldata.
pub(super) type Call = (Actor, Bytes);

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

    fn calldata(&mut self, registry: Address, operation: &Operation, now: u64) -> Answer<Bytes> {
        Ok(match operation {
            Operation::Register(it) => register(&it.uri, &it.metadata),
            Operation::SetAgentUri(it) => calls::set_agent_uri(self.id_of(&it.agent), &it.uri),
            Operation::SetMetadata(it) => {
                calls::set_metadata(self.id_of(&it.agent), &it.key, &it.value.0)
            }
            Operation::SetAgentWallet(it) => self.set_agent_wallet(it, now)?,
            Operation::UnsetAgentWallet(it) => calls::unset_agent_wallet(self.id_of(&it.agent)),
            Operation::Transfer(it) => self.transfer(it)?,
            Operation::Approve(it) => {
                let operator = self.address_or_zero(it.operator.as_ref());
                calls::approve(self.id_of(&it.agent), operator)
            }
            Operation::SetOperator(it) => {
                calls::set_operator(self.address_of(&it.operator), it.approved)
            }
            Operation::GiveFeedback(it) => self.give_feedback(registry, it)?,
            Operation::GiveOpenFeedback(it) => self.give_open_feedback(it),
            Operation::RevokeFeedback(it) | Operation::RevokeOpenFeedback(it) => {
                calls::revoke_feedback(self.id_of(&it.agent), it.index)
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

    /// Without a consent nothing is signed, and the deadline is one that holds.
    fn set_agent_wallet(&mut self, set: &SetAgentWallet, now: u64) -> Answer<Bytes> {
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
        let wallet = self.address_or_zero(set.wallet.as_ref());
        let agent_id = self.id_of(&set.agent);
        Ok(calls::set_agent_wallet(
            agent_id, wallet, deadline, &signature,
        ))
    }

    fn validation_request(&mut self, request: &ValidationRequest) -> Bytes {
        let validator = self.address_or_zero(request.validator.as_ref());
        let hash = self.requests.native(&request.request);
        calls::request_validation(self.id_of(&request.agent), validator, &request.uri, hash.0)
    }

    /// From the token's owner, or from the caller if the token has none.
    fn transfer(&mut self, transfer: &Transfer) -> Answer<Bytes> {
        let agent_id = self.id_of(&transfer.agent);
        let owner_of = Identity::ownerOfCall { tokenId: agent_id };
        let owner = try_view(&mut self.ledger, self.addresses.identity, &owner_of)?;
        let from = owner.unwrap_or_else(|_| self.address_of(&transfer.by));
        Ok(calls::transfer(
            agent_id,
            from,
            self.address_of(&transfer.to),
        ))
    }

    fn give_feedback(&mut self, reputation: Address, feedback: &Feedback) -> Answer<Bytes> {
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
        Ok(calls::give_feedback(&calls::GiveFeedback {
            agent_id: self.id_of(&feedback.agent),
            score: feedback.score,
            tag1: feedback.tag1.0,
            tag2: feedback.tag2.0,
            uri: &feedback.uri,
            hash: feedback.hash.0,
            authorization: &blob,
        }))
    }

    fn give_open_feedback(&self, feedback: &OpenFeedback) -> Bytes {
        calls::give_open_feedback(&calls::GiveOpenFeedback {
            agent_id: self.id_of(&feedback.agent),
            value: feedback.value.0,
            decimals: feedback.decimals,
            tag1: &feedback.tag1,
            tag2: &feedback.tag2,
            endpoint: &feedback.endpoint,
            uri: &feedback.uri,
            hash: feedback.hash.0,
        })
    }

    fn validation_response(&mut self, answer: &ValidationAnswer) -> Answer<Bytes> {
        Ok(calls::respond_to_validation(&calls::RespondToValidation {
            request_hash: self.requests.native(&answer.request).0,
            score: answer.score,
            uri: &answer.uri,
            hash: answer.hash.0,
            tag: &text_of(&answer.tag)?,
        }))
    }

    fn append_response(&mut self, response: &Response) -> Bytes {
        calls::append_response(&calls::AppendResponse {
            agent_id: self.id_of(&response.agent),
            client: self.address_of(&response.client),
            index: response.index,
            uri: &response.uri,
            hash: response.hash.0,
        })
    }
}

fn inexpressible(operation: &Operation) -> StepFault {
    StepFault::Inexpressible(operation.name().to_owned())
}

fn register(uri: &str, metadata: &[Metadata]) -> Bytes {
    let entries = metadata.iter().map(|it| (&*it.key, &*it.value.0));
    calls::register(uri, &entries.collect::<Vec<_>>())
}

/// The contract takes a tag as text (R14).
fn text_of(tag: &PaddedTag) -> Answer<String> {
    tag::decode_padded(&tag.0)
        .map(|tag| tag.to_string())
        .map_err(|fault| StepFault::Inexpressible(format!("tag {tag}: {fault}")))
}
