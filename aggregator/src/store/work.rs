//! What a lane does next, of submissions, revocations and responses.

use std::collections::BTreeSet;

use concord_index::store::Value;

use super::{
    ResponseRow, RevocationRow, Row, RowState, Store, StoreError,
    db::{Cells, Db, int, text},
    record::Table,
    response, revocation,
    row::COLUMNS,
};

/// One thing that a lane brings on chain, or follows there.
#[derive(Clone, Debug)]
pub enum Work {
    /// A submission.
    Submit(Box<Row>),
    /// The revocation of a feedback that is final, with the feedback's index.
    Revoke(Box<RevocationRow>, u64),
    /// The response to a feedback that is final, with the feedback's index.
    Respond(Box<ResponseRow>, u64),
}

/// A part of a lane's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Until it landed.
    Landing,
    /// From then on, until it is final and was read back.
    Finality,
}

/// Work, and the agent that it is about.
type Found = (Work, String);

impl Phase {
    /// The states of submissions, each with its turn. What may be in the chain already comes first: on EVM chains all that
    /// is signed later waits for it.
    const fn states(self) -> &'static [(&'static str, u8)] {
        match self {
            Self::Landing => &[("signed", 0), ("sent", 0), ("accepted", 1), ("stored", 1)],
            Self::Finality => &[("landed", 0), ("final", 0)],
        }
    }

    const fn has_landed(self) -> &'static str {
        match self {
            Self::Landing => "NOT IN ('landed', 'final')",
            Self::Finality => "IN ('landed', 'final')",
        }
    }
}

impl Work {
    /// The number of the row.
    #[must_use]
    pub fn n(&self) -> u64 {
        match self {
            Self::Submit(row) => row.receipt.n,
            Self::Revoke(row, _) => row.n,
            Self::Respond(row, _) => row.receipt.n,
        }
    }

    /// What it is, in a word.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        self.table().name()
    }

    /// Attempts that failed.
    #[must_use]
    pub fn attempts(&self) -> u32 {
        match self {
            Self::Submit(row) => row.attempts,
            Self::Revoke(row, _) => row.attempts,
            Self::Respond(row, _) => row.attempts,
        }
    }

    /// How many of the last ones the registry reverted.
    #[must_use]
    pub fn reverts(&self) -> u32 {
        match self {
            Self::Submit(row) => row.reverts,
            Self::Revoke(row, _) => row.reverts,
            Self::Respond(row, _) => row.reverts,
        }
    }

    /// Unix seconds.
    #[must_use]
    pub fn accepted_at(&self) -> u64 {
        match self {
            Self::Submit(row) => row.receipt.accepted_at,
            Self::Revoke(row, _) => row.accepted_at,
            Self::Respond(row, _) => row.receipt.accepted_at,
        }
    }

    fn state(&self) -> RowState {
        match self {
            Self::Submit(row) => row.state,
            Self::Revoke(row, _) => row.state,
            Self::Respond(row, _) => row.state,
        }
    }

    /// Whether a transaction of it may be in the chain already.
    #[must_use]
    pub fn is_begun(&self) -> bool {
        matches!(self.state(), RowState::Signed | RowState::Sent)
    }

    const fn table(&self) -> Table {
        match self {
            Self::Submit(_) => Table::Submission,
            Self::Revoke(..) => Table::Revocation,
            Self::Respond(..) => Table::Response,
        }
    }

    /// What comes first: what may be in the chain already, then what never failed, then what was accepted first. An agent can
    /// make submissions fail as long as it likes (R18), and they must not keep others waiting.
    fn precedence(&self) -> (bool, bool, u64) {
        (!self.is_begun(), self.attempts() > 0, self.accepted_at())
    }
}

