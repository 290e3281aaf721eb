use super::{
    Agents, AllMetadata, Clients, Feedbacks, Parts, Payments, Responses, Settings, Table, Totals,
    Validations, Wallets,
};
use borsh::BorshSerialize;
use concord_canonical::hash::keccak256v;
use std::collections::{BTreeMap, BTreeSet};

/// Rows of one table in memory: those that were read, and those that changed since.
#[derive(Debug)]
pub struct Rows<T: Table> {
    rows: BTreeMap<T::Key, Option<T::Row>>,
    changed: BTreeSet<T::Key>,
}

impl<T: Table> Default for Rows<T> {
    fn default() -> Self {
        Self {
            rows: BTreeMap::new(),
            changed: BTreeSet::new(),
        }
    }
}

impl<T: Table> Rows<T> {
    /// Returns what is known of a row: nothing, that there is none, or the row.
    #[must_use]
    pub fn known(&self, key: &T::Key) -> Option<Option<&T::Row>> {
        self.rows.get(key).map(Option::as_ref)
    }

    /// Keeps what was read.
    pub fn keep(&mut self, key: T::Key, row: Option<T::Row>) {
        self.rows.insert(key, row);
    }

    /// Writes a row.
    pub fn put(&mut self, key: T::Key, row: T::Row) {
        self.changed.insert(key.clone());
        self.rows.insert(key, Some(row));
    }

    /// Deletes a row.
    pub fn delete(&mut self, key: T::Key) {
        self.changed.insert(key.clone());
        self.rows.insert(key, None);
    }

    /// Returns the rows that changed, in order; `None` for one that was deleted.
    pub fn changes(&self) -> impl Iterator<Item = (&T::Key, Option<&T::Row>)> {
        let row = |key| self.rows.get(key).and_then(Option::as_ref);
        self.changed.iter().map(move |key| (key, row(key)))
    }

    /// Returns every row in memory, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&T::Key, &T::Row)> {
        let rows = self.rows.iter();
        rows.filter_map(|(key, row)| Some((key, row.as_ref()?)))
    }
}

/// The tables in memory: what a fold works on.
#[derive(Debug, Default)]
#[allow(missing_docs)]
pub struct Tables {
    pub agents: Rows<Agents>,
    pub metadata: Rows<AllMetadata>,
    pub wallets: Rows<Wallets>,
    pub clients: Rows<Clients>,
    pub feedbacks: Rows<Feedbacks>,
    pub responses: Rows<Responses>,
    pub payments: Rows<Payments>,
    pub validations: Rows<Validations>,
    pub parts: Rows<Parts>,
    pub totals: Rows<Totals>,
    pub settings: Rows<Settings>,
}

impl Tables {
    /// R45: returns a digest of every row in memory.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        let mut digest = Digest::default();
        digest.table(&self.agents);
        digest.table(&self.metadata);
        digest.table(&self.wallets);
        digest.table(&self.clients);
        digest.table(&self.feedbacks);
        digest.table(&self.responses);
        digest.table(&self.payments);
        digest.table(&self.validations);
        digest.table(&self.parts);
        digest.table(&self.totals);
        digest.table(&self.settings);
        digest.finish()
    }
}

/// R45: a digest of tables, row by row: table for table, each in the order of its keys.
#[derive(Debug, Default)]
pub(crate) struct Digest([u8; 32]);

impl Digest {
    fn table<T: Table>(&mut self, rows: &Rows<T>) {
        for (key, row) in rows.iter() {
            self.row::<T>(key, row);
        }
    }

    /// Takes in one row.
    pub fn row<T: Table>(&mut self, key: &T::Key, row: &T::Row) {
        let mut bytes = Vec::new();
        // A vector takes any bytes.
        let _ = (T::NAME, key, row).serialize(&mut bytes);
        self.0 = keccak256v(&[&self.0, &bytes]);
    }

    pub const fn finish(self) -> [u8; 32] {
        self.0
    }
}
