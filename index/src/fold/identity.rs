//! Agents and their metadata (R1 to R4).
use super::{Fold, Loader, read};
use crate::{
    StoreError,
    batch::IndexedEvent,
    table::{Agent, AgentKey, Metadata, MetadataKey, WalletChange, WalletKey},
};
use concord_registry::{
    Event,
    event::{AccountId, AgentId},
};

impl<L: Loader> Fold<'_, L> {
    pub(super) fn identity_event(&mut self, indexed: &IndexedEvent) -> Result<(), StoreError> {
        let Some(agent) = indexed.event.agent() else {
            return Ok(());
        };
        if let Event::MetadataSet { key, value, .. } = &indexed.event {
            self.set_metadata(agent, key, value, indexed.time);
        }
        let before = read(&mut self.tables.agents, self.loader, &AgentKey { agent })?;
        if let Some(wallet) = wallet_after(agent, before.as_ref(), &indexed.event) {
            let place = indexed.place;
            let change = WalletChange { wallet };
            self.tables.wallets.put(WalletKey { agent, place }, change);
        }
        self.change_agent(agent, indexed, |row| change(row, agent, &indexed.event))
    }

    fn set_metadata(&mut self, agent: AgentId, key: &str, value: &[u8], time: i64) {
        let row = Metadata {
            key: key.to_owned(),
            value: value.to_vec(),
            updated_at: time,
        };
        let key = MetadataKey::of(agent, key);
        self.tables.metadata.put(key, row);
    }
}

/// The wallet that an event sets (R3, R4); `None` for an event that does not.
fn wallet_after(
    agent: AgentId,
    before: Option<&Agent>,
    event: &Event,
) -> Option<Option<AccountId>> {
    match (event, agent) {
        (Event::AgentRegistered { .. }, _) if before.is_some_and(has_early_wallet) => None,
        (Event::AgentRegistered { owner, .. }, _) => Some(Some(*owner)),
        (Event::AgentWalletSet { wallet, .. }, _) => Some(*wallet),
        (Event::AgentTransferred { .. }, AgentId::Svm(_)) => Some(None),
        _ => None,
    }
}

fn change(row: &mut Agent, agent: AgentId, event: &Event) {
    match event {
        Event::AgentRegistered { owner, uri, .. } => register(row, *owner, uri),
        Event::AgentTransferred { to, .. } => transfer(row, agent, *to),
        Event::AgentUriSet { uri, .. } => row.uri.clone_from(uri),
        Event::AgentWalletSet { wallet, .. } => row.wallet = *wallet,
        Event::ApprovalSet { approved, .. } => row.approved = *approved,
        Event::FeedbackAuthoritySet { authority, .. } => row.feedback_authority = *authority,
        Event::AuthSchemesSet { schemes, .. } => row.auth_schemes = Some(*schemes),
        _ => (),
    }
}

/// ERC-8004 leaves open the order of a registration's events: registries of others report the wallet before the registration.
fn has_early_wallet(row: &Agent) -> bool {
    row.owner.is_none() && row.wallet.is_some()
}

fn register(row: &mut Agent, owner: AccountId, uri: &str) {
    if row.owner.is_some() {
        row.unexplained = row.unexplained.saturating_add(1); // R46: registered twice
    }
    if !has_early_wallet(row) {
        row.wallet = Some(owner); // R3: the first wallet
    }
    row.owner = Some(owner);
    uri.clone_into(&mut row.uri);
}

/// R3, R4: on EVM another event says that the wallet is gone, on Solana this one does.
fn transfer(row: &mut Agent, agent: AgentId, to: AccountId) {
    row.owner = row.owner.map(|_| to); // R46: a registration that was not seen stays so
    row.approved = None; // ERC-721
    if let AgentId::Svm(_) = agent {
        row.wallet = None;
        row.feedback_authority = None;
        row.auth_schemes = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Place, fold::fold};
    use concord_registry::event::{Position, TransactionId};

    const AGENT: AgentId = AgentId::Evm([1; 32]);

    fn account(number: u8) -> AccountId {
        AccountId::Evm([number; 20])
    }

    fn registered() -> Event {
        Event::AgentRegistered {
            agent: AGENT,
            owner: account(1),
            uri: "ipfs://agent".to_owned(),
        }
    }

    fn wallet_set(wallet: Option<AccountId>) -> Event {
        Event::AgentWalletSet {
            agent: AGENT,
            wallet,
        }
    }

    /// The wallet, and each change of it with its place.
    fn wallets(events: &[Event]) -> (Option<AccountId>, Vec<(u64, Option<AccountId>)>) {
        let place = |log| Place::new(7, 0, Position::Evm { log });
        let indexed = (0..).zip(events).map(|(log, event)| IndexedEvent {
            place: place(log),
            registry: account(9),
            transaction: TransactionId::Evm([6; 32]),
            time: 5,
            event: event.clone(),
        });
        let tables = fold(&indexed.collect::<Vec<_>>()).unwrap();
        let row = tables.agents.known(&AgentKey { agent: AGENT });
        let row = row.flatten().unwrap();
        assert_eq!((row.owner, row.is_incomplete()), (Some(account(1)), false));
        let changes = tables.wallets.changes();
        let changes = changes.filter_map(|(key, row)| Some((key.place, row?.wallet)));
        let log = |at| (0..9).find(|log| place(*log) == at).unwrap();
        let changes = changes.map(|(at, wallet)| (log(at), wallet));
        (row.wallet, changes.collect())
    }

    /// R3: a registration says that the owner is the wallet, unless the registry said something else just before.
    #[test]
    fn r3_a_wallet_that_comes_before_its_registration_stays() {
        let [one, two] = [Some(account(1)), Some(account(2))];
        for (events, wallet, changes) in [
            (vec![registered()], one, vec![(0, one)]),
            (vec![wallet_set(one), registered()], one, vec![(0, one)]),
            (vec![wallet_set(two), registered()], two, vec![(0, two)]),
            (
                vec![registered(), wallet_set(two)],
                two,
                vec![(0, one), (1, two)],
            ),
            (
                vec![wallet_set(None), registered()],
                one,
                vec![(0, None), (1, one)],
            ),
            (
                vec![wallet_set(two), registered(), wallet_set(None)],
                None,
                vec![(0, two), (2, None)],
            ),
        ] {
            assert_eq!(wallets(&events), (wallet, changes), "{events:?}");
        }
    }
}
