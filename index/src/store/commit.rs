//! What changes the store: a batch, a rollback, a rebuild. Each is one transaction.
use super::{
    Cell, DeploymentId, Engine, EventsOf, Insert, Store, Value, by_key, columns::Stored,
    events::Touched,
};
use crate::{
    StoreError,
    batch::{Batch, Header, IndexedEvent},
    fold::{Fold, Load, Nothing},
    table::*,
};
use concord_registry::event::AgentId;
use std::{collections::BTreeSet, iter};

/// Tables whose key has an agent, and those in which the profile comes before it.
const BY_AGENT: &[&str] = &[
    "agent",
    "metadata",
    "agent_wallet",
    "validation",
    "registration",
];
const BY_PROFILE: &[&str] = &[
    "client", "feedback", "response", "payment", "part", "total", "evidence",
];

/// Rows that are passed to an engine at once.
const ROWS: usize = 256;

impl<E: Engine> Store<E> {
    /// Takes in a batch: its events, what they fold to, its headers and the cursor, or nothing of it.
    /// Headers older than `kept` blocks are dropped. The batch follows the block that [`Self::cursor`] returned last, or that
    /// was written here last.
    ///
    /// # Errors
    /// [`StoreError::CursorMoved`], [`StoreError::Full`] and others; the store is as it was.
    pub fn commit(
        &mut self,
        deployment: DeploymentId,
        batch: &Batch,
        final_number: Option<u64>,
        kept: u64,
    ) -> Result<(), StoreError> {
        let oldest = batch.through.number.saturating_sub(kept);
        self.transaction(deployment, |store| {
            store.cursor_as_seen(deployment)?;
            store.append(deployment, &batch.events)?;
            store.append_undecoded(deployment, &batch.undecoded)?;
            store.fold_in(deployment, &batch.events)?;
            store.note_suspects(deployment, &batch.suspects)?;
            store.keep_headers(deployment, &batch.headers, oldest)?;
            store.move_cursor(deployment, &batch.through, final_number)
        })?;
        self.seen.insert(deployment, Some(batch.through));
        Ok(())
    }

    /// Goes back to `fork`: deletes every later event, and folds the agents that they were about
    /// again (R45). Nothing is inverted. `at`: the time, in unix seconds, to note it with.
    ///
    /// # Errors
    /// As [`Self::commit`].
    pub fn roll_back(
        &mut self,
        deployment: DeploymentId,
        fork: &Header,
        at: i64,
    ) -> Result<(), StoreError> {
        let next = fork.number.saturating_add(1);
        self.transaction(deployment, |store| {
            let cursor = store.cursor_as_seen(deployment)?;
            let final_number = cursor.and_then(|it| it.final_number);
            let mut touched = Touched::default();
            store.delete_blocks(deployment, next..=u64::MAX, &mut touched)?;
            let read = store.read_after(deployment, fork.number)?;
            touched.agents.extend(read);
            if let Some(cursor) = cursor {
                store.note_reorganization(deployment, (fork, &cursor.head), at, &touched)?;
            }
            store.fold_touched(deployment, &touched)?;
            let sql = "DELETE FROM block WHERE deployment = $1 AND number > $2";
            let values = [deployment.0.to_value(), fork.number.to_value()];
            store.engine.execute(sql, &values)?;
            store.move_cursor(deployment, fork, final_number)
        })?;
        self.seen.insert(deployment, Some(*fork));
        Ok(())
    }

    /// R45: deletes every table but the event log, and folds all of it again.
    ///
    /// # Errors
    /// As [`Self::commit`].
    pub fn rebuild(&mut self, deployment: DeploymentId) -> Result<(), StoreError> {
        self.transaction(deployment, |store| {
            for table in BY_AGENT.iter().chain(BY_PROFILE).chain(&["setting"]) {
                let sql = format!("DELETE FROM {table} WHERE deployment = $1");
                store.engine.execute(&sql, &[deployment.0.to_value()])?;
            }
            store.fold_events(deployment, EventsOf::All)
        })
    }

    fn fold_in(
        &mut self,
        deployment: DeploymentId,
        events: &[IndexedEvent],
    ) -> Result<(), StoreError> {
        let is_distant = self.engine.dialect().is_distant;
        let mut loader = Loading {
            store: self,
            deployment,
        };
        let mut fold = Fold::new(&mut loader);
        if is_distant {
            fold.read_ahead(events)?;
        }
        for event in events {
            fold.apply(event)?;
        }
        let tables = fold.tables;
        self.write(deployment, &tables)?;
        self.keep_differences(deployment, &tables)?;
        self.note_unread(deployment, &tables)
    }

    /// Folds again what the events were about that were deleted or added.
    pub(super) fn fold_touched(
        &mut self,
        deployment: DeploymentId,
        touched: &Touched,
    ) -> Result<(), StoreError> {
        for agent in &touched.agents {
            self.fold_again(deployment, *agent)?;
        }
        if touched.registry {
            self.fold_settings_again(deployment)
        } else {
            Ok(())
        }
    }

    fn fold_again(&mut self, deployment: DeploymentId, agent: AgentId) -> Result<(), StoreError> {
        let values = [deployment.0.to_value(), agent.to_value()];
        for table in BY_AGENT {
            let sql = format!("DELETE FROM {table} WHERE deployment = $1 AND agent = $2");
            self.engine.execute(&sql, &values)?;
        }
        for table in BY_PROFILE {
            let sql = format!(
                "DELETE FROM {table} WHERE deployment = $1 AND profile IN (0, 1) AND agent = $2"
            );
            self.engine.execute(&sql, &values)?;
        }
        self.forget_differences(deployment, agent)?;
        self.forget_binding(deployment, agent)?;
        self.fold_events(deployment, EventsOf::Agent(agent))
    }

