//! The canonical state, read from accounts.
use super::{
    Agents,
    addresses::{TOKEN_2022, address, program},
    token::{Mint, TokenAccount},
    translation::seconds_after_start,
};
use crate::{
    backend::StepFault,
    model::{
        Actor, AgentState, AuthorizedState, CanonicalState, FeedbackState, PaddedTag, Summary,
    },
};
use agent_registry::{AgentIdentity, ClientIndex, FeedbackEntry};
use anchor_lang::{AccountDeserialize, Discriminator};
use litesvm::LiteSVM;
use solana_address::Address;
use solana_clock::Clock;

pub fn state(svm: &LiteSVM, agents: &Agents, start: u64) -> Result<CanonicalState, StepFault> {
    let now = svm.get_sysvar::<Clock>().unix_timestamp;
    let reader = Reader {
        svm,
        agents,
        start,
        indexes: all(svm)?,
        entries: all(svm)?,
    };
    let mut state = CanonicalState {
        time: seconds_after_start(now, start)
            .ok_or_else(|| StepFault::UnexplainedState(format!("clock {now}")))?,
        ..CanonicalState::default()
    };
    for identity in all::<AgentIdentity>(svm)? {
        let label = agents.agent(address(identity.nft_mint));
        state.agents.insert(label, reader.agent(&identity)?);
    }
    Ok(state)
}

/// R15's answer from the program's counters, of both kinds (R13).
pub fn summary(identity: &AgentIdentity) -> Result<Summary, StepFault> {
    Ok(Summary::Authorized {
        count: totals(identity)?.0,
        average: average(identity)?,
    })
}

fn average(identity: &AgentIdentity) -> Result<u8, StepFault> {
    let (count, sum) = totals(identity)?;
    let average = sum.checked_div(count).unwrap_or(0);
    u8::try_from(average)
        .map_err(|_| StepFault::UnexplainedState(format!("average score {average}")))
}

fn totals(identity: &AgentIdentity) -> Result<(u64, u64), StepFault> {
    let count = identity
        .verified_feedback_count
        .checked_add(identity.unverified_feedback_count);
    let sum = identity
        .verified_score_sum
        .checked_add(identity.unverified_score_sum);
    count
        .zip(sum)
        .ok_or_else(|| StepFault::UnexplainedState("counters beyond u64".to_owned()))
}

/// Every account of the program that holds a `T`.
fn all<T: AccountDeserialize + Discriminator>(svm: &LiteSVM) -> Result<Vec<T>, StepFault> {
    svm.get_program_accounts(&program())
        .iter()
        .filter(|(_, account)| account.data.starts_with(T::DISCRIMINATOR))
        .map(|(address, account)| {
            T::try_deserialize(&mut &account.data[..])
                .map_err(|fault| StepFault::UnexplainedState(format!("{address}: {fault}")))
        })
        .collect()
}

struct Reader<'a> {
    svm: &'a LiteSVM,
    agents: &'a Agents,
    start: u64,
    indexes: Vec<ClientIndex>,
    entries: Vec<FeedbackEntry>,
}

impl Reader<'_> {
    fn agent(&self, identity: &AgentIdentity) -> Result<AgentState, StepFault> {
        let mint = address(identity.nft_mint);
        let owner = address(identity.owner);
        self.check_holder(&mint, &owner)?;
        let account = self
            .svm
            .get_account(&mint)
            .ok_or_else(|| StepFault::UnexplainedState(format!("mint {mint} is gone")))?;
        let uri = Mint::uri(&account.data)
            .ok_or_else(|| StepFault::UnexplainedState(format!("mint {mint} has no metadata")))?;
        let wallet = address(identity.agent_wallet);
        Ok(AgentState {
            wallet: (wallet != Address::default()).then(|| self.agents.actor(wallet)),
            authorized: self.authorized(identity)?,
            ..AgentState::registered(self.agents.actor(owner), uri)
        })
    }

    /// R4: the recorded owner is the holder.
    fn check_holder(&self, mint: &Address, owner: &Address) -> Result<(), StepFault> {
        let holders: Vec<_> = self
            .svm
            .get_program_accounts(&TOKEN_2022)
            .iter()
            .filter_map(|(_, account)| TokenAccount::read(&account.data))
            .filter(|held| held.mint == *mint && held.amount > 0)
            .map(|held| (held.owner, held.amount))
            .collect();
        if holders == [(*owner, 1)] {
            return Ok(());
        }
        Err(StepFault::UnexplainedState(format!(
            "{} is on record under {}, and its token is held by {holders:?} (R4)",
            self.agents.agent(*mint),
            self.agents.actor(*owner)
        )))
    }

    fn authorized(&self, identity: &AgentIdentity) -> Result<AuthorizedState, StepFault> {
        let (count, sum) = totals(identity)?;
        let mut authorized = AuthorizedState {
            count,
            sum,
            average: average(identity)?,
            ..AuthorizedState::default()
        };
        for index in self.clients(identity)? {
            let label: Actor = self.agents.actor(address(index.client));
            authorized.clients.push(label.clone());
            authorized.entries.insert(label, self.history(index)?);
        }
        Ok(authorized)
    }

    /// The agent's clients by ordinal, which must count from 1 without a gap.
    fn clients(&self, identity: &AgentIdentity) -> Result<Vec<&ClientIndex>, StepFault> {
        let mut clients: Vec<_> = self
            .indexes
            .iter()
            .filter(|index| index.agent == identity.nft_mint)
            .collect();
        clients.sort_by_key(|index| index.ordinal);
        let ordinals = clients.iter().map(|index| index.ordinal);
        if ordinals.eq(1..=identity.client_count) {
            return Ok(clients);
        }
        Err(StepFault::UnexplainedState(format!(
            "{} clients, and not one for each ordinal",
            identity.client_count
        )))
    }

    /// A client's entries 1 to its last index, which must all be there.
    fn history(&self, index: &ClientIndex) -> Result<Vec<FeedbackState>, StepFault> {
        let mut entries: Vec<_> = self
            .entries
            .iter()
            .filter(|entry| entry.nft_mint == index.agent && entry.reviewer == index.client)
            .collect();
        entries.sort_by_key(|entry| entry.feedback_index);
        let indices = entries.iter().map(|entry| entry.feedback_index);
        if !indices.eq(1..=index.last_index) {
            return Err(StepFault::UnexplainedState(format!(
                "last index {}, and not an entry for each",
                index.last_index
            )));
        }
        entries.into_iter().map(|entry| self.entry(entry)).collect()
    }

    fn entry(&self, entry: &FeedbackEntry) -> Result<FeedbackState, StepFault> {
        let time = seconds_after_start(entry.created_at, self.start)
            .ok_or_else(|| StepFault::UnexplainedState(format!("time {}", entry.created_at)))?;
        Ok(FeedbackState {
            score: entry.score,
            tag1: PaddedTag(entry.tag1),
            tag2: PaddedTag(entry.tag2),
            time,
            revoked: entry.revoked,
            responses: entry.response_count,
            payment: None,
        })
    }
}
