//! The canonical state of an agent, read through the contracts' view functions. What belongs
//! together is asked together: over JSON-RPC each round is one request.
use super::{
    Agents, Clock, Dialect, Memory, RegistryAddresses, Requests,
    ledger::{Answer, Ledger, Views},
};
use crate::{
    backend::{StepFault, canonical_events::padded},
    model::{
        Actor, AgentState, AnswerState, AuthorizedState, Bytes, Bytes32, FeedbackState, Integer,
        OpenFeedbackState, OpenState, PaddedTag, ValidationState, ValidationsState, WideInteger,
    },
};
use alloy::primitives::{Address, B256, I256, U256};
use concord_canonical::limits;
use concord_registry::evm::abi::{
    AuthorizedReputationRegistry as AuthorizedReputation, Feedback as Reputation,
    IdentityRegistry as Identity, ReputationRegistry as OpenReputation,
    ValidationRegistry as Validation,
};

/// What is needed to read an agent's state.
pub(super) struct Observer<'a, L> {
    pub ledger: &'a mut L,
    pub registries: RegistryAddresses,
    pub dialect: Dialect,
    pub agents: &'a Agents,
    pub memory: &'a Memory,
    pub requests: &'a Requests,
    /// Unix seconds.
    pub start: u64,
}

impl<L: Ledger> Observer<'_, L> {
    pub fn agent(&mut self, id: U256) -> Answer<AgentState> {
        let mut state = self.identity(id)?;
        if let Some(registry) = self.registries.authorized_reputation {
            state.authorized = self.authorized(registry, id)?;
        }
        if let Some(registry) = self.registries.open_reputation {
            state.open = self.open(registry, id)?;
        }
        if let Some(registry) = self.registries.validation {
            state.validations = self.validations(registry, id)?;
        }
        Ok(state)
    }

    fn identity(&mut self, id: U256) -> Answer<AgentState> {
        let registry = self.registries.identity;
        let mut views = Views::default();
        let owner = views.ask(registry, &Identity::ownerOfCall { tokenId: id });
        let uri = views.ask(registry, &Identity::tokenURICall { tokenId: id });
        let wallet = views.ask(registry, &Identity::getAgentWalletCall { agentId: id });
        let keys: Vec<_> = self.memory.metadata_keys(id).collect();
        let values: Vec<_> = keys
            .iter()
            .map(|key| Identity::getMetadataCall {
                agentId: id,
                metadataKey: (*key).clone(),
            })
            .map(|call| views.ask(registry, &call))
            .collect();
        let answers = views.answers(self.ledger)?;
        let wallet = answers.get(&wallet)?;
        let owner = self.agents.actor(answers.get(&owner)?);
        let mut state = AgentState::registered(owner, answers.get(&uri)?);
        state.wallet = (wallet != Address::ZERO).then(|| self.agents.actor(wallet));
        for (key, value) in keys.into_iter().zip(&values) {
            let value = Bytes(answers.get(value)?.into());
            state.metadata.insert(key.clone(), value);
        }
        Ok(state)
    }

    fn authorized(&mut self, registry: Address, id: U256) -> Answer<AuthorizedState> {
        let mut views = Views::default();
        let totals = views.ask(
            registry,
            &AuthorizedReputation::getTotals_0Call { agentId: id },
        );
        let summary = views.ask(
            registry,
            &AuthorizedReputation::getSummary_0Call { agentId: id },
        );
        let clients = views.ask(registry, &Reputation::getClientsCall { agentId: id });
        let answers = views.answers(self.ledger)?;
        let totals = answers.get(&totals)?;
        let mut state = AuthorizedState {
            count: totals.count,
            sum: totals.sum,
            average: answers.get(&summary)?.averageScore,
            ..AuthorizedState::default()
        };
        for (client, label, last_index) in
            self.last_indices(registry, id, answers.get(&clients)?)?
        {
            let entries = self.authorized_entries(registry, id, client, last_index)?;
            state.clients.push(label.clone());
            state.entries.insert(label, entries);
        }
        Ok(state)
    }

    /// Each client with its label and the index of its last feedback.
    fn last_indices(
        &mut self,
        registry: Address,
        id: U256,
        clients: Vec<Address>,
    ) -> Answer<Vec<(Address, Actor, u64)>> {
        let mut views = Views::default();
        let asked: Vec<_> = clients
            .iter()
            .map(|client| Reputation::getLastIndexCall {
                agentId: id,
                clientAddress: *client,
            })
            .map(|call| views.ask(registry, &call))
            .collect();
        let answers = views.answers(self.ledger)?;
        let indexed = clients.into_iter().zip(&asked).map(|(client, last_index)| {
            let label = self.agents.actor(client);
            Ok((client, label, answers.get(last_index)?))
        });
        indexed.collect()
    }

    fn authorized_entries(
        &mut self,
        registry: Address,
        id: U256,
        client: Address,
        last_index: u64,
    ) -> Answer<Vec<FeedbackState>> {
        let mut views = Views::default();
        let asked: Vec<_> = (1..=last_index)
            .map(|index| {
                let call = AuthorizedReputation::readFeedbackCall {
                    agentId: id,
                    clientAddress: client,
                    feedbackIndex: index,
                };
                let responses = response_count(id, client, index);
                (views.ask(registry, &call), views.ask(registry, &responses))
            })
            .collect();
        let answers = views.answers(self.ledger)?;
        let entries = asked.iter().map(|(entry, responses)| {
            let entry = answers.get(entry)?;
            Ok(FeedbackState {
                score: entry.score,
                tag1: PaddedTag(entry.tag1.0),
                tag2: PaddedTag(entry.tag2.0),
                time: self.seconds(U256::from(entry.timestamp))?,
                revoked: entry.isRevoked,
                responses: answers.get(responses)?,
                payment: None,
            })
        });
        entries.collect()
    }

    fn open(&mut self, registry: Address, id: U256) -> Answer<OpenState> {
        let mut views = Views::default();
        let clients = views.ask(registry, &Reputation::getClientsCall { agentId: id });
        let part = (!self.dialect.has_canonical_abi())
            .then(|| views.ask(registry, &summary_part_of_all(id)));
        let answers = views.answers(self.ledger)?;
        let mut state = OpenState::default();
        for (client, label, last_index) in
            self.last_indices(registry, id, answers.get(&clients)?)?
        {
            let entries = self.open_entries(registry, id, client, last_index)?;
            state.clients.push(label.clone());
            state.entries.insert(label, entries);
        }
        (state.count, state.sum) = match part {
            Some(part) => {
                let part = answers.get(&part)?;
                (part.count, WideInteger(part.sum))
            }
            None => totals(&state)?,
        };
        Ok(state)
    }

    fn open_entries(
        &mut self,
        registry: Address,
        id: U256,
        client: Address,
        last_index: u64,
    ) -> Answer<Vec<OpenFeedbackState>> {
        let mut views = Views::default();
        let asked: Vec<_> = (1..=last_index)
            .map(|index| {
                let call = OpenReputation::readFeedbackCall {
                    agentId: id,
                    clientAddress: client,
                    feedbackIndex: index,
                };
                let responses = response_count(id, client, index);
                (views.ask(registry, &call), views.ask(registry, &responses))
            })
            .collect();
        let answers = views.answers(self.ledger)?;
        let entries = asked.iter().map(|(entry, responses)| {
            let entry = answers.get(entry)?;
            Ok(OpenFeedbackState {
                value: Integer(entry.value),
                decimals: entry.valueDecimals,
                tag1: entry.tag1,
                tag2: entry.tag2,
                revoked: entry.isRevoked,
                responses: answers.get(responses)?,
            })
        });
        entries.collect()
    }

    fn validations(&mut self, registry: Address, id: U256) -> Answer<ValidationsState> {
        let mut views = Views::default();
        let hashes = views.ask(
            registry,
            &Validation::getAgentValidationsCall { agentId: id },
        );
        let count = (!self.dialect.has_canonical_abi()).then(|| {
            views.ask(
                registry,
                &Validation::getValidationCountCall { agentId: id },
            )
        });
        let answers = views.answers(self.ledger)?;
        let mut state = ValidationsState::default();
        for (hash, validator, validation) in self.requests(registry, id, answers.get(&hashes)?)? {
            let of_hash = state.requests.entry(self.requests.label(hash)).or_default();
            if of_hash.insert(validator, validation).is_some() {
                return Err(StepFault::UnexplainedState(format!("{hash} listed twice")));
            }
        }
        state.answered = match count {
            Some(count) => answers.get(&count)?,
            None => {
                let requests = state.requests.values().flat_map(|of_hash| of_hash.values());
                requests.filter(|it| it.answer.is_some()).count() as u64
            }
        };
        Ok(state)
    }

    fn requests(
        &mut self,
        registry: Address,
        id: U256,
        hashes: Vec<B256>,
    ) -> Answer<Vec<(B256, Actor, ValidationState)>> {
        let mut views = Views::default();
        let asked: Vec<_> = hashes
            .iter()
            .map(|hash| {
                let status = Validation::getValidationStatusCall { requestHash: *hash };
                let has_response = Validation::hasResponseCall { requestHash: *hash };
                let status = views.ask(registry, &status);
                let is_ours = !self.dialect.has_canonical_abi();
                (status, is_ours.then(|| views.ask(registry, &has_response)))
            })
            .collect();
        let answers = views.answers(self.ledger)?;
        let requests = hashes
            .iter()
            .zip(&asked)
            .map(|(hash, (status, has_response))| {
                let is_answered = match has_response {
                    Some(has_response) => answers.get(has_response)?,
                    None => self.memory.was_answered(hash),
                };
                self.request(*hash, id, answers.get(status)?, is_answered)
            });
        requests.collect()
    }

    fn request(
        &self,
        hash: B256,
        id: U256,
        status: Validation::getValidationStatusReturn,
        is_answered: bool,
    ) -> Answer<(B256, Actor, ValidationState)> {
        let unexplained = |words: String| StepFault::UnexplainedState(format!("{hash}: {words}"));
        if status.agentId != id {
            return Err(unexplained(format!("is for agent {}", status.agentId)));
        }
        let answer = AnswerState {
            score: status.response,
            hash: Bytes32(status.responseHash.0),
            tag: padded(&status.tag).map_err(unexplained)?,
        };
        if !is_answered && answer != NO_ANSWER {
            return Err(unexplained("a pending request with an answer".to_owned()));
        }
        let validation = ValidationState {
            time: self.seconds(status.lastUpdate)?,
            answer: is_answered.then_some(answer),
        };
        let validator = self.agents.actor(status.validatorAddress);
        Ok((hash, validator, validation))
    }

    fn seconds(&self, timestamp: U256) -> Answer<u64> {
        let clock = Clock {
            start: self.start,
            times: self.ledger.scenario_times(),
        };
        clock
            .seconds(timestamp)
            .map_err(StepFault::UnexplainedState)
    }
}

