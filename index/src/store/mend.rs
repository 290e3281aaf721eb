//! R46: events that were not seen at first are added, and their agents folded again.
use super::{DeploymentId, Engine, Store, value::Cell};
use crate::{
    Place, StoreError,
    batch::{Batch, IndexedEvent, UndecodedEvent},
};
use concord_registry::event::AgentId;
use std::collections::BTreeSet;

impl<E: Engine> Store<E> {
    /// Adds those events of blocks that are indexed already which the log does not have, and returns
    /// how many that were. The cursor stays where it is.
    ///
    /// # Errors
    /// [`StoreError::Full`] and others; the store is as it was.
    pub fn mend(&mut self, deployment: DeploymentId, batch: &Batch) -> Result<usize, StoreError> {
        self.transaction(deployment, |store| {
            let mut missing: Vec<IndexedEvent> = Vec::new();
            for event in &batch.events {
                if !store.has(deployment, "event", event.place)? {
                    missing.push(event.clone());
                }
            }
            let mut undecoded: Vec<UndecodedEvent> = Vec::new();
            for event in &batch.undecoded {
                if !store.has(deployment, "undecoded", event.place)? {
                    undecoded.push(event.clone());
                }
            }
            store.append(deployment, &missing)?;
            store.append_undecoded(deployment, &undecoded)?;
            store.fold_touched(deployment, &missing)?;
            Ok(missing.len())
        })
    }

    fn fold_touched(
        &mut self,
        deployment: DeploymentId,
        events: &[IndexedEvent],
    ) -> Result<(), StoreError> {
        let touched: BTreeSet<Option<AgentId>> = events.iter().map(|it| it.event.agent()).collect();
        for agent in touched {
            match agent {
                Some(agent) => self.fold_again(deployment, agent)?,
                None => self.fold_settings_again(deployment)?,
            }
        }
        Ok(())
    }

    fn has(
        &mut self,
        deployment: DeploymentId,
        table: &'static str,
        place: Place,
    ) -> Result<bool, StoreError> {
        let sql = format!("SELECT 1 FROM {table} WHERE deployment = $1 AND place = $2");
        let values = [deployment.0.to_value(), place.to_value()];
        let mut has = false;
        self.engine.query(&sql, &values, &mut |_| {
            has = true;
            Ok(())
        })?;
        Ok(has)
    }

    /// R46: returns the block from which on events are missing, as far as what is missing shows; `None`
    /// if nothing is. Events before an agent's registration can only be missing from the start.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn first_gap(
        &mut self,
        deployment: DeploymentId,
        start: u64,
    ) -> Result<Option<u64>, StoreError> {
        let completeness = self.completeness(deployment)?;
        if completeness.missing_ids > 0 {
            return Ok(Some(start));
        }
        let mut first: Option<u64> = None;
        for (_, agent) in self.incomplete_agents(deployment)? {
            let from = match agent.owner {
                Some(_) => agent.created.block(),
                None => start,
            };
            first = Some(first.map_or(from, |it| it.min(from)));
        }
        Ok(first)
    }
}
