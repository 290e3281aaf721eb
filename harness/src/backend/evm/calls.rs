//! Operations as calldata.
use super::{
    Registries,
    authorization::{self, Audience},
    consent,
    ledger::{Answer, Ledger, try_view},
};
use crate::{
    backend::{StepFault, secrets::secret_of},
    model::{
        Actor, Feedback, Metadata, OpenFeedback, Operation, PaddedTag, Response, SetAgentWallet,
        Transfer, ValidationAnswer, ValidationRequest,
    },
};
use alloy::{
    primitives::{Address, Bytes, U256},
    sol_types::SolCall,
};
use concord_canonical::tag;
use concord_registry::evm::{abi::IdentityRegistry as Identity, calls};
use serde_json::json;

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
            Operation::Register(it) => register(&it.uri, &it.metadata, self.choice),
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
        let to = self.address_of(&transfer.to);
        let asks_receiver = !transfer.to.refuses_tokens();
        Ok(moving(agent_id, from, to, asks_receiver, self.choice))
    }

    fn give_feedback(&mut self, reputation: Address, feedback: &Feedback) -> Answer<Bytes> {
        let blob = match &feedback.authorization {
            Some(sent) => {
                let audience = Audience {
                    chain_id: self.ledger.chain_id(),
                    identity: self.addresses.identity,
                    reputation,
                };
                let agent_id = self.id_of(&sent.agent);
                authorization::blob(sent, &self.keyring, agent_id, &audience, self.start)?
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

    fn give_open_feedback(&mut self, feedback: &OpenFeedback) -> Bytes {
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

/// What decides between calls that the rules hold equal (R2, R3, HARN-62). It follows from the step, so that a
/// rehearsal, a finding's replay and another backend send the same.
pub(super) fn choice(operation: &Operation, time: u64) -> usize {
    let step = json!([operation, time]).to_string();
    let [first, second, ..] = secret_of("step", &step);
    usize::from(u16::from_be_bytes([first, second]))
}

/// In how many ways each step can be sent.
const WAYS: usize = 3;

/// Chooses the id of an unregistered agent (HARN-62), so that each id meets each way to send the step.
pub(super) const fn turn(choice: usize) -> usize {
    choice / WAYS
}

/// By any of the three functions of this name that says the same.
fn register(uri: &str, metadata: &[Metadata], choice: usize) -> Bytes {
    let entries = metadata.iter().map(|it| (&*it.key, &*it.value.0));
    let entries: Vec<_> = entries.collect();
    if !entries.is_empty() {
        return calls::register(uri, &entries);
    }
    match choice % WAYS {
        0 if uri.is_empty() => Identity::register_0Call {}.abi_encode().into(),
        1 => {
            let (uri, metadata) = (uri.to_owned(), Vec::new());
            let call = Identity::register_2Call {
                agentURI: uri,
                metadata,
            };
            call.abi_encode().into()
        }
        _ => calls::register(uri, &entries),
    }
}

/// By any of ERC-721's three functions, of which two ask the receiver. Marketplaces call those.
fn moving(agent_id: U256, from: Address, to: Address, asks_receiver: bool, choice: usize) -> Bytes {
    let safe = Identity::safeTransferFrom_0Call {
        from,
        to,
        tokenId: agent_id,
    };
    let safe_with_data = Identity::safeTransferFrom_1Call {
        from,
        to,
        tokenId: agent_id,
        data: Bytes::from_static(b"data"),
    };
    match choice % WAYS {
        0 if asks_receiver => safe.abi_encode().into(),
        1 if asks_receiver => safe_with_data.abi_encode().into(),
        _ => calls::transfer(agent_id, from, to),
    }
}

/// The contract takes a tag as text (R14).
fn text_of(tag: &PaddedTag) -> Answer<String> {
    tag::decode_padded(&tag.0)
        .map(|tag| tag.to_string())
        .map_err(|fault| StepFault::Inexpressible(format!("tag {tag}: {fault}")))
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            Agents,
            unregistered::{UnregisteredIds, far_id},
        },
        *,
    };
    use alloy::primitives::hex;
    use std::collections::BTreeSet;

    fn selectors(calls: impl Iterator<Item = Bytes>) -> BTreeSet<String> {
        calls.map(|call| hex::encode(&call[..4])).collect()
    }

    fn of(selectors: &[&str]) -> BTreeSet<String> {
        selectors.iter().map(ToString::to_string).collect()
    }

    /// The selectors are the published ones of ERC-721 and of the canonical contracts.
    #[test]
    fn transfers_take_each_way_that_the_receiver_accepts() {
        let (from, to) = (Address::repeat_byte(1), Address::repeat_byte(2));
        let sent = |asks_receiver| {
            let each = (0..9).map(|choice| moving(U256::ONE, from, to, asks_receiver, choice));
            selectors(each)
        };
        assert_eq!(sent(true), of(&["23b872dd", "42842e0e", "b88d4fde"]));
        assert_eq!(sent(false), of(&["23b872dd"]));
    }

    #[test]
    fn each_way_to_transfer_meets_each_id_of_no_agent() {
        // R1
        let one = U256::ONE;
        let mut agents = Agents::default();
        agents.add_agent(one, "desk".into());
        let mut unregistered = UnregisteredIds::beside(vec![U256::ZERO, one]);
        let mut pair = |choice| {
            unregistered.start_step(turn(choice));
            let id = unregistered.id_of(&"nobody".into(), &agents);
            let call = moving(id, Address::ZERO, Address::ZERO, true, choice);
            (hex::encode(&call[..4]), id)
        };
        let pairs: BTreeSet<_> = (0..9).map(&mut pair).collect();
        for id in [U256::from(2), U256::ZERO, far_id(&"nobody".into())] {
            for selector in ["23b872dd", "42842e0e", "b88d4fde"] {
                let meets = pairs.contains(&(selector.to_owned(), id));
                assert!(meets, "{selector} {id}: {pairs:?}");
            }
        }
    }

    #[test]
    fn registrations_take_each_function_that_says_the_same() {
        let entry = Metadata {
            key: "key".to_owned(),
            value: crate::model::Bytes(vec![1]),
        };
        let sent = |uri, metadata: &[Metadata]| {
            selectors((0..9).map(|choice| register(uri, metadata, choice)))
        };
        assert_eq!(sent("", &[]), of(&["1aa3a008", "8ea42286", "f2c298be"]));
        assert_eq!(sent("ipfs://a", &[]), of(&["8ea42286", "f2c298be"]));
        assert_eq!(sent("", &[entry]), of(&["8ea42286"]));
    }

    #[test]
    fn a_choice_follows_from_the_step_and_differs_between_steps() {
        let transfer = |to: &str| {
            Operation::Transfer(Transfer {
                agent: "desk".into(),
                by: "alice".into(),
                to: to.into(),
                into_mutable_account: false,
            })
        };
        let of_step = |to, time| choice(&transfer(to), time);
        assert_eq!(of_step("bob", 3), of_step("bob", 3));
        let some: BTreeSet<_> = (0..20).map(|time| of_step("bob", time) % 3).collect();
        assert_eq!(some, BTreeSet::from([0, 1, 2]));
        assert_ne!(of_step("bob", 3), of_step("carol", 3));
    }
}