/// What a pending request has in place of an answer.
const NO_ANSWER: AnswerState = AnswerState {
    score: 0,
    hash: Bytes32([0; 32]),
    tag: PaddedTag([0; 32]),
};

/// By everybody.
fn response_count(id: U256, client: Address, index: u64) -> Reputation::getResponseCountCall {
    Reputation::getResponseCountCall {
        agentId: id,
        clientAddress: client,
        feedbackIndex: index,
        responders: Vec::new(),
    }
}

/// Of every client, whatever the tags.
fn summary_part_of_all(id: U256) -> OpenReputation::getSummaryPartOfClientsCall {
    OpenReputation::getSummaryPartOfClientsCall {
        agentId: id,
        start: U256::ZERO,
        limit: U256::MAX,
        tag1: String::new(),
        tag2: String::new(),
    }
}

/// R16, over entries that were read, where no view answers count and sum.
fn totals(state: &OpenState) -> Answer<(u64, WideInteger)> {
    let standing = || {
        let entries = state.entries.values().flatten();
        entries.filter(|entry| !entry.revoked)
    };
    let mut sum = I256::ZERO;
    for entry in standing() {
        let scale = limits::DECIMALS_MAX.checked_sub(entry.decimals);
        let scaled = scale.and_then(|scale| {
            let unit = I256::try_from(10_u128.pow(scale.into())).ok()?;
            I256::try_from(entry.value.0).ok()?.checked_mul(unit)
        });
        sum = scaled
            .and_then(|value| sum.checked_add(value))
            .ok_or_else(|| StepFault::UnexplainedState(format!("open feedback with {entry:?}")))?;
    }
    Ok((standing().count() as u64, WideInteger(sum)))
}
