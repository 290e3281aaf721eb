//! The fold: events to tables (R45). It is pure: the same events in the same order give the same
//! tables, and nothing else is read than the rows that the events name.
mod ahead;
mod feedback;
mod identity;
mod parts;
mod settings;
mod validation;

pub(crate) use parts::{EMPTY, accumulator, difference, tag_key};

use crate::{
    StoreError,
    batch::IndexedEvent,
    table::{
        Agent, AgentKey, Agents, Clients, Feedbacks, Parts, Rows, Table, Tables, Totals,
        Validations,
    },
};
use concord_registry::{Event, event::AgentId};
use std::collections::BTreeSet;

/// Where rows are read that are not in memory yet.
pub trait Load<T: Table> {
    /// Returns the row.
    ///
    /// # Errors
    /// The store cannot be read.
    fn load(&mut self, key: &T::Key) -> Result<Option<T::Row>, StoreError>;

    /// Returns the rows of several keys, in their order.
    ///
    /// # Errors
    /// As [`Self::load`].
    fn load_all(&mut self, keys: &BTreeSet<T::Key>) -> Result<Vec<Option<T::Row>>, StoreError> {
        keys.iter().map(|key| self.load(key)).collect()
    }
}

/// What a fold reads: rows that later events change.
pub trait Loader:
    Load<Agents> + Load<Clients> + Load<Feedbacks> + Load<Validations> + Load<Parts> + Load<Totals>
{
}

impl<L> Loader for L where
    L: Load<Agents>
        + Load<Clients>
        + Load<Feedbacks>
        + Load<Validations>
        + Load<Parts>
        + Load<Totals>
{
}

/// Nothing was stored: every event is folded in memory.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nothing;

impl<T: Table> Load<T> for Nothing {
    fn load(&mut self, _key: &T::Key) -> Result<Option<T::Row>, StoreError> {
        Ok(None)
    }
}

/// A fold in progress.
#[derive(Debug)]
pub struct Fold<'a, L> {
    /// The rows that were read or changed.
    pub tables: Tables,
    loader: &'a mut L,
}

/// Folds events in memory, from nothing.
///
/// # Errors
/// [`StoreError::OutOfRange`].
pub fn fold<'e>(events: impl IntoIterator<Item = &'e IndexedEvent>) -> Result<Tables, StoreError> {
    let mut nothing = Nothing;
    let mut fold = Fold::new(&mut nothing);
    for event in events {
        fold.apply(event)?;
    }
    Ok(fold.tables)
}

impl<'a, L: Loader> Fold<'a, L> {
    /// A fold on top of what `loader` has.
    pub fn new(loader: &'a mut L) -> Self {
        Self {
            tables: Tables::default(),
            loader,
        }
    }

    /// Takes in the next event.
    ///
    /// # Errors
    /// The store cannot be read; [`StoreError::OutOfRange`].
    pub fn apply(&mut self, indexed: &IndexedEvent) -> Result<(), StoreError> {
        match &indexed.event {
            Event::AuthorizedFeedback { .. }
            | Event::OpenFeedback { .. }
            | Event::FeedbackRevoked { .. }
            | Event::ResponseAppended { .. }
            | Event::PaymentProven { .. } => self.feedback_event(indexed),
            Event::ValidationRequested { .. } | Event::ValidationResponded { .. } => {
                self.validation_event(indexed)
            }
            event if event.agent().is_some() => self.identity_event(indexed),
            _ => {
                self.setting(indexed);
                Ok(())
            }
        }
    }

    /// Changes an agent's row.
    fn change_agent(
        &mut self,
        agent: AgentId,
        indexed: &IndexedEvent,
        change: impl FnOnce(&mut Agent),
    ) -> Result<(), StoreError> {
        let key = AgentKey { agent };
        let found = read(&mut self.tables.agents, self.loader, &key)?;
        let mut row = found.unwrap_or_else(|| Agent::unknown(indexed.time, indexed.place));
        (row.updated_at, row.updated) = (indexed.time, indexed.place);
        change(&mut row);
        self.tables.agents.put(key, row);
        Ok(())
    }

    /// R46: an event about something that was not seen.
    fn note_unexplained(&mut self, agent: AgentId, at: &IndexedEvent) -> Result<(), StoreError> {
        self.change_agent(agent, at, |it| {
            it.unexplained = it.unexplained.saturating_add(1);
        })
    }
}

/// A row, from memory or from the store.
fn read<T: Table>(
    rows: &mut Rows<T>,
    loader: &mut impl Load<T>,
    key: &T::Key,
) -> Result<Option<T::Row>, StoreError> {
    if let Some(known) = rows.known(key) {
        return Ok(known.cloned());
    }
    let loaded = loader.load(key)?;
    rows.keep(key.clone(), loaded.clone());
    Ok(loaded)
}
