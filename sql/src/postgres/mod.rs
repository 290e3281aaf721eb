//! Postgres: several readers, one writer for each chain, and a database on another machine.
mod cell;
mod connection;

use crate::{Dialect, Engine, Insert, Numbered, StoreError, Value};
use concord_canonical::hash::keccak256;
use connection::{Connection, Write};
use std::{collections::HashMap, sync::Arc, thread, time::Duration};
use tokio_postgres::Config;

/// Lists of parameters that one statement asks about.
const AT_ONCE: usize = 512;
/// Parameters of writes that are sent together, or a few more.
const VALUES: usize = 8_192;
/// Rows of one statement. Each column of each row is a parameter, and a prepared statement is looked up by its text.
const ROWS: usize = 32;
/// Rows of a table before its statistics are gathered for the first time.
const FEW: usize = 100;
/// A writer that ended keeps its lock until the server has noticed.
const CLAIMS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(50);

/// A connection to a server. In a transaction, writes are sent together: an error of one is that of a
/// later statement, or of the commit.
#[derive(Debug)]
pub struct Postgres {
    connection: Connection,
    unsent: Vec<Write>,
    unsent_values: usize,
    is_in_transaction: bool,
    growth: HashMap<String, Growth>,
}

/// Rows of a table: those that it had, and those that this connection has written since. Its statistics are gathered when they
/// are twice as many.
#[derive(Debug, Clone, Copy)]
struct Growth {
    rows: usize,
    gathered_at: usize,
}

impl Postgres {
    /// Connects.
    ///
    /// # Errors
    /// [`StoreError::Server`].
    pub fn connect(config: &Config) -> Result<Self, StoreError> {
        let mut engine = Self {
            connection: Connection::open(config)?,
            unsent: Vec::new(),
            unsent_values: 0,
            growth: HashMap::new(),
            is_in_transaction: false,
        };
        let mut encoding = String::new();
        engine.query("SHOW server_encoding", &[], &mut |row| {
            if let [Value::Text(found)] = row {
                encoding.clone_from(found);
            }
            Ok(())
        })?;
        if encoding != "UTF8" {
            let reason = format!("the database's encoding is {encoding}, expected UTF8");
            return Err(StoreError::Database(reason));
        }
        Ok(engine)
    }

    /// Connects, and never writes.
    ///
    /// # Errors
    /// As [`Self::connect`].
    pub fn connect_read_only(config: &Config) -> Result<Self, StoreError> {
        let mut engine = Self::connect(config)?;
        engine.script("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY")?;
        Ok(engine)
    }

    /// Returns what ends the statement that is being carried out, from another thread.
    #[must_use]
    pub fn interrupt(&self) -> Arc<dyn Fn() + Send + Sync> {
        self.connection.interrupt()
    }

    /// Sends what is unsent. While the server carries it out, more can be made ready.
    fn send(&mut self) -> Result<(), StoreError> {
        self.unsent_values = 0;
        if self.unsent.is_empty() {
            Ok(())
        } else {
            self.connection.write(std::mem::take(&mut self.unsent))
        }
    }

    /// IDX-63: a table that has twice as many rows needs other plans, also within one transaction. A plan that was made while it was
    /// empty takes any index for a key, and reads all of it.
    fn note_growth(&mut self, table: &str, rows: usize) -> Result<(), StoreError> {
        let mut growth = match self.growth.get(table) {
            Some(known) => *known,
            None => self.growth_before(table)?,
        };
        growth.rows += rows;
        let is_doubled = growth.rows >= growth.gathered_at;
        if is_doubled {
            growth.gathered_at = 2 * growth.rows;
        }
        self.growth.insert(table.to_owned(), growth);
        if !is_doubled {
            return Ok(());
        }
        // Two writers would wait for each other until the end of a transaction.
        self.execute(&format!("ANALYZE (SKIP_LOCKED) {table}"), &[])?;
        // Without new statistics, plans are made anew with the size of the table.
        self.execute("DISCARD PLANS", &[])
    }

