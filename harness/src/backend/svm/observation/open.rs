use super::{Reader, unexplained};
use crate::{
    backend::{
        StepFault,
        svm::{ledger::Ledger, view},
    },
    model::{Integer, OpenFeedbackState, OpenState, WideInteger},
};
use alloy::primitives::{I256, U256};
use concord_canonical::summary::Accumulator;
use concord_registry::svm::{
    Program,
    accounts::{AgentIdentity, OpenClientIndex, OpenFeedback},
    instructions::{ClientEntries, SUMMARY_ACCOUNTS_MAX, accounts_of_summary},
    views::OpenSummaryPart,
};
use solana_address::Address;

/// How many open feedbacks the client gave; 0 if there is none.
pub fn last_open_index(
    ledger: &impl Ledger,
    program: &Program,
    mint: &Address,
    client: &Address,
) -> Result<u64, StepFault> {
    let address = program.open_client_index(mint, client);
    let index = ledger.load::<OpenClientIndex>(program, &address)?;
    Ok(index.map_or(0, |index| index.last_index))
}

/// What the program itself takes in of these clients' feedback (R16).
pub fn part(
    ledger: &impl Ledger,
    program: &Program,
    mint: Address,
    clients: &[ClientEntries],
    (tag1, tag2): (&str, &str),
) -> Result<Accumulator, StepFault> {
    let accounts = accounts_of_summary(clients);
    if accounts > SUMMARY_ACCOUNTS_MAX {
        return Err(StepFault::Inexpressible(format!(
            "{accounts} accounts of one client's open feedback, and a transaction locks {SUMMARY_ACCOUNTS_MAX}"
        )));
    }
    let read = program.open_summary_part(mint, clients, tag1, tag2);
    let part: OpenSummaryPart = view::call(ledger, program, &read)?
        .map_err(|refusal| unexplained(format!("open_summary_part refuses: {}", refusal.native)))?;
    part.accumulator()
        .map_err(|fault| unexplained(format!("open_summary_part: {fault}")))
}

impl<L: Ledger> Reader<'_, L> {
    /// Count and sum are the program's own, merged by client.
    pub(super) fn open(&self, identity: &AgentIdentity) -> Result<OpenState, StepFault> {
        let mut open = OpenState::default();
        let mut taken_in = Accumulator::default();
        for index in self.open_clients(identity)? {
            let client = index.client;
            let listed = [ClientEntries {
                client,
                last: index.last_index,
            }];
            let (program, mint) = (&self.world.program, identity.nft_mint);
            let part = part(self.ledger, program, mint, &listed, ("", ""))?;
            taken_in
                .merge(&part)
                .map_err(|fault| unexplained(fault.to_string()))?;
            let label = self.world.agents.actor(client);
            open.clients.push(label.clone());
            open.entries.insert(label, self.open_history(index)?);
        }
        open.count = taken_in.count();
        let sum = U256::from_be_bytes(taken_in.sum().to_be_bytes());
        open.sum = WideInteger(I256::from_raw(sum));
        Ok(open)
    }

    /// As `Reader::clients`.
    fn open_clients(&self, identity: &AgentIdentity) -> Result<Vec<&OpenClientIndex>, StepFault> {
        let indexes = self.snapshot.open_client_indexes.iter();
        let mut clients: Vec<_> = indexes
            .filter(|index| index.agent == identity.nft_mint)
            .collect();
        clients.sort_by_key(|index| index.ordinal);
        let ordinals = clients.iter().map(|index| index.ordinal);
        if ordinals.eq(1..=identity.open_client_count) {
            return Ok(clients);
        }
        Err(unexplained(format!(
            "{} open clients, and not one for each ordinal",
            identity.open_client_count
        )))
    }

    /// As `Reader::history`.
    fn open_history(&self, index: &OpenClientIndex) -> Result<Vec<OpenFeedbackState>, StepFault> {
        let entries = self.snapshot.open_entries.iter();
        let mut entries: Vec<_> = entries
            .filter(|entry| entry.nft_mint == index.agent && entry.client == index.client)
            .collect();
        entries.sort_by_key(|entry| entry.feedback_index);
        let indices = entries.iter().map(|entry| entry.feedback_index);
        if !indices.eq(1..=index.last_index) {
            return Err(unexplained(format!(
                "last open index {}, and not an entry for each",
                index.last_index
            )));
        }
        Ok(entries.into_iter().map(open_entry).collect())
    }
}

fn open_entry(entry: &OpenFeedback) -> OpenFeedbackState {
    OpenFeedbackState {
        value: Integer(entry.value),
        decimals: entry.value_decimals,
        tag1: entry.tag1.clone(),
        tag2: entry.tag2.clone(),
        revoked: entry.revoked,
        responses: entry.response_count,
    }
}
