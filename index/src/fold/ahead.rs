//! Reads the rows that events change before they are folded: from a server, all of a table at once. It decides nothing. A row
//! that is not read here is read when an event needs it.
use super::{Fold, Load, Loader, feedback, parts, validation};
use crate::{
    StoreError,
    batch::IndexedEvent,
    table::{AgentKey, Feedback, FeedbackKey, Rows, Table},
};
use concord_registry::Event;
use std::collections::{BTreeMap, BTreeSet};

impl<L: Loader> Fold<'_, L> {
    /// Reads what these events change.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn read_ahead(&mut self, events: &[IndexedEvent]) -> Result<(), StoreError> {
        let (tables, loader) = (&mut self.tables, &mut *self.loader);
        let agents = events.iter().filter_map(|it| it.event.agent());
        keep(
            &mut tables.agents,
            loader,
            agents.map(|agent| AgentKey { agent }),
        )?;
        let validations = events.iter().filter_map(|it| validation::key_of(&it.event));
        keep(&mut tables.validations, loader, validations)?;
        let keyed = events
            .iter()
            .filter_map(|it| Some((feedback::key_of(&it.event)?, it)));
        let keyed: Vec<(FeedbackKey, &IndexedEvent)> = keyed.collect();
        keep(
            &mut tables.clients,
            loader,
            keyed.iter().map(|(key, _)| key.client()),
        )?;
        let mut given: BTreeMap<FeedbackKey, Feedback> = BTreeMap::new();
        given.extend(
            keyed
                .iter()
                .filter_map(|(key, it)| Some((*key, feedback::given(it)?))),
        );
        let known = keyed.iter().map(|(key, _)| *key);
        keep(
            &mut tables.feedbacks,
            loader,
            known.filter(|it| !given.contains_key(it)),
        )?;
        self.read_parts_ahead(&keyed, &given)
    }

    /// A feedback is in the client's part and in totals. One that is proven paid moves to another part.
    fn read_parts_ahead(
        &mut self,
        keyed: &[(FeedbackKey, &IndexedEvent)],
        given: &BTreeMap<FeedbackKey, Feedback>,
    ) -> Result<(), StoreError> {
        let (mut of_clients, mut of_all) = (BTreeSet::new(), BTreeSet::new());
        for (key, indexed) in keyed {
            let known = self.tables.feedbacks.known(key).flatten();
            let Some(row) = given.get(key).or(known) else {
                continue;
            };
            if let Event::ResponseAppended { .. } = indexed.event {
                continue;
            }
            of_clients.insert(parts::part_key(key, row));
            of_all.extend(parts::total_keys(key, row));
            if let Event::PaymentProven { .. } = indexed.event {
                let mut paid = parts::part_key(key, row);
                paid.is_paid = true;
                of_clients.insert(paid);
            }
        }
        keep(&mut self.tables.parts, self.loader, of_clients)?;
        keep(&mut self.tables.totals, self.loader, of_all)
    }
}

fn keep<T: Table>(
    rows: &mut Rows<T>,
    loader: &mut impl Load<T>,
    keys: impl IntoIterator<Item = T::Key>,
) -> Result<(), StoreError> {
    let unknown: BTreeSet<T::Key> = keys
        .into_iter()
        .filter(|key| rows.known(key).is_none())
        .collect();
    let found = loader.load_all(&unknown)?;
    for (key, row) in unknown.into_iter().zip(found) {
        rows.keep(key, row);
    }
    Ok(())
}
