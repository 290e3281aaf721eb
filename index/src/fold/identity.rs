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
