//! Operations as transactions and calls.
use super::{
    Registries,
    abi::{AuthorizedReputation, Identity, OpenReputation, Reputation, Validation},
    authorization::{self, Audience},
    consent,
    dialect::native_words,
    key_of,
    ledger::{Answer, Ledger, Receipt, try_view, view},
    translation::LogReader,
};
use crate::{
    backend::{Cost, Observed, StepFault, secrets::secret_of},
    model::{
        Actor, Agent, Consent, Feedback, Integer, Metadata, OpenFeedback, Operation, Outcome,
        PaddedTag, Response, Summary, ValidationAnswer, Verdict,
    },
};
use alloy::{
    primitives::{Address, Bytes, U256},
    signers::local::PrivateKeySigner,
    sol_types::{SolCall, SolEvent},
};
use concord_canonical::tag;

impl<L: Ledger> Registries<L> {
    /// Sends the operation at `time`, in seconds after the start.
    pub(super) fn transact(
        &mut self,
        registry: Address,
        operation: &Operation,
        time: u64,
    ) -> Answer<Observed> {
        let now = self.start.saturating_add(time);
        let (by, input) = self.call(registry, operation, now)?;
        let key = self.key(&by);
        self.ledger.set_next_block_time(now)?;
        let receipt = self.ledger.send(&key, Some(registry), input.into())?;
        if let Operation::Register { agent, .. } = operation {
            self.note_registration(agent, &receipt);
        }
        let observed = self.observe(&receipt)?;
        if observed.outcome.verdict == Verdict::Ok {
            self.note(operation);
        }
        Ok(observed)
    }

    /// Who calls, and with which calldata.
    fn call(
        &mut self,
        registry: Address,
        operation: &Operation,
        now: u64,
    ) -> Answer<(Actor, Vec<u8>)> {
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
                    requestHash: request.0.into(),
                };
                (by, call.abi_encode())
            }
            Operation::ValidationResponse(answer) => (&answer.by, validation_response(answer)?),
            other => return Err(StepFault::Inexpressible(other.name().to_owned())),
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
                let signature =
                    consent::signature(consent, agent_id, deadline, chain_id, identity)?;
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
                authorization::blob(sent, self.id_of(&sent.agent), &audience, self.start)?
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

    pub(super) fn summary(&mut self, registry: Address, agent: &Agent) -> Answer<Observed> {
        let call = AuthorizedReputation::getSummaryCall {
            agentId: self.id_of(agent),
        };
        let answer = view(&mut self.ledger, registry, &call)?;
        Ok(Outcome::answered(Summary::Authorized {
            count: answer.count,
            average: answer.averageScore,
        })
        .into())
    }

    pub(super) fn open_summary(
        &mut self,
        registry: Address,
        agent: &Agent,
        clients: &[Actor],
        tag1: &str,
        tag2: &str,
    ) -> Answer<Observed> {
        let call = OpenReputation::getSummaryCall {
            agentId: self.id_of(agent),
            clientAddresses: clients.iter().map(|it| self.address_of(it)).collect(),
            tag1: tag1.to_owned(),
            tag2: tag2.to_owned(),
        };
        match try_view(&mut self.ledger, registry, &call)? {
            Ok(answer) => Ok(Outcome::answered(Summary::Open {
                count: answer.count,
                value: Integer(answer.summaryValue),
                decimals: answer.summaryValueDecimals,
            })
            .into()),
            Err(data) => self.refused(&data, None),
        }
    }

    fn observe(&self, receipt: &Receipt) -> Answer<Observed> {
        let cost = Some(Cost::Gas(receipt.gas));
        if let Some(data) = &receipt.refusal {
            return self.refused(data, cost);
        }
        let reader = LogReader {
            registries: &self.addresses,
            agents: &self.agents,
            start: self.start,
        };
        Ok(Observed {
            outcome: Outcome::accepted(reader.read(&receipt.logs)?),
            native_error: None,
            cost,
        })
    }

    fn refused(&self, revert_data: &Bytes, cost: Option<Cost>) -> Answer<Observed> {
        Ok(Observed {
            outcome: Outcome::refused(self.dialect.class_of(revert_data)?),
            native_error: Some(native_words(revert_data)),
            cost,
        })
    }

    /// The events of the same transaction name the agent already.
    fn note_registration(&mut self, agent: &Agent, receipt: &Receipt) {
        let registered = receipt.logs.iter().find_map(|log| {
            Identity::Registered::decode_log_validate(log)
                .ok()
                .filter(|registered| registered.address == self.addresses.identity)
        });
        if let Some(registered) = registered {
            self.agents.add_agent(registered.agentId, agent.clone());
        }
    }

    /// Keeps of an accepted operation what no view will tell.
    fn note(&mut self, operation: &Operation) {
        match operation {
            Operation::Register {
                agent, metadata, ..
            } => {
                let id = self.id_of(agent);
                for entry in metadata {
                    self.memory.note_metadata(id, &entry.key);
                }
            }
            Operation::SetMetadata { agent, key, .. } => {
                let id = self.id_of(agent);
                self.memory.note_metadata(id, key);
            }
            Operation::ValidationResponse(answer) => {
                self.memory.note_answer(answer.request.0.into());
            }
            _ => (),
        }
    }

    /// A label that no registration stands behind gets an id that no registry reaches.
    fn id_of(&self, agent: &Agent) -> U256 {
        self.agents
            .id_of(agent)
            .unwrap_or_else(|| U256::from_be_bytes(secret_of("agent", &agent.0)))
    }

    fn key(&mut self, actor: &Actor) -> PrivateKeySigner {
        let derive = || key_of(actor);
        self.keys
            .entry(actor.clone())
            .or_insert_with(derive)
            .clone()
    }

    pub(super) fn address_of(&mut self, actor: &Actor) -> Address {
        self.key(actor).address()
    }

    fn address_or_zero(&mut self, actor: Option<&Actor>) -> Address {
        actor.map_or(Address::ZERO, |actor| self.address_of(actor))
    }
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

fn validation_response(answer: &ValidationAnswer) -> Answer<Vec<u8>> {
    let call = Validation::validationResponseCall {
        requestHash: answer.request.0.into(),
        response: answer.score,
        responseURI: answer.uri.clone(),
        responseHash: answer.hash.0.into(),
        tag: text_of(&answer.tag)?,
    };
    Ok(call.abi_encode())
}

/// The contract takes a tag as text (R14).
fn text_of(tag: &PaddedTag) -> Answer<String> {
    tag::decode_padded(&tag.0)
        .map(|tag| tag.to_string())
        .map_err(|fault| StepFault::Inexpressible(format!("tag {tag}: {fault}")))
}
