//! What chains took back. It is noted as it happens: the event log has no trace of it, and no rebuild brings it back.
use super::{Cell, Cells, DeploymentId, Engine, Store, events::Touched};
use crate::{StoreError, batch::Header};

/// Blocks that were indexed, and replaced by others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reorganization {
    /// The first one has number 1.
    pub number: u64,
    /// When the index noticed it, in unix seconds.
    pub at: i64,
    /// The first block that was taken back.
    pub from: u64,
    /// The last one. On Solana these are slots, some of which have no block.
    pub to: u64,
    /// The hash of the block before them, which stayed.
    pub fork_hash: [u8; 32],
    /// The hash of the last one.
    pub replaced_hash: [u8; 32],
    /// Events that were taken back, those that could not be decoded among them.
    pub events: u64,
}

impl Reorganization {
    /// Returns how many blocks, or slots, were taken back.
    #[must_use]
    pub const fn depth(&self) -> u64 {
        self.to.saturating_sub(self.from).saturating_add(1)
    }
}

/// All reorganizations of a deployment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reorganizations {
    /// How many there were.
    pub count: u64,
    /// Blocks, or slots, of the deepest one.
    pub deepest: u64,
    /// The last ones, the newest first.
    pub newest: Vec<Reorganization>,
}

impl<E: Engine> Store<E> {
    /// Returns what a chain took back since it is indexed, and the newest `limit` of it.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn reorganizations(
        &mut self,
        deployment: DeploymentId,
        limit: u32,
    ) -> Result<Reorganizations, StoreError> {
        let mut found = Reorganizations::default();
        let values = [deployment.0.to_value()];
        let sql = "SELECT COUNT(*), COALESCE(MAX(to_block - from_block + 1), 0) \
                   FROM reorganization WHERE deployment = $1";
        self.each(sql, &values, "reorganization", &mut |cells| {
            (found.count, found.deepest) = (cells.take("count")?, cells.take("deepest")?);
            Ok(())
        })?;
        let sql = format!(
            "SELECT number, at, from_block, to_block, fork_hash, replaced_hash, events \
             FROM reorganization WHERE deployment = $1 ORDER BY number DESC LIMIT {limit}"
        );
        self.each(&sql, &values, "reorganization", &mut |cells| {
            found.newest.push(read(cells)?);
            Ok(())
        })?;
        Ok(found)
    }

    /// Notes what is being taken back: everything after `fork`, up to `head`.
    pub(super) fn note_reorganization(
        &mut self,
        deployment: DeploymentId,
        (fork, head): (&Header, &Header),
        at: i64,
        touched: &Touched,
    ) -> Result<(), StoreError> {
        let sql = "SELECT COALESCE(MAX(number), 0) + 1 FROM reorganization WHERE deployment = $1";
        let number = self.number(sql, &[deployment.0.to_value()])?;
        let values = [
            deployment.0.to_value(),
            number.to_value(),
            at.to_value(),
            fork.number.saturating_add(1).to_value(),
            head.number.to_value(),
            fork.hash.to_value(),
            head.hash.to_value(),
            touched.events.to_value(),
        ];
        let sql = "INSERT INTO reorganization (deployment, number, at, from_block, to_block, \
                   fork_hash, replaced_hash, events) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
        self.engine.execute(sql, &values)
    }
}

fn read(cells: &mut Cells<'_>) -> Result<Reorganization, StoreError> {
    Ok(Reorganization {
        number: cells.take("number")?,
        at: cells.take("at")?,
        from: cells.take("from_block")?,
        to: cells.take("to_block")?,
        fork_hash: cells.take("fork_hash")?,
        replaced_hash: cells.take("replaced_hash")?,
        events: cells.take("events")?,
    })
}
