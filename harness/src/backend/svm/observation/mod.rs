//! The canonical state, read from accounts.
mod authorized;
mod open;
mod snapshot;
mod validation;

pub use authorized::summary;
pub use open::{last_open_index, part};

use super::{World, ledger::Ledger};
use crate::{
    backend::StepFault,
    model::{Agent, AgentState, Bytes, CanonicalState},
};
use concord_registry::svm::{
    accounts::{AgentIdentity, MetadataEntry},
    programs::TOKEN_2022,
    token::Mint,
};
use snapshot::Snapshot;
use solana_address::Address;
use std::collections::BTreeMap;

/// Of every agent that the scenario named.
fn touched(ledger: &impl Ledger, world: &World) -> Result<CanonicalState, StepFault> {
    let mut state = CanonicalState {
        time: ledger.time()?.saturating_sub(world.start),
        ..CanonicalState::default()
    };
    for (_, agent) in world.agents.agents() {
        if let Some(standing) = agent_state(ledger, world, agent)? {
            state.agents.insert(agent.clone(), standing);
        }
    }
    Ok(state)
}

/// Everything, from every account that the program and Token-2022 own, so that nothing
/// hides; where others use the registry too, what the scenario touched.
pub fn state(ledger: &impl Ledger, world: &World) -> Result<CanonicalState, StepFault> {
    if ledger.is_shared() {
        return touched(ledger, world);
    }
    let of_program = ledger.accounts_of(&world.program.id())?;
    let of_tokens = ledger.accounts_of(&TOKEN_2022)?;
    let snapshot = Snapshot::of(&world.program, of_program.into_iter().chain(of_tokens))?;
    let reader = Reader {
        ledger,
        world,
        snapshot: &snapshot,
    };
    let mut state = CanonicalState {
        time: reader.now()?,
        ..CanonicalState::default()
    };
    for identity in &snapshot.identities {
        let label = world.agents.agent(identity.nft_mint);
        state.agents.insert(label, reader.agent(identity)?);
    }
    reader.check_no_orphans()?;
    Ok(state)
}

/// One agent, from the accounts that the operations about it could write: a transaction changes
/// no other.
pub fn agent_state(
    ledger: &impl Ledger,
    world: &World,
    agent: &Agent,
) -> Result<Option<AgentState>, StepFault> {
    let mint = world.mint(agent);
    let Some(recorded) =
        ledger.load::<AgentIdentity>(&world.program, &world.program.agent(&mint))?
    else {
        return Ok(None);
    };
    let named = world.writable.get(&mint).into_iter().flatten();
    let named: Vec<_> = named.copied().collect();
    let found = named.iter().copied().zip(ledger.accounts(&named)?);
    let snapshot = Snapshot::of(
        &world.program,
        found.filter_map(|(at, account)| Some((at, account?))),
    )?;
    let reader = Reader {
        ledger,
        world,
        snapshot: &snapshot,
    };
    reader.agent(&recorded).map(Some)
}

struct Reader<'a, L> {
    ledger: &'a L,
    world: &'a World,
    snapshot: &'a Snapshot,
}

impl<L: Ledger> Reader<'_, L> {
    fn agent(&self, identity: &AgentIdentity) -> Result<AgentState, StepFault> {
        let mint = identity.nft_mint;
        let owner = identity.owner;
        let token = self.mint(&mint)?;
        self.check_holder(&mint, &owner, &token)?;
        Ok(AgentState {
            wallet: identity.wallet().map(|it| self.world.agents.actor(it)),
            metadata: self.metadata(identity)?,
            authorized: self.authorized(identity)?,
            open: self.open(identity)?,
            validations: self.validations(identity)?,
            ..AgentState::registered(self.world.agents.actor(owner), token.uri)
        })
    }

    fn mint(&self, mint: &Address) -> Result<Mint, StepFault> {
        let account = self
            .ledger
            .account(mint)?
            .ok_or_else(|| unexplained(format!("mint {mint} is gone")))?;
        Mint::read(&account.owner, &account.data)
            .ok_or_else(|| unexplained(format!("mint {mint} has no token metadata")))
    }

    /// R4: the recorded owner is the holder; but a burned token has none (declared variance 7).
    fn check_holder(&self, mint: &Address, owner: &Address, token: &Mint) -> Result<(), StepFault> {
        let token_accounts = self.snapshot.token_accounts.iter();
        let holders: Vec<_> = token_accounts
            .filter(|held| held.mint == *mint && held.amount > 0)
            .map(|held| (held.owner, held.amount))
            .collect();
        let expected = if self.world.burned.contains(mint) {
            (0, vec![])
        } else {
            (1, vec![(*owner, 1)])
        };
        if (token.supply, &holders) == (expected.0, &expected.1) {
            return Ok(());
        }
        Err(unexplained(format!(
            "{} is on record under {}, and its token, of supply {}, is held by {holders:?} (R4)",
            self.world.agents.agent(*mint),
            self.world.agents.actor(*owner),
            token.supply,
        )))
    }

    fn metadata(&self, identity: &AgentIdentity) -> Result<BTreeMap<String, Bytes>, StepFault> {
        let mut metadata = BTreeMap::new();
        let of_agent = |entry: &&MetadataEntry| entry.nft_mint == identity.nft_mint;
        for entry in self.snapshot.metadata.iter().filter(of_agent) {
            let value = Bytes(entry.value.clone());
            if metadata.insert(entry.key.clone(), value).is_some() {
                return Err(unexplained(format!("two entries for key `{}`", entry.key)));
            }
        }
        Ok(metadata)
    }

    /// Seconds after the start.
    fn now(&self) -> Result<u64, StepFault> {
        self.after_start(self.ledger.time()?)
    }

    fn seconds_after_start(&self, timestamp: i64) -> Result<u64, StepFault> {
        self.after_start(self.ledger.scenario_time(timestamp)?)
    }

    fn after_start(&self, time: u64) -> Result<u64, StepFault> {
        time.checked_sub(self.world.start)
            .ok_or_else(|| unexplained(format!("time {time} before the start")))
    }

    /// Nothing is stored of an agent that is not registered.
    fn check_no_orphans(&self) -> Result<(), StepFault> {
        let found = self.snapshot;
        let metadata = found.metadata.iter().map(|it| it.nft_mint);
        let indexes = found.client_indexes.iter().map(|it| it.agent);
        let entries = found.entries.iter().map(|it| it.nft_mint);
        let open_indexes = found.open_client_indexes.iter().map(|it| it.agent);
        let open_entries = found.open_entries.iter().map(|it| it.nft_mint);
        let requests = found.requests.iter().map(|it| it.nft_mint);
        let responses = found.responses.iter().map(|it| it.nft_mint);
        let orphan = metadata
            .chain(indexes.chain(entries))
            .chain(open_indexes.chain(open_entries))
            .chain(requests.chain(responses))
            .find(|mint| !found.identities.iter().any(|it| it.nft_mint == *mint));
        match orphan {
            None => Ok(()),
            Some(mint) => Err(unexplained(format!(
                "something is stored of {mint}, which is not registered"
            ))),
        }
    }
}

fn unexplained(what: String) -> StepFault {
    StepFault::UnexplainedState(what)
}
