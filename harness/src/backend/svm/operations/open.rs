use crate::{
    backend::{
        Observed, StepFault,
        svm::{
            Registry,
            ledger::Ledger,
            observation::{self, last_open_index},
            view,
        },
    },
    model::{Integer, OpenFeedback, OpenSummaryQuery, Outcome, Response, Revocation, Summary},
};
use concord_canonical::summary::Accumulator;
use concord_registry::svm::{
    instructions::{ClientEntries, GiveOpenFeedback, SUMMARY_ACCOUNTS_MAX, accounts_of_summary},
    views::OpenSummary,
};
use solana_address::Address;

impl<L: Ledger> Registry<L> {
    pub(in crate::backend::svm) fn give_open_feedback(
        &mut self,
        feedback: &OpenFeedback,
    ) -> Result<Observed, StepFault> {
        let (client, mint) = (
            self.world.keys.actor(&feedback.by),
            self.world.mint(&feedback.agent),
        );
        let index = match feedback.index {
            Some(index) => index,
            None => self.last_open_index(&mint, &client)?.saturating_add(1), // R12
        };
        let given = GiveOpenFeedback {
            index,
            value: feedback.value.0,
            decimals: feedback.decimals,
            tag1: &feedback.tag1,
            tag2: &feedback.tag2,
            endpoint: &feedback.endpoint,
            uri: &feedback.uri,
            hash: feedback.hash.0,
        };
        let program = &self.world.program;
        let give = program.give_open_feedback(client, mint, &given);
        self.submit_alone(&feedback.agent, &feedback.by, give)
    }

    pub(in crate::backend::svm) fn revoke_open_feedback(
        &mut self,
        revocation: &Revocation,
    ) -> Result<Observed, StepFault> {
        let Revocation { agent, by, index } = revocation;
        let (client, mint) = (self.world.keys.actor(by), self.world.mint(agent));
        let program = &self.world.program;
        let revoke = program.revoke_open_feedback(client, mint, *index);
        self.submit_alone(agent, by, revoke)
    }

    pub(in crate::backend::svm) fn append_open_response(
        &mut self,
        response: &Response,
    ) -> Result<Observed, StepFault> {
        let append = self.world.program.append_open_response(
            self.world.keys.actor(&response.by),
            self.world.mint(&response.agent),
            &self.world.response(response),
        );
        self.submit_alone(&response.agent, &response.by, append)
    }

    fn last_open_index(&self, mint: &Address, client: &Address) -> Result<u64, StepFault> {
        last_open_index(&self.ledger, &self.world.program, mint, client)
    }

    /// The program's own answer (R16).
    pub(in crate::backend::svm) fn open_summary(
        &self,
        query: &OpenSummaryQuery,
    ) -> Result<Observed, StepFault> {
        let OpenSummaryQuery {
            agent,
            clients,
            tag1,
            tag2,
        } = query;
        let mint = self.world.mint(agent);
        let listed: Vec<ClientEntries> = clients
            .iter()
            .map(|client| {
                let client = self.world.keys.actor(client);
                let last = self.last_open_index(&mint, &client)?;
                Ok(ClientEntries { client, last })
            })
            .collect::<Result<_, StepFault>>()?;
        if accounts_of_summary(&listed) > SUMMARY_ACCOUNTS_MAX {
            return self.merged_summary(mint, &listed, tag1, tag2);
        }
        let program = &self.world.program;
        let read = program.open_summary(mint, &listed, tag1, tag2);
        let answer = view::call::<OpenSummary>(&self.ledger, program, &read)?;
        Ok(match answer {
            Ok(answer) => answered(answer.count, answer.value, answer.decimals),
            Err(refusal) => Observed {
                native_error: Some(refusal.native),
                ..Outcome::refused(refusal.class).into()
            },
        })
    }

    /// R16: what one transaction cannot lock comes in parts, which add up.
    fn merged_summary(
        &self,
        mint: Address,
        listed: &[ClientEntries],
        tag1: &str,
        tag2: &str,
    ) -> Result<Observed, StepFault> {
        let mut taken_in = Accumulator::default();
        for client in listed {
            let client = std::slice::from_ref(client);
            let part = observation::part(
                &self.ledger,
                &self.world.program,
                mint,
                client,
                (tag1, tag2),
            )?;
            taken_in
                .merge(&part)
                .map_err(|fault| StepFault::UnexplainedState(fault.to_string()))?;
        }
        let summary = taken_in.finish();
        Ok(answered(summary.count, summary.value, summary.decimals))
    }
}

fn answered(count: u64, value: i128, decimals: u8) -> Observed {
    Outcome::answered(Summary::Open {
        count,
        value: Integer(value),
        decimals,
    })
    .into()
}
