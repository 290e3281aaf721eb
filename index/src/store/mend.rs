//! R46: events that were not seen at first are added, and their agents folded again.
use super::{
    DeploymentId, Engine, Store,
    events::{Touched, of_blocks},
    undecoded::RawRow,
};
use crate::{
    Place, StoreError,
    batch::{Batch, IndexedEvent, UndecodedEvent},
    table::Transaction,
};
use std::collections::{BTreeMap, BTreeSet};

/// What a table has of a block: each transaction with a position in it, and the place that it has. The place also counts the
/// transactions that were listed, so that a list that was not whole gives the same event another one (IDX-54).
type Named = BTreeMap<Name, Place>;
type Name = (Transaction, [u8; Place::POSITION]);

/// What was read again of one block.
#[derive(Default)]
struct Reread {
    events: Vec<IndexedEvent>,
    undecoded: Vec<UndecodedEvent>,
}

impl Reread {
    fn by_block(batch: &Batch) -> BTreeMap<u64, Self> {
        let mut blocks: BTreeMap<u64, Self> = BTreeMap::new();
        for it in &batch.events {
            let block = blocks.entry(it.place.block()).or_default();
            block.events.push(it.clone());
        }
        for it in &batch.undecoded {
            let block = blocks.entry(it.place.block()).or_default();
            block.undecoded.push(it.clone());
        }
        blocks
    }

    fn named(&self) -> [Named; 2] {
        let events = self.events.iter().map(|it| (it.transaction, it.place));
        let undecoded = (self.undecoded.iter()).map(|it| (it.transaction, it.place));
        [named(events), named(undecoded)]
    }
}

fn name(of: impl Into<Transaction>, place: Place) -> Name {
    (of.into(), place.position())
}

fn named<T: Into<Transaction>>(of: impl Iterator<Item = (T, Place)>) -> Named {
    of.map(|(of, place)| (name(of, place), place)).collect()
}

/// Whether everything that was read has the place that it has in the log, or one that is free.
fn stay(logged: &Named, read: &Named) -> bool {
    let places: BTreeSet<&Place> = logged.values().collect();
    let mut read = read.iter();
    read.all(|(name, place)| match logged.get(name) {
        Some(before) => before == place,
        None => !places.contains(place),
    })
}

fn has_all(read: &Named, logged: &Named) -> bool {
    logged.keys().all(|it| read.contains_key(it))
}

/// IDX-1: whether what was kept raw is read as an event now, alone or as a part of another one of its transaction. What an
/// endpoint withholds this time stays raw.
fn is_resolved(row: &RawRow, read: &Reread, is_new: impl Fn(&IndexedEvent) -> bool) -> bool {
    let before = name(row.transaction.clone(), row.place);
    let is_raw = (read.undecoded.iter()).any(|it| name(it.transaction, it.place) == before);
    let mut new = read.events.iter().filter(|it| is_new(it));
    !is_raw && new.any(|it| Transaction::from(it.transaction) == row.transaction)
}

impl<E: Engine> Store<E> {
    /// Adds those events of blocks that are indexed already which the log does not have, and returns
    /// how many that were. The cursor stays where it is.
    ///
    /// # Errors
    /// [`StoreError::CursorMoved`], [`StoreError::Full`] and others; the store is as it was.
    pub fn mend(&mut self, deployment: DeploymentId, batch: &Batch) -> Result<usize, StoreError> {
        self.transaction(deployment, |store| {
            store.cursor_as_seen(deployment)?;
            let (mut touched, mut count) = (Touched::default(), 0);
            for (block, read) in Reread::by_block(batch) {
                count += store.mend_block(deployment, block, read, &mut touched)?;
            }
            store.fold_touched(deployment, &touched)?;
            store.note_suspects(deployment, &batch.suspects)?;
            Ok(count)
        })
    }

    /// IDX-54: adds what the log lacks. If that moves what the log has, all of the block is replaced, unless the log has
    /// something that was not read.
    fn mend_block(
        &mut self,
        deployment: DeploymentId,
        block: u64,
        mut read: Reread,
        touched: &mut Touched,
    ) -> Result<usize, StoreError> {
        let events = self.logged(deployment, block)?;
        let is_new = |it: &IndexedEvent| !events.contains_key(&name(it.transaction, it.place));
        let undecoded = self.undecoded_of(deployment, block)?;
        let (resolved, undecoded): (Vec<_>, Vec<_>) =
            (undecoded.into_iter()).partition(|it| is_resolved(it, &read, is_new));
        let undecoded = named(undecoded.into_iter().map(|it| (it.transaction, it.place)));
        let [read_events, read_undecoded] = read.named();
        let count = read.events.iter().filter(|it| is_new(it)).count();
        if stay(&events, &read_events) && stay(&undecoded, &read_undecoded) {
            read.events.retain(is_new);
            read.undecoded
                .retain(|it| !undecoded.contains_key(&name(it.transaction, it.place)));
        } else if has_all(&read_events, &events) && has_all(&read_undecoded, &undecoded) {
            self.delete_blocks(deployment, block..=block, touched)?;
        } else {
            return Ok(0);
        }
        for row in resolved {
            self.delete_undecoded(deployment, row.place)?;
        }
        for it in &read.events {
            touched.note(it.event.agent());
        }
        self.append(deployment, &read.events)?;
        self.append_undecoded(deployment, &read.undecoded)?;
        Ok(count)
    }

    fn logged(&mut self, deployment: DeploymentId, block: u64) -> Result<Named, StoreError> {
        let sql =
            "SELECT tx, place FROM event WHERE deployment = $1 AND place >= $2 AND place < $3";
        let values = of_blocks(deployment, &(block..=block));
        let mut found = Vec::new();
        self.each(sql, &values, "event", &mut |cells| {
            let of: Transaction = cells.take("tx")?;
            found.push((of, cells.take("place")?));
            Ok(())
        })?;
        Ok(named(found.into_iter()))
    }

    /// R46: returns the block from which on events are missing, as far as what is missing shows, or are kept raw that this version
    /// can decode; `None` if there are none. Events before an agent's registration can only be missing from the start.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn first_gap(
        &mut self,
        deployment: DeploymentId,
        start: u64,
    ) -> Result<Option<u64>, StoreError> {
        if self.missing_ids(deployment)? > 0 {
            return Ok(Some(start));
        }
        let mut first = self.first_decodable(deployment)?;
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
