use crate::{
    backend::{
        Observed, StepFault,
        svm::{Registry, ledger::Ledger},
    },
    model::{self, Bytes32, Outcome, ValidationAnswer, Verdict},
};
use concord_canonical::ErrorClass;
use concord_registry::svm::{
    accounts::ValidationRequest,
    instructions::{RequestValidation, RespondToValidation},
};
use solana_address::Address;

impl<L: Ledger> Registry<L> {
    pub(in crate::backend::svm) fn validation_request(
        &mut self,
        asked: &model::ValidationRequest,
    ) -> Result<Observed, StepFault> {
        let (owner, mint) = (
            self.world.keys.actor(&asked.by),
            self.world.mint(&asked.agent),
        );
        let validator = asked.validator.as_ref();
        let validator = validator.map_or(Address::default(), |it| self.world.keys.actor(it));
        let request = RequestValidation {
            validator,
            request_hash: asked.request.0,
            tag: [0; 32], // canonical requests have none
            uri: &asked.uri,
        };
        let ask = self.world.program.request_validation(owner, mint, &request);
        self.submit_alone(&asked.agent, &asked.by, ask)
    }

    /// The request is named by its account. Where the validator has none, a client in `by`'s place
    /// names the one that would be its own.
    pub(in crate::backend::svm) fn validation_response(
        &mut self,
        answer: &ValidationAnswer,
    ) -> Result<Observed, StepFault> {
        let mint = self.world.mint(&answer.agent);
        let (caller, validator) = (
            self.world.keys.actor(&answer.by),
            self.world.keys.actor(&answer.validator),
        );
        let is_asked = self.has_request(&mint, &validator, &answer.request)?;
        let caller_is_asked = self.has_request(&mint, &caller, &answer.request)?;
        let named = if is_asked || caller_is_asked {
            validator
        } else {
            caller
        };
        let response = RespondToValidation {
            validator: named,
            request_hash: answer.request.0,
            score: answer.score,
            tag: answer.tag.0,
            evidence_uri: &answer.uri,
            evidence_hash: answer.hash.0,
        };
        let program = &self.world.program;
        let respond = program.respond_to_validation(caller, mint, &response);
        let observed = self.submit_alone(&answer.agent, &answer.by, respond)?;
        let is_vacant = !is_asked && caller_is_asked;
        Ok(match observed.outcome.verdict {
            Verdict::Refused(ErrorClass::AccountMismatch) if is_vacant => of_absent(observed),
            _ => observed,
        })
    }

    /// A request of the validator about the agent whose hash begins as this one.
    fn has_request(
        &self,
        mint: &Address,
        validator: &Address,
        hash: &Bytes32,
    ) -> Result<bool, StepFault> {
        let program = &self.world.program;
        let address = program.validation_request(mint, validator, &hash.0);
        let request = self.ledger.load::<ValidationRequest>(program, &address)?;
        Ok(request.is_some())
    }
}

/// A caller with a request of their own under the hash cannot name that one, or they would answer it.
/// They name the other validator's vacant account, and the program says that it is not theirs: it is
/// the request that is not there.
fn of_absent(observed: Observed) -> Observed {
    Observed {
        outcome: Outcome::refused(ErrorClass::RequestNotFound),
        ..observed
    }
}
