use super::{Reader, unexplained};
use crate::{
    backend::{StepFault, svm::ledger::Ledger},
    model::{AnswerState, Bytes32, PaddedTag, ValidationState, ValidationsState},
};
use concord_registry::svm::accounts::{AgentIdentity, ValidationRequest, ValidationResponse};

impl<L: Ledger> Reader<'_, L> {
    pub(super) fn validations(
        &self,
        identity: &AgentIdentity,
    ) -> Result<ValidationsState, StepFault> {
        let mut validations = ValidationsState {
            answered: identity.validation_count,
            ..ValidationsState::default()
        };
        let requests = self.snapshot.requests.iter();
        for request in requests.filter(|request| request.nft_mint == identity.nft_mint) {
            let validator = self.world.agents.actor(request.validator);
            let of_hash = validations.requests.entry(Bytes32(request.request_hash));
            let state = self.validation(request)?;
            of_hash.or_default().insert(validator, state);
        }
        self.check_responses_asked_for(identity)?;
        Ok(validations)
    }

    fn validation(&self, request: &ValidationRequest) -> Result<ValidationState, StepFault> {
        let mut responses = self.snapshot.responses.iter();
        let response = responses.find(|response| response.answers(request));
        match (request.responded, response) {
            (false, None) => Ok(ValidationState {
                time: self.seconds_after_start(request.created_at)?,
                answer: None,
            }),
            (true, Some(response)) => Ok(ValidationState {
                time: self.seconds_after_start(response.last_update)?,
                answer: Some(AnswerState {
                    score: response.score,
                    hash: Bytes32(response.evidence_hash),
                    tag: PaddedTag(response.tag),
                }),
            }),
            (responded, _) => Err(unexplained(format!(
                "request {} with responded = {responded}, and its response does not say so",
                Bytes32(request.request_hash)
            ))),
        }
    }

    fn check_responses_asked_for(&self, identity: &AgentIdentity) -> Result<(), StepFault> {
        let requests = &self.snapshot.requests;
        let is_orphan = |response: &&ValidationResponse| {
            response.nft_mint == identity.nft_mint
                && !requests.iter().any(|request| response.answers(request))
        };
        match self.snapshot.responses.iter().find(is_orphan) {
            None => Ok(()),
            Some(response) => Err(unexplained(format!(
                "a response to {}, which was not requested",
                Bytes32(response.request_hash)
            ))),
        }
    }
}
