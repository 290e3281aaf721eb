//! One connection to the database of a store. Both engines run the same SQL, in which `?1` is the first parameter.
use std::borrow::Cow;

use concord_sql::{Cell, Database, Engine, Location, Value};
use serde::de::DeserializeOwned;

use super::{StoreError, receipt::ChainEnd};

/// A connection, which is opened again after it was lost.
pub(super) struct Db {
    location: Location,
    database: Option<Database>,
    /// The end of the chain of receipts, once this transaction has read or made it.
    pub last_receipt: Option<ChainEnd>,
}

/// The cells of one row.
pub(super) struct Cells<'a>(&'a [Value]);

impl Cells<'_> {
    /// The cell of a column, which counts from 0.
    pub fn get<T: Cell>(&self, column: usize) -> Result<T, String> {
        let cell = self.0.get(column).and_then(T::from_value);
        cell.ok_or_else(|| format!("column {column} of a row is malformed"))
    }

    /// A cell that has JSON.
    pub fn json<T: DeserializeOwned>(&self, column: usize) -> Result<T, String> {
        let text: String = self.get(column)?;
        parsed(column, &text)
    }

    /// A cell that has JSON or nothing.
    pub fn json_or_null<T: DeserializeOwned>(&self, column: usize) -> Result<Option<T>, String> {
        let text: Option<String> = self.get(column)?;
        text.map(|it| parsed(column, &it)).transpose()
    }
}

fn parsed<T: DeserializeOwned>(column: usize, text: &str) -> Result<T, String> {
    let parsed = serde_json::from_str(text);
    parsed.map_err(|error| format!("column {column} of a row is malformed: {error}"))
}

/// A parameter.
pub(super) fn value(of: impl Cell) -> Value {
    of.to_value()
}

/// Counts and times as the database has them: its integers are signed. None comes near the limit.
pub(super) fn int(number: u64) -> Value {
    Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

pub(super) fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

impl Db {
    pub fn open(location: &Location) -> Result<Self, StoreError> {
        let mut db = Self {
            location: location.clone(),
            database: None,
            last_receipt: None,
        };
        db.database()?;
        Ok(db)
    }

    /// Whether no other process can use the database.
    pub fn is_file(&self) -> bool {
        matches!(self.location, Location::File(_))
    }

    fn database(&mut self) -> Result<&mut Database, StoreError> {
        let database = match self.database.take() {
            Some(database) => database,
            None => {
                let mut opened = (self.location.open()).map_err(|error| self.failed(error))?;
                let session = match self.is_file() {
                    // what was answered survives a loss of power, not only of the process
                    true => "PRAGMA synchronous = FULL",
                    // a session that is cut off within a change loses its lock; after the lock, a statement sees what others committed
                    false => {
                        "SET idle_in_transaction_session_timeout = '10s'; \
                         SET default_transaction_isolation = 'read committed'"
                    }
                };
                let set = opened.script(session);
                set.map_err(|error| self.failed(error))?;
                opened
            }
        };
        Ok(self.database.insert(database))
    }

    pub fn failed(&self, reason: impl ToString) -> StoreError {
        super::failed(&self.location, reason)
    }

    /// Makes one attempt. A server that failed is connected to again the next time.
    fn attempt<T, E: ToString>(
        &mut self,
        work: impl FnOnce(&mut Database) -> Result<T, E>,
    ) -> Result<T, StoreError> {
        let done = work(self.database()?);
        done.map_err(|error| self.failed(error))
    }

    /// Forgets the connection: whatever was begun with it is undone.
    pub fn disconnect(&mut self) {
        self.last_receipt = None;
        self.database = None;
    }

    /// `?1` is how SQLite numbers parameters, `$1` how Postgres does.
    fn numbered<'s>(&self, sql: &'s str) -> Cow<'s, str> {
        if self.is_file() {
            Cow::Borrowed(sql)
        } else {
            Cow::Owned(sql.replace('?', "$"))
        }
    }

    /// Statements without parameters.
    pub fn script(&mut self, sql: &str) -> Result<(), StoreError> {
        self.attempt(|it| it.script(sql))
    }

    /// Begins a transaction during which no other is under way, of this process or another.
    pub fn begin(&mut self) -> Result<(), StoreError> {
        self.last_receipt = None; // another process may have made one
        self.attempt(|it| it.script(it.dialect().begin_alone))
    }

    /// One statement without an answer.
    pub fn run(&mut self, sql: &str, values: &[Value]) -> Result<(), StoreError> {
        let sql = self.numbered(sql).into_owned();
        self.attempt(|it| it.execute(&sql, values))
    }

    /// The rows of a query.
    pub fn all<T>(
        &mut self,
        sql: &str,
        values: &[Value],
        read: impl Fn(&Cells<'_>) -> Result<T, String>,
    ) -> Result<Vec<T>, StoreError> {
        let sql = self.numbered(sql).into_owned();
        let mut rows = Vec::new();
        self.attempt(|it| {
            it.query(&sql, values, &mut |cells| {
                rows.push(read(&Cells(cells)));
                Ok(())
            })
        })?;
        let rows: Result<Vec<T>, String> = rows.into_iter().collect();
        rows.map_err(|reason| self.failed(reason))
    }

    /// The first row of a query.
    pub fn one<T>(
        &mut self,
        sql: &str,
        values: &[Value],
        read: impl Fn(&Cells<'_>) -> Result<T, String>,
    ) -> Result<Option<T>, StoreError> {
        let rows = self.all(sql, values, read)?;
        Ok(rows.into_iter().next())
    }

    /// The first cell of the first row.
    pub fn cell<T: Cell>(&mut self, sql: &str, values: &[Value]) -> Result<Option<T>, StoreError> {
        self.one(sql, values, |row| row.get(0))
    }

    /// A query that counts.
    pub fn count(&mut self, sql: &str, values: &[Value]) -> Result<u64, StoreError> {
        Ok(self.cell(sql, values)?.unwrap_or(0))
    }
}