    /// What the server's statistics say of a table that this connection has not written yet.
    fn growth_before(&mut self, table: &str) -> Result<Growth, StoreError> {
        let sql = format!(
            "SELECT GREATEST(reltuples, 0)::BIGINT FROM pg_class WHERE oid = '{table}'::regclass"
        );
        let mut rows = 0;
        self.query(&sql, &[], &mut |row| {
            if let [Value::Int(found)] = row {
                rows = usize::try_from(*found).unwrap_or(0);
            }
            Ok(())
        })?;
        Ok(Growth {
            rows,
            gathered_at: FEW.max(2 * rows),
        })
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        self.send()?;
        self.connection.wait_for_writes()
    }
}

impl Engine for Postgres {
    fn dialect(&self) -> &'static Dialect {
        &Dialect {
            begin: "BEGIN",
            // Two processes that open a new database, or claim in it, take turns.
            begin_alone: "BEGIN; SELECT pg_advisory_xact_lock(8004)",
            lock_deployment: Some("SELECT 1 FROM deployment WHERE id = $1 FOR UPDATE"),
            begin_snapshot: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            integer: "BIGINT",
            real: "DOUBLE PRECISION",
            text: "TEXT COLLATE \"C\"",
            blob: "BYTEA",
            clustered: "",
            is_distant: true,
            is_told_statistics: false,
        }
    }

    fn execute(&mut self, sql: &str, parameters: &[Value]) -> Result<(), StoreError> {
        self.unsent.push(Write {
            sql: sql.to_owned(),
            values: parameters.to_vec(),
        });
        self.unsent_values += parameters.len();
        match self.is_in_transaction {
            true if self.unsent_values < VALUES => Ok(()),
            true => self.send(),
            false => self.flush(),
        }
    }

    fn insert(&mut self, insert: &Insert, rows: &[Vec<Value>]) -> Result<(), StoreError> {
        let (together, alone) = rows.as_chunks::<ROWS>();
        if !together.is_empty() {
            let many = insert.of_rows(ROWS);
            let mut together = together.iter();
            together.try_for_each(|rows| self.execute(&many, &rows.concat()))?;
        }
        let one = insert.of_rows(1);
        let mut alone = alone.iter();
        alone.try_for_each(|row| self.execute(&one, row))?;
        self.note_growth(&insert.table, rows.len())
    }

    fn query(
        &mut self,
        sql: &str,
        parameters: &[Value],
        each: &mut dyn FnMut(&[Value]) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.flush()?;
        self.connection.query(sql, parameters, each)
    }

    fn query_each(
        &mut self,
        sql: &str,
        parameters: &[Vec<Value>],
        each: &mut Numbered<'_>,
    ) -> Result<(), StoreError> {
        self.flush()?;
        for (first, parameters) in (0..).step_by(AT_ONCE).zip(parameters.chunks(AT_ONCE)) {
            let each = &mut |at: usize, row: &[Value]| each(first + at, row);
            self.connection.query_each(sql, parameters, each)?;
        }
        Ok(())
    }

    fn script(&mut self, sql: &str) -> Result<(), StoreError> {
        if sql == "ROLLBACK" {
            self.unsent.clear();
            let _ = self.flush(); // what failed is undone
        }
        self.flush()?;
        self.is_in_transaction = sql.starts_with("BEGIN") && !sql.ends_with("COMMIT;");
        self.connection.script(sql)
    }

    fn claim(&mut self, name: &str) -> Result<(), StoreError> {
        let mut key = [0; 8];
        key.copy_from_slice(&keccak256(format!("concord-index/{name}").as_bytes())[..8]);
        let key = Value::Int(i64::from_be_bytes(key));
        for _ in 0..CLAIMS {
            let mut is_mine = false;
            let sql = "SELECT pg_try_advisory_lock($1)"; // until the connection ends
            self.query(sql, std::slice::from_ref(&key), &mut |row| {
                is_mine = row == [Value::Int(1)];
                Ok(())
            })?;
            if is_mine {
                return Ok(());
            }
            thread::sleep(PAUSE);
        }
        Err(StoreError::SecondWriter {
            what: name.to_owned(),
        })
    }

    fn release(&mut self) -> Result<(), StoreError> {
        self.script("SELECT pg_advisory_unlock_all()")
    }
}
