//! What revocations and responses have in common: each follows a feedback, and has a state and transactions of its own.

use super::{
    ResponseRow, Row, Store, StoreError,
    db::{int, text},
    record::Table,
};

/// What a receipt is of (R57).
#[derive(Clone, Debug)]
pub enum Receipted {
    /// A submission.
    Submission(Row),
    /// A response that is relayed for an agent.
    Response(ResponseRow),
}

impl Receipted {
    fn n(&self) -> u64 {
        match self {
            Self::Submission(row) => row.receipt.n,
            Self::Response(row) => row.receipt.n,
        }
    }
}

impl Store {
    /// Receipts in their order, from a number on, without a gap.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn receipts(&self, from: u64, limit: u64) -> Result<Vec<Receipted>, StoreError> {
        let submissions = self.page(from, limit)?.into_iter();
        let responses = self.responses(from, limit)?.into_iter();
        let mut all: Vec<Receipted> = submissions
            .map(Receipted::Submission)
            .chain(responses.map(Receipted::Response))
            .collect();
        all.sort_unstable_by_key(Receipted::n);
        let length = usize::try_from(limit).unwrap_or(usize::MAX);
        // a receipt that was given out between the two reads may be missing before the last ones
        let next_to = |(found, n): (Receipted, u64)| (found.n() == n).then_some(found);
        let numbered = all.into_iter().zip(from.max(1)..);
        Ok(numbered.map_while(next_to).take(length).collect())
    }

    /// The registry has it: nothing is left to do.
    pub(super) async fn finish(&self, table: Table, n: u64) -> Result<(), StoreError> {
        let sql = format!(
            "UPDATE {} SET reason = NULL, is_done = 1 WHERE n = ?1 AND state = 'final'",
            table.name()
        );
        self.write(move |db| db.run(&sql, &[int(n)])).await
    }

    /// The registry refuses it for good.
    pub(super) async fn refuse(
        &self,
        table: Table,
        n: u64,
        reason: String,
    ) -> Result<(), StoreError> {
        let sql = format!(
            "UPDATE {} SET state = 'refused', reason = ?2, is_done = 1 WHERE n = ?1",
            table.name()
        );
        self.write(move |db| db.run(&sql, &[int(n), text(&reason)]))
            .await
    }

    /// An attempt failed; the next is due at a time in unix seconds. The flag: whether the registry reverted it.
    pub(super) async fn put_off(
        &self,
        table: Table,
        n: u64,
        reason: String,
        (due, is_reverted): (u64, bool),
    ) -> Result<(), StoreError> {
        let sql = format!(
            "UPDATE {} SET attempts = attempts + 1, reason = ?2, not_before = ?3, \
             reverts = (reverts + 1) * ?4 WHERE n = ?1 AND is_done = 0",
            table.name()
        );
        let values = [int(n), text(&reason), int(due), int(is_reverted.into())];
        self.write(move |db| db.run(&sql, &values)).await
    }
}