    fn fold_settings_again(&mut self, deployment: DeploymentId) -> Result<(), StoreError> {
        let sql = "DELETE FROM setting WHERE deployment = $1";
        self.engine.execute(sql, &[deployment.0.to_value()])?;
        self.fold_events(deployment, EventsOf::Registry)
    }

    /// Folds events of which no row is left.
    fn fold_events(&mut self, deployment: DeploymentId, of: EventsOf) -> Result<(), StoreError> {
        let mut nothing = Nothing;
        let mut fold = Fold::new(&mut nothing);
        self.events(deployment, of, &mut |event| fold.apply(&event))?;
        let mut tables = fold.tables;
        if matches!(of, EventsOf::All) {
            self.apply_differences(deployment, &mut tables)?;
        }
        self.write(deployment, &tables)?;
        self.note_unread(deployment, &tables)
    }

    pub(super) fn write(
        &mut self,
        deployment: DeploymentId,
        tables: &Tables,
    ) -> Result<(), StoreError> {
        self.write_rows(deployment, &tables.agents)?;
        self.write_rows(deployment, &tables.metadata)?;
        self.write_rows(deployment, &tables.wallets)?;
        self.write_rows(deployment, &tables.clients)?;
        self.write_rows(deployment, &tables.feedbacks)?;
        self.write_rows(deployment, &tables.responses)?;
        self.write_rows(deployment, &tables.payments)?;
        self.write_rows(deployment, &tables.validations)?;
        self.write_rows(deployment, &tables.parts)?;
        self.write_rows(deployment, &tables.totals)?;
        self.write_rows(deployment, &tables.settings)?;
        self.derive(deployment, tables)
    }

    fn write_rows<T: Stored>(
        &mut self,
        deployment: DeploymentId,
        rows: &Rows<T>,
    ) -> Result<(), StoreError> {
        let written = rows.changes().filter_map(|(key, row)| Some((key, row?)));
        self.upsert::<T>(deployment, written)?;
        let delete = delete::<T>();
        let mut deleted = rows.changes().filter(|(_, row)| row.is_none());
        deleted.try_for_each(|(key, _)| {
            let key = by_key::<T>(deployment, key);
            self.engine.execute(&delete, &key)
        })
    }

    /// Writes rows of which no two have the same key, in the place of those that have it.
    pub(super) fn upsert<'r, T: Stored<Key: 'r, Row: 'r>>(
        &mut self,
        deployment: DeploymentId,
        rows: impl Iterator<Item = (&'r T::Key, &'r T::Row)>,
    ) -> Result<(), StoreError> {
        let mut rows = rows.peekable();
        if rows.peek().is_none() {
            return Ok(()); // a statement that writes nothing need not be made
        }
        let rows = rows.map(|(key, row)| Ok(values::<T>(deployment, key, row)));
        self.insert(&upsert::<T>(), rows)
    }

    /// Writes rows of which no two have the same key.
    pub(super) fn insert(
        &mut self,
        insert: &Insert,
        rows: impl Iterator<Item = Result<Vec<Value>, StoreError>>,
    ) -> Result<(), StoreError> {
        let mut rows = rows.peekable();
        while rows.peek().is_some() {
            let some: Result<Vec<_>, _> = rows.by_ref().take(ROWS).collect();
            self.engine.insert(insert, &some?)?;
        }
        Ok(())
    }

    /// Writes one row, or deletes it.
    pub(super) fn write_row<T: Stored>(
        &mut self,
        deployment: DeploymentId,
        key: &T::Key,
        row: Option<&T::Row>,
    ) -> Result<(), StoreError> {
        match row {
            Some(row) => self.upsert::<T>(deployment, iter::once((key, row))),
            None => {
                let key = by_key::<T>(deployment, key);
                self.engine.execute(&delete::<T>(), &key)
            }
        }
    }
}

fn upsert<T: Stored>() -> Insert {
    let changes: Vec<String> = T::COLUMNS
        .iter()
        .map(|column| format!("{column} = excluded.{column}"))
        .collect();
    let on_conflict = format!(
        "ON CONFLICT (deployment, {}) DO UPDATE SET {}",
        T::KEY.join(", "),
        changes.join(", ")
    );
    let columns = [&["deployment"], T::KEY, T::COLUMNS].concat();
    Insert::new(T::NAME, &columns, &on_conflict)
}

fn values<T: Stored>(deployment: DeploymentId, key: &T::Key, row: &T::Row) -> Vec<Value> {
    let mut values = by_key::<T>(deployment, key);
    values.extend(T::row_values(row));
    values
}

fn delete<T: Stored>() -> String {
    let conditions = super::conditions(T::KEY);
    format!("DELETE FROM {} WHERE deployment = $1{conditions}", T::NAME)
}

/// The rows of a deployment, for a fold.
struct Loading<'a, E> {
    store: &'a mut Store<E>,
    deployment: DeploymentId,
}

impl<E: Engine, T: Stored> Load<T> for Loading<'_, E> {
    fn load(&mut self, key: &T::Key) -> Result<Option<T::Row>, StoreError> {
        self.store.row::<T>(self.deployment, key)
    }

    fn load_all(&mut self, keys: &BTreeSet<T::Key>) -> Result<Vec<Option<T::Row>>, StoreError> {
        self.store.rows_at::<T>(self.deployment, keys)
    }
}
