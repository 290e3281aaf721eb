//! What a lane does next, of submissions, revocations and responses.

use std::collections::BTreeSet;

use concord_sql::Value;

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

/// What a worker asks for.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The lane.
    pub lane: &'a str,
    /// Unix seconds.
    pub now: u64,
    /// The worker's.
    pub phase: Phase,
    /// The agents that other workers serve.
    pub busy: &'a BTreeSet<String>,
    /// What is not begun has its turn before what is.
    pub fresh_first: bool,
}

/// Work that is due.
#[derive(Clone, Debug)]
pub struct Found {
    /// What it is.
    pub work: Work,
    /// The agent that it is about.
    pub agent: String,
    /// When it was accepted, or landed if that is followed. Unix seconds.
    pub since: u64,
    not_before: u64,
}

impl Wanted<'_> {
    /// Transactions of an EVM account are numbered: what is signed later waits for what is signed before.
    fn is_numbered(&self) -> bool {
        self.lane.starts_with("eip155:")
    }

    /// Whether a transaction is the first to be brought on chain. On Solana what failed has no such right: others do not wait for it.
    fn is_first(&self, work: &Work) -> bool {
        work.is_begun() && (self.is_numbered() || work.attempts() == 0)
    }

    /// What comes first: what may be in the chain already, then what never failed, then what waits the longest. An agent can
    /// make submissions fail as long as it likes (R18), and they must not keep others waiting.
    fn precedence(&self, found: &Found) -> (bool, bool, u64, u64) {
        let (work, due) = (&found.work, found.not_before);
        let first = self.is_first(work);
        let has_failed = work.attempts() > 0 && !first;
        match self.phase {
            Phase::Landing => (
                first == self.fresh_first,
                has_failed,
                due,
                work.accepted_at(),
            ),
            Phase::Finality => (false, false, due, work.accepted_at()),
        }
    }

    /// The rows of submissions, each kind with its turn.
    fn submissions(&self, is_held: bool) -> Vec<(&'static str, String, u8)> {
        const FIRST: &str = "AND attempts = 0";
        let begun = if self.fresh_first { 2 } else { 0 };
        // on Solana feedback states its index (R12), which is the same until the one before has landed
        let free = "AND agent NOT IN (SELECT begun.agent FROM submission AS begun \
                    WHERE begun.lane = ?1 AND begun.is_done = 0 \
                    AND begun.state IN ('signed', 'sent') AND begun.yields = 0)";
        let of = |states: [&'static str; 2], and: &str, turn: u8| {
            states.map(|state| (state, and.to_owned(), turn)).to_vec()
        };
        match (self.phase, self.is_numbered()) {
            (Phase::Finality, _) => of(["landed", "final"], "", 0),
            (Phase::Landing, true) if is_held => of(["signed", "sent"], "", begun),
            (Phase::Landing, true) => [
                of(["signed", "sent"], "", begun),
                of(["accepted", "stored"], "", 1),
            ]
            .concat(),
            (Phase::Landing, false) => [
                of(["signed", "sent"], FIRST, begun),
                of(["signed", "sent"], "AND attempts > 0", 1),
                of(["accepted", "stored"], free, 1),
            ]
            .concat(),
        }
    }

    /// The lane, the time, the agents that are busy.
    fn values(&self) -> Vec<Value> {
        let mut values = vec![text(self.lane), int(self.now)];
        values.extend(self.busy.iter().map(|agent| text(agent)));
        values
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
}

impl Store {
    /// What a lane does next, but for the agents that are busy.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn work(&self, wanted: Wanted<'_>) -> Result<Option<Found>, StoreError> {
        let found = self.read(|db| {
            let is_held = wanted.is_numbered() && holds_nonce(db, wanted)?;
            Ok([
                submission(db, wanted, is_held)?,
                revocation(db, wanted, is_held)?,
                response(db, wanted, is_held)?,
            ])
        })?;
        let all = found.into_iter().flatten();
        Ok(all.min_by_key(|found| wanted.precedence(found)))
    }

    /// Lets others be signed although the chain never took this one: its nonce is used, or the chain refuses it.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn let_others(&self, work: &Work) -> Result<(), StoreError> {
        let (table, n) = (work.table().name(), work.n());
        let sql = format!("UPDATE {table} SET yields = 1 WHERE n = ?1 AND is_done = 0");
        self.write(move |db| db.run(&sql, &[int(n)])).await
    }

    /// Others have their turn first, until a time in unix seconds. Nothing failed.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn pass(&self, work: &Work, until: u64) -> Result<(), StoreError> {
        let (table, n) = (work.table().name(), work.n());
        let sql = format!("UPDATE {table} SET not_before = ?2 WHERE n = ?1 AND is_done = 0");
        self.write(move |db| db.run(&sql, &[int(n), int(until)]))
            .await
    }
}

