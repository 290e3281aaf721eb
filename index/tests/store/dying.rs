//! A database that ends its process at a point: a statement, or a commit.
use crate::worlds::database::argument;
use concord_index::{
    StoreError,
    store::{Database, Dialect, Engine, Insert, Location, Numbered, Value},
};
use std::{
    env, fmt,
    process::{self, Command},
    str::FromStr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

/// In a child's environment: the store, and the point at which its writer dies.
const STORE: &str = "CONCORD_TEST_STORE";
const DIES_AT: &str = "CONCORD_TEST_DIES_AT";

/// Where a process ends without another instruction of it. Each counts from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Point {
    /// Before a statement.
    Statement(u64),
    /// Before a commit is asked for.
    BeforeCommit(u64),
    /// When a commit was answered.
    AfterCommit(u64),
    Never,
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Statement(number) => write!(f, "statement {number}"),
            Self::BeforeCommit(number) => write!(f, "before {number}"),
            Self::AfterCommit(number) => write!(f, "after {number}"),
            Self::Never => f.write_str("never 0"),
        }
    }
}

impl FromStr for Point {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, number) = text.split_once(' ').ok_or(text)?;
        let number = number.parse().map_err(|_| text)?;
        match kind {
            "statement" => Ok(Self::Statement(number)),
            "before" => Ok(Self::BeforeCommit(number)),
            "after" => Ok(Self::AfterCommit(number)),
            _ => Err(text.to_owned()),
        }
    }
}

pub struct Dying {
    database: Database,
    dies_at: Point,
    statements: u64,
    /// How many there were.
    pub commits: Arc<AtomicU64>,
    is_in_transaction: bool,
}

impl Dying {
    pub fn open(location: &Location, dies_at: Point) -> Self {
        Self {
            database: location.open().unwrap(),
            dies_at,
            statements: 0,
            commits: Arc::default(),
            is_in_transaction: false,
        }
    }

    fn run(
        &mut self,
        is_commit: bool,
        work: impl FnOnce(&mut Database) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.statements += 1;
        let commits = self.commits.fetch_add(is_commit.into(), Ordering::SeqCst) + 1;
        if self.dies_at == Point::Statement(self.statements)
            || is_commit && self.dies_at == Point::BeforeCommit(commits)
        {
            kill();
        }
        let done = work(&mut self.database);
        if is_commit && self.dies_at == Point::AfterCommit(commits) {
            kill();
        }
        done
    }
}

fn kill() {
    let pid = process::id().to_string();
    let killed = Command::new("kill").args(["-9", &pid]).status();
    unreachable!("{killed:?}");
}

impl Engine for Dying {
    fn dialect(&self) -> &'static Dialect {
        self.database.dialect()
    }

    fn execute(&mut self, sql: &str, parameters: &[Value]) -> Result<(), StoreError> {
        let is_commit = !self.is_in_transaction;
        self.run(is_commit, |it| it.execute(sql, parameters))
    }

    fn insert(&mut self, insert: &Insert, rows: &[Vec<Value>]) -> Result<(), StoreError> {
        if !self.dialect().is_distant {
            let one = insert.of_rows(1);
            return rows.iter().try_for_each(|row| self.execute(&one, row));
        }
        let is_commit = !self.is_in_transaction;
        self.run(is_commit, |it| it.insert(insert, rows))
    }

    fn query(
        &mut self,
        sql: &str,
        parameters: &[Value],
        each: &mut dyn FnMut(&[Value]) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.database.query(sql, parameters, each)
    }

    fn query_each(
        &mut self,
        sql: &str,
        parameters: &[Vec<Value>],
        each: &mut Numbered<'_>,
    ) -> Result<(), StoreError> {
        self.database.query_each(sql, parameters, each)
    }

    fn script(&mut self, sql: &str) -> Result<(), StoreError> {
        let is_commit = sql.trim_end_matches(';').ends_with("COMMIT");
        let begins = sql.starts_with("BEGIN") && !is_commit;
        self.is_in_transaction = begins || self.is_in_transaction && !is_end(sql);
        self.run(is_commit, |it| it.script(sql))
    }

    fn claim(&mut self, name: &str) -> Result<(), StoreError> {
        self.database.claim(name)
    }

    fn release(&mut self) -> Result<(), StoreError> {
        self.database.release()
    }
}

fn is_end(sql: &str) -> bool {
    ["COMMIT", "ROLLBACK"].contains(&sql)
}

/// What a child process is to do; `None` if this process is not a child.
pub fn asked() -> Option<(Location, Point)> {
    let (store, dies_at) = (env::var(STORE).ok()?, env::var(DIES_AT).ok()?);
    Some((store.parse().unwrap(), dies_at.parse().unwrap()))
}

/// Runs one test of this binary in a process of its own. Returns whether it lived to the end.
pub fn run_child(test: &str, store: &Location, dies_at: Point) -> bool {
    let mut child = Command::new(env::current_exe().unwrap());
    child.args(["--exact", test]);
    child.env(STORE, argument(store));
    child.env(DIES_AT, dies_at.to_string());
    let output = child.output().unwrap();
    match output.status.code() {
        Some(0) => true,
        None => false, // by a signal
        Some(code) => panic!("{code}: {}", String::from_utf8_lossy(&output.stdout)),
    }
}
