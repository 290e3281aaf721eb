//! How much there is, and how much of it waits: what operators watch.

use super::{
    RowState, Store, StoreError,
    db::{Cells, Db},
    record::Table,
};

/// What an operator watches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backlog {
    /// Submissions in each state.
    pub submissions: Vec<(RowState, u64)>,
    /// Revocations in each state.
    pub revocations: Vec<(RowState, u64)>,
    /// Responses in each state.
    pub responses: Vec<(RowState, u64)>,
    /// What is not done and whose last attempt failed: it is tried again.
    pub late: u64,
    /// When the oldest submission that is not done was accepted, in unix seconds.
    pub oldest: Option<u64>,
}

impl Store {
    /// How many submissions are not done.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn open_count(&self) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM submission WHERE is_done = 0";
        self.read(|db| db.count(sql, &[]))
    }

    /// How many submissions are in each state.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn counts(&self) -> Result<Vec<(RowState, u64)>, StoreError> {
        self.read(|db| counts(db, Table::Submission))
    }

    /// Everything that an operator watches, but for what is sponsored.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn backlog(&self) -> Result<Backlog, StoreError> {
        self.read(|db| {
            let mut late = 0;
            for table in Table::ALL {
                let (name, waits) = (table.name(), "is_done = 0 AND reason IS NOT NULL");
                late += db.count(&format!("SELECT count(*) FROM {name} WHERE {waits}"), &[])?;
            }
            let oldest = "SELECT accepted_at FROM submission WHERE n = \
                          (SELECT min(n) FROM submission WHERE is_done = 0)";
            Ok(Backlog {
                submissions: counts(db, Table::Submission)?,
                revocations: counts(db, Table::Revocation)?,
                responses: counts(db, Table::Response)?,
                late,
                oldest: db.cell(oldest, &[])?,
            })
        })
    }
}

fn counts(db: &mut Db, table: Table) -> Result<Vec<(RowState, u64)>, StoreError> {
    let sql = format!(
        "SELECT state, count(*) FROM {} GROUP BY state",
        table.name()
    );
    let read = |row: &Cells<'_>| {
        let state = RowState::read(&row.get::<String>(0)?)?;
        Ok((state, row.get::<u64>(1)?))
    };
    let counts = db.all(&sql, &[], read)?;
    let of = |state: RowState| counts.iter().find(|(it, _)| *it == state);
    let count = |state| of(state).map_or(0, |(_, count)| *count);
    Ok(RowState::ALL.map(|state| (state, count(state))).to_vec())
}
