//! Validation (R20).
use super::{
    Actor, Agent, AnswerState, Bytes32, Chain, Event, Model, ValidationAnswer, ValidationState,
    registry::{Done, Refusal},
};
use concord_canonical::{ErrorClass, limits};

/// Solana's seeds hold this many bytes of a request hash.
const REQUEST_PREFIX: usize = 8;

impl Model {
    /// The checks of §3a, in its order.
    pub(super) fn validation_request(
        &mut self,
        agent: &Agent,
        by: &Actor,
        validator: Option<&Actor>,
        request: &Bytes32,
        uri: &str,
    ) -> Done {
        let validator = validator.ok_or(ErrorClass::ValidatorZero)?;
        if self.has_request(agent, validator, request) {
            return Err(ErrorClass::RequestExists);
        }
        self.check_may_manage(agent, by)?;
        self.check_request_prefix(agent, validator, request)?; // R20
        self.check_portable(uri, limits::URI_MAX)?; // R17
        let pending = ValidationState {
            time: self.state.time,
            answer: None,
        };
        let requests = &mut self.agent_mut(agent)?.validations.requests;
        let of_hash = requests.entry(*request).or_default();
        of_hash.insert(validator.clone(), pending);
        Ok(vec![Event::ValidationRequested {
            agent: agent.clone(),
            validator: validator.clone(),
            request: *request,
            uri: uri.to_owned(),
        }])
    }

    /// Declared variance 3: unique in the registry on EVM, for agent and validator on Solana.
    fn has_request(&self, agent: &Agent, validator: &Actor, request: &Bytes32) -> bool {
        match self.chain {
            Chain::Evm => self.place_of(request).is_some(),
            Chain::Svm => self.state.agents.get(agent).is_some_and(|record| {
                let of_hash = record.validations.requests.get(request);
                of_hash.is_some_and(|validators| validators.contains_key(validator))
            }),
        }
    }

    /// Declared variance 3.
    fn check_request_prefix(
        &self,
        agent: &Agent,
        validator: &Actor,
        request: &Bytes32,
    ) -> Result<(), Refusal> {
        let requests = &self.agent(agent)?.validations.requests;
        let collides = requests.iter().any(|(other, validators)| {
            other.0[..REQUEST_PREFIX] == request.0[..REQUEST_PREFIX]
                && validators.contains_key(validator)
        });
        if self.chain == Chain::Svm && collides {
            return Err(ErrorClass::RequestPrefixCollision);
        }
        Ok(())
    }

    /// The agent and the validator of the request with this hash; on EVM there is at most one.
    fn place_of(&self, request: &Bytes32) -> Option<(Agent, Actor)> {
        self.state.agents.iter().find_map(|(agent, record)| {
            let validators = record.validations.requests.get(request)?;
            let validator = validators.keys().next()?;
            Some((agent.clone(), validator.clone()))
        })
    }

    /// The checks of §3a, in its order. The last response counts.
    pub(super) fn validation_response(&mut self, answer: &ValidationAnswer) -> Done {
        let (agent, validator) = match self.chain {
            Chain::Evm => self.place_of(&answer.request),
            Chain::Svm => Some((answer.agent.clone(), answer.validator.clone()))
                .filter(|(agent, validator)| self.has_request(agent, validator, &answer.request)),
        }
        .ok_or(ErrorClass::RequestNotFound)?;
        if answer.by != validator {
            return Err(ErrorClass::NotValidator);
        }
        if answer.score > limits::SCORE_MAX {
            return Err(ErrorClass::ScoreOutOfRange);
        }
        self.check_portable(&answer.uri, limits::URI_MAX)?; // R17
        self.record_answer(&agent, &validator, answer)
    }

    fn record_answer(
        &mut self,
        agent: &Agent,
        validator: &Actor,
        answer: &ValidationAnswer,
    ) -> Done {
        let time = self.state.time;
        let validations = &mut self.agent_mut(agent)?.validations;
        let stored = validations
            .requests
            .get_mut(&answer.request)
            .and_then(|validators| validators.get_mut(validator))
            .ok_or(ErrorClass::RequestNotFound)?;
        if stored.answer.is_none() {
            validations.answered += 1; // R20: once a request
        }
        stored.time = time;
        stored.answer = Some(AnswerState {
            score: answer.score,
            hash: answer.hash,
            tag: answer.tag,
        });
        Ok(vec![Event::ValidationResponded {
            agent: agent.clone(),
            validator: validator.clone(),
            request: answer.request,
            score: answer.score,
            uri: answer.uri.clone(),
            hash: answer.hash,
            tag: answer.tag,
        }])
    }
}