impl Store {
    /// What a lane does next in a phase, but for the agents that are busy. Beside it the agent that it is about. `now`: unix
    /// seconds.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn work(
        &self,
        lane: &str,
        now: u64,
        phase: Phase,
        busy: &BTreeSet<String>,
    ) -> Result<Option<Found>, StoreError> {
        let mut values = vec![text(lane), int(now)];
        values.extend(busy.iter().map(|agent| text(agent)));
        let found = self.read(|db| {
            Ok([
                submission(db, phase, &values)?,
                revocation(db, phase, &values)?,
                response(db, phase, &values)?,
            ])
        })?;
        let all = found.into_iter().flatten();
        Ok(all.min_by_key(|(work, _)| work.precedence()))
    }

    /// Others have their turn first, until a time in unix seconds. Nothing failed.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn pass(&self, work: &Work, until: u64) -> Result<(), StoreError> {
        let (table, n) = (work.table().name(), work.n());
        let sql = format!("UPDATE {table} SET not_before = ?2 WHERE n = ?1");
        self.write(move |db| db.run(&sql, &[int(n), int(until)]))
            .await
    }
}

/// `values`: the lane, the time, the agents that are busy.
fn free(values: &[Value]) -> String {
    let busy: Vec<String> = (3..=values.len()).map(|it| format!("?{it}")).collect();
    match busy.is_empty() {
        true => String::new(),
        false => format!(" AND submission.agent NOT IN ({})", busy.join(", ")),
    }
}

/// The first of each state by the index, then the first of these.
fn submission(db: &mut Db, phase: Phase, values: &[Value]) -> Result<Option<Found>, StoreError> {
    let free = free(values);
    let first = |(state, turn): &(&str, u8)| {
        let (due, order) = match turn {
            0 => ("0", "n"),
            _ => ("not_before", "not_before, n"), // what never failed is due since ever
        };
        format!(
            "SELECT * FROM (SELECT n, {turn} AS turn, {due} AS due FROM submission \
             WHERE lane = ?1 AND is_done = 0 AND state = '{state}' AND not_before <= ?2{free} \
             ORDER BY {order} LIMIT 1) AS first_{state}"
        )
    };
    let firsts: Vec<String> = phase.states().iter().map(first).collect();
    let firsts = firsts.join(" UNION ALL ");
    let sql = format!(
        "SELECT {COLUMNS}, agent FROM submission WHERE n = \
         (SELECT n FROM ({firsts}) AS firsts ORDER BY turn, due, n LIMIT 1)"
    );
    let read = |row: &Cells<'_>| Ok((Work::Submit(Box::new(Row::read(row)?)), row.get(16)?));
    db.one(&sql, values, read)
}

/// What follows a feedback, once that is final.
fn follow_up(table: Table, phase: Phase, values: &[Value]) -> String {
    let (name, landed, free) = (table.name(), phase.has_landed(), free(values));
    format!(
        "WHERE {name}.is_done = 0 AND {name}.not_before <= ?2 AND {name}.state {landed} \
         AND submission.lane = ?1 AND submission.is_done = 1 \
         AND submission.feedback_index IS NOT NULL{free} \
         ORDER BY CASE WHEN {name}.state IN ('signed', 'sent') THEN 0 ELSE 1 END, \
         {name}.not_before, {name}.n LIMIT 1"
    )
}

fn revocation(db: &mut Db, phase: Phase, values: &[Value]) -> Result<Option<Found>, StoreError> {
    let sql = format!(
        "SELECT {}, submission.feedback_index, submission.agent FROM revocation \
         JOIN submission ON submission.n = revocation.n {}",
        revocation::COLUMNS,
        follow_up(Table::Revocation, phase, values)
    );
    let read = |row: &Cells<'_>| {
        let work = Work::Revoke(Box::new(RevocationRow::read(row)?), row.get(8)?);
        Ok((work, row.get(9)?))
    };
    db.one(&sql, values, read)
}

fn response(db: &mut Db, phase: Phase, values: &[Value]) -> Result<Option<Found>, StoreError> {
    let sql = format!(
        "SELECT {}, submission.feedback_index, submission.agent FROM {} {}",
        response::COLUMNS,
        response::TABLES,
        follow_up(Table::Response, phase, values)
    );
    let read = |row: &Cells<'_>| {
        let work = Work::Respond(Box::new(ResponseRow::read(row)?), row.get(15)?);
        Ok((work, row.get(16)?))
    };
    db.one(&sql, values, read)
}
