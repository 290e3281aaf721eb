use crate::{
    backend::{
        Observed, StepFault,
        svm::{
            SvmLitesvm, addresses,
            instructions::open::{self, Listed},
            observation::last_open_index,
            view,
        },
    },
    model::{Actor, Agent, Integer, OpenFeedback, Outcome, Response, Summary},
};
use agent_registry::open_summary::OpenSummary;

impl SvmLitesvm {
    pub(in crate::backend::svm) fn give_open_feedback(
        &mut self,
        feedback: &OpenFeedback,
    ) -> Result<Observed, StepFault> {
        let (client, mint) = (
            addresses::actor(&feedback.by),
            addresses::mint(&feedback.agent),
        );
        let index = match feedback.index {
            Some(index) => index,
            None => last_open_index(&self.ledger, &mint, &client)?.saturating_add(1), // R12
        };
        let give = open::give_open_feedback(client, mint, index, feedback);
        self.submit_alone(&feedback.agent, &feedback.by, give)
    }

    pub(in crate::backend::svm) fn revoke_open_feedback(
        &mut self,
        agent: &Agent,
        by: &Actor,
        index: u64,
    ) -> Result<Observed, StepFault> {
        let (client, mint) = (addresses::actor(by), addresses::mint(agent));
        self.submit_alone(agent, by, open::revoke_open_feedback(client, mint, index))
    }

    pub(in crate::backend::svm) fn append_open_response(
        &mut self,
        response: &Response,
    ) -> Result<Observed, StepFault> {
        let append = open::append_open_response(
            addresses::actor(&response.by),
            addresses::mint(&response.agent),
            addresses::actor(&response.client),
            response,
        );
        self.submit_alone(&response.agent, &response.by, append)
    }

    /// The program's own answer (R16).
    pub(in crate::backend::svm) fn open_summary(
        &self,
        agent: &Agent,
        clients: &[Actor],
        tag1: &str,
        tag2: &str,
    ) -> Result<Observed, StepFault> {
        let mint = addresses::mint(agent);
        let listed: Vec<Listed> = clients
            .iter()
            .map(|client| {
                let client = addresses::actor(client);
                Ok((client, last_open_index(&self.ledger, &mint, &client)?))
            })
            .collect::<Result<_, StepFault>>()?;
        let read = open::open_summary(mint, &listed, tag1, tag2);
        Ok(match view::call::<OpenSummary>(&self.ledger, read)? {
            Ok(answer) => Outcome::answered(Summary::Open {
                count: answer.count,
                value: Integer(answer.value),
                decimals: answer.decimals,
            })
            .into(),
            Err(refusal) => Observed {
                native_error: Some(refusal.native),
                ..Outcome::refused(refusal.class).into()
            },
        })
    }
}