/// Whether a transaction is signed, and the chain never answered: a node may not count its nonce yet, and another signed now
/// would have the same.
fn holds_nonce(db: &mut Db, wanted: Wanted<'_>) -> Result<bool, StoreError> {
    for table in Table::ALL {
        let name = table.name();
        let of_lane = match table {
            Table::Submission => "submission.lane = ?1",
            Table::Revocation => "n IN (SELECT n FROM submission WHERE lane = ?1)",
            Table::Response => "submission IN (SELECT n FROM submission WHERE lane = ?1)",
        };
        let sql = format!(
            "SELECT count(*) FROM {name} WHERE {of_lane} AND is_done = 0 AND state = 'signed' AND yields = 0"
        );
        if db.count(&sql, &[text(wanted.lane)])? > 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

fn free(values: &[Value]) -> String {
    let busy: Vec<String> = (3..=values.len()).map(|it| format!("?{it}")).collect();
    if busy.is_empty() {
        String::new()
    } else {
        format!(" AND submission.agent NOT IN ({})", busy.join(", "))
    }
}

/// The first of each state by the index, then the first of these.
fn submission(db: &mut Db, wanted: Wanted<'_>, is_held: bool) -> Result<Option<Found>, StoreError> {
    let values = wanted.values();
    let free = free(&values);
    let first = |(at, (state, and, turn)): (usize, (&str, String, u8))| {
        format!(
            "SELECT * FROM (SELECT n, {turn} AS turn, not_before FROM submission \
             WHERE lane = ?1 AND is_done = 0 AND state = '{state}' AND not_before <= ?2{free} {and} \
             ORDER BY not_before, n LIMIT 1) AS first_{at}" // what never failed is due since ever
        )
    };
    let kinds = wanted.submissions(is_held).into_iter().enumerate();
    let firsts: Vec<String> = kinds.map(first).collect();
    let firsts = firsts.join(" UNION ALL ");
    let sql = format!(
        "SELECT {COLUMNS}, agent, not_before, landed_at FROM submission WHERE n = \
         (SELECT n FROM ({firsts}) AS firsts ORDER BY turn, not_before, n LIMIT 1)"
    );
    db.one(&sql, &values, |row| {
        let work = Work::Submit(Box::new(Row::read(row)?));
        found(work, row, 16)
    })
}

/// From the agent's column on.
fn found(work: Work, row: &Cells<'_>, agent: usize) -> Result<Found, String> {
    let landed_at: Option<u64> = row.get(agent + 2)?;
    Ok(Found {
        since: landed_at.unwrap_or(work.accepted_at()),
        work,
        agent: row.get(agent)?,
        not_before: row.get(agent + 1)?,
    })
}

/// What follows a feedback, once that is final.
fn follow_up(table: Table, wanted: Wanted<'_>, is_held: bool) -> String {
    let (name, free) = (table.name(), free(&wanted.values()));
    let states = match wanted.phase {
        Phase::Finality => "IN ('landed', 'final')",
        Phase::Landing if is_held => "IN ('signed', 'sent')",
        Phase::Landing => "NOT IN ('landed', 'final')",
    };
    let first = if wanted.is_numbered() {
        String::new()
    } else {
        format!("AND {name}.attempts = 0")
    };
    let begun = if wanted.fresh_first { 2 } else { 0 };
    let order = match wanted.phase {
        Phase::Finality => String::new(),
        Phase::Landing => format!(
            "CASE WHEN {name}.state IN ('signed', 'sent') {first} THEN {begun} ELSE 1 END, "
        ),
    };
    format!(
        "WHERE {name}.is_done = 0 AND {name}.not_before <= ?2 AND {name}.state {states} \
         AND submission.lane = ?1 AND submission.is_done = 1 \
         AND submission.feedback_index IS NOT NULL{free} \
         ORDER BY {order}{name}.not_before, {name}.n LIMIT 1"
    )
}

fn revocation(db: &mut Db, wanted: Wanted<'_>, is_held: bool) -> Result<Option<Found>, StoreError> {
    let sql = format!(
        "SELECT {}, submission.feedback_index, submission.agent, revocation.not_before, \
         revocation.landed_at FROM revocation JOIN submission ON submission.n = revocation.n {}",
        revocation::COLUMNS,
        follow_up(Table::Revocation, wanted, is_held)
    );
    db.one(&sql, &wanted.values(), |row| {
        let work = Work::Revoke(Box::new(RevocationRow::read(row)?), row.get(8)?);
        found(work, row, 9)
    })
}

fn response(db: &mut Db, wanted: Wanted<'_>, is_held: bool) -> Result<Option<Found>, StoreError> {
    let sql = format!(
        "SELECT {}, submission.feedback_index, submission.agent, response.not_before, \
         response.landed_at FROM {} {}",
        response::COLUMNS,
        response::TABLES,
        follow_up(Table::Response, wanted, is_held)
    );
    db.one(&sql, &wanted.values(), |row| {
        let work = Work::Respond(Box::new(ResponseRow::read(row)?), row.get(15)?);
        found(work, row, 16)
    })
}
