use crate::{
    backend::{
        Observed, StepFault,
        svm::{Registry, authorization, ledger::Ledger, observation, payment},
    },
    model::{Agent, AttachPaymentProof, Feedback, Outcome, Response, Revocation, Summary},
};
use concord_registry::svm::{
    accounts::ClientIndex,
    instructions::{self, GiveFeedback},
};
use solana_address::Address;

impl<L: Ledger> Registry<L> {
    pub(in crate::backend::svm) fn give_feedback(
        &mut self,
        feedback: &Feedback,
    ) -> Result<Observed, StepFault> {
        let (reviewer, mint) = (
            self.world.keys.actor(&feedback.by),
            self.world.mint(&feedback.agent),
        );
        let index = match feedback.index {
            Some(index) => index,
            None => self.next_index(&mint, &reviewer)?,
        };
        let sent_along = feedback.authorization.as_ref();
        let precompile = sent_along.and_then(|sent| authorization::precompile(sent, &self.world));
        let given = GiveFeedback {
            index,
            score: feedback.score,
            tag1: feedback.tag1.0,
            tag2: feedback.tag2.0,
            uri: &feedback.uri,
            hash: feedback.hash.0,
            authorization: authorization::claim(sent_along, &self.world),
        };
        let give = self.world.program.give_feedback(reviewer, mint, &given);
        let instructions: Vec<_> = precompile.into_iter().chain([give]).collect();
        let key = self.world.keys.actor_key(&feedback.by);
        self.submit(Some(&feedback.agent), &[&key], &instructions)
    }

    /// What a client does who is not told an index: reads its last one and adds 1 (R12).
    fn next_index(&self, mint: &Address, client: &Address) -> Result<u64, StepFault> {
        let program = &self.world.program;
        let address = program.client_index(mint, client);
        let index = self.ledger.load::<ClientIndex>(program, &address)?;
        let last = index.map_or(0, |index| index.last_index);
        last.checked_add(1)
            .ok_or_else(|| StepFault::UnexplainedState(format!("{address}: last index {last}")))
    }

    pub(in crate::backend::svm) fn revoke_feedback(
        &mut self,
        revocation: &Revocation,
    ) -> Result<Observed, StepFault> {
        let Revocation { agent, by, index } = revocation;
        let (reviewer, mint) = (self.world.keys.actor(by), self.world.mint(agent));
        let revoke = self.world.program.revoke_feedback(reviewer, mint, *index);
        self.submit_alone(agent, by, revoke)
    }

    pub(in crate::backend::svm) fn append_response(
        &mut self,
        response: &Response,
    ) -> Result<Observed, StepFault> {
        let append = self.world.program.append_response(
            self.world.keys.actor(&response.by),
            self.world.mint(&response.agent),
            &self.world.response(response),
        );
        self.submit_alone(&response.agent, &response.by, append)
    }

    /// R13.
    pub(in crate::backend::svm) fn attach_payment_proof(
        &mut self,
        proof: &AttachPaymentProof,
    ) -> Result<Observed, StepFault> {
        let attached = instructions::AttachPaymentProof {
            reviewer: self.world.keys.actor(&proof.client),
            index: proof.index,
            payment: payment::claim(&proof.payment, &self.world),
        };
        let attach = self.world.program.attach_payment_proof(
            self.world.keys.actor(&proof.by),
            self.world.mint(&proof.agent),
            &attached,
        );
        let precompile = payment::precompile(&proof.payment, &self.world);
        let instructions: Vec<_> = precompile.into_iter().chain([attach]).collect();
        let key = self.world.keys.actor_key(&proof.by);
        self.submit(Some(&proof.agent), &[&key], &instructions)
    }

    /// The program has no read instruction for it: clients read its counters.
    pub(in crate::backend::svm) fn summary(&self, agent: &Agent) -> Result<Observed, StepFault> {
        let nothing = Summary::Authorized {
            count: 0,
            average: 0,
        };
        let identity = self.identity(&self.world.mint(agent))?;
        let answer = identity.map_or(Ok(nothing), |identity| observation::summary(&identity))?;
        Ok(Outcome::answered(answer).into())
    }
}
