use super::{Reader, unexplained};
use crate::{
    backend::{StepFault, svm::ledger::Ledger},
    model::{
        Actor, AuthorizedState, FeedbackState, Integer, PaddedTag, PaymentState, Summary, Totals,
    },
};
use concord_registry::svm::{
    Address,
    accounts::{AgentIdentity, ClientIndex, FeedbackEntry},
};

/// R15's answer from the program's counters, of both kinds (R13).
pub fn summary(identity: &AgentIdentity) -> Result<Summary, StepFault> {
    let totals = totals(identity)?;
    Ok(Summary::Authorized {
        count: totals.count,
        average: average(&totals)?,
    })
}

fn average(totals: &Totals) -> Result<u8, StepFault> {
    let average = totals.sum.checked_div(totals.count).unwrap_or(0);
    u8::try_from(average).map_err(|_| unexplained(format!("average score {average}")))
}

fn totals(identity: &AgentIdentity) -> Result<Totals, StepFault> {
    identity
        .totals()
        .map(|(count, sum)| Totals { count, sum })
        .ok_or_else(|| unexplained("counters beyond u64".to_owned()))
}

/// R13's own counters; none where nothing is verified.
fn verified(identity: &AgentIdentity) -> Option<Totals> {
    let verified = Totals {
        count: identity.verified_feedback_count,
        sum: identity.verified_score_sum,
    };
    (verified != Totals::default()).then_some(verified)
}

impl<L: Ledger> Reader<'_, L> {
    pub(super) fn authorized(
        &self,
        identity: &AgentIdentity,
    ) -> Result<AuthorizedState, StepFault> {
        let totals = totals(identity)?;
        let mut authorized = AuthorizedState {
            count: totals.count,
            sum: totals.sum,
            average: average(&totals)?,
            verified: verified(identity),
            ..AuthorizedState::default()
        };
        for index in self.clients(identity)? {
            let label: Actor = self.world.agents.actor(index.client);
            authorized.clients.push(label.clone());
            authorized.entries.insert(label, self.history(index)?);
        }
        Ok(authorized)
    }

    /// The agent's clients by ordinal, which must count from 1 without a gap.
    fn clients(&self, identity: &AgentIdentity) -> Result<Vec<&ClientIndex>, StepFault> {
        let indexes = self.snapshot.client_indexes.iter();
        let mut clients: Vec<_> = indexes
            .filter(|index| index.agent == identity.nft_mint)
            .collect();
        clients.sort_by_key(|index| index.ordinal);
        let ordinals = clients.iter().map(|index| index.ordinal);
        if ordinals.eq(1..=identity.client_count) {
            return Ok(clients);
        }
        Err(unexplained(format!(
            "{} clients, and not one for each ordinal",
            identity.client_count
        )))
    }

    /// A client's entries 1 to its last index, which must all be there.
    fn history(&self, index: &ClientIndex) -> Result<Vec<FeedbackState>, StepFault> {
        let entries = self.snapshot.entries.iter();
        let mut entries: Vec<_> = entries
            .filter(|entry| entry.nft_mint == index.agent && entry.reviewer == index.client)
            .collect();
        entries.sort_by_key(|entry| entry.feedback_index);
        let indices = entries.iter().map(|entry| entry.feedback_index);
        if !indices.eq(1..=index.last_index) {
            return Err(unexplained(format!(
                "last index {}, and not an entry for each",
                index.last_index
            )));
        }
        entries.into_iter().map(|entry| self.entry(entry)).collect()
    }

    fn entry(&self, entry: &FeedbackEntry) -> Result<FeedbackState, StepFault> {
        Ok(FeedbackState {
            score: entry.score,
            tag1: PaddedTag(entry.tag1),
            tag2: PaddedTag(entry.tag2),
            time: self.seconds_after_start(entry.created_at)?,
            revoked: entry.revoked,
            responses: entry.response_count,
            payment: self.payment(entry)?,
        })
    }

    /// R13: flag, amount and token are set together.
    fn payment(&self, entry: &FeedbackEntry) -> Result<Option<PaymentState>, StepFault> {
        let is_set = entry.payment_amount != 0 || entry.payment_token != Address::default();
        match (entry.has_payment_proof, is_set) {
            (false, false) => Ok(None),
            (true, _) => Ok(Some(PaymentState {
                token: self.world.agents.actor(entry.payment_token),
                amount: Integer(entry.payment_amount.into()),
            })),
            (false, true) => Err(unexplained(format!(
                "a payment of {} without proof",
                entry.payment_amount
            ))),
        }
    }
}
