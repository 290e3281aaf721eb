//! A database that notes what it is asked.
use concord_index::{
    StoreError,
    store::{Database, Dialect, Engine, Numbered, Value},
};
use std::sync::{Arc, Mutex};

/// A query, or one that was asked with many lists of parameters.
#[derive(Debug)]
pub struct Statement {
    pub sql: String,
    /// How many it answered.
    pub rows: usize,
    /// SQLite's plan.
    pub plan: String,
}

/// The statements since `begin`.
#[derive(Debug, Clone, Default)]
pub struct Log(Arc<Mutex<Option<Vec<Statement>>>>);

impl Log {
    pub fn begin(&self) {
        *self.0.lock().unwrap() = Some(Vec::new());
    }

    pub fn end(&self) -> Vec<Statement> {
        self.0.lock().unwrap().take().unwrap()
    }

    fn is_on(&self) -> bool {
        self.0.lock().unwrap().is_some()
    }
}

pub struct Noting {
    database: Database,
    log: Log,
}

impl Noting {
    pub fn of(database: Database) -> (Self, Log) {
        let log = Log::default();
        let noting = Self {
            database,
            log: log.clone(),
        };
        (noting, log)
    }

    fn note(&mut self, sql: &str, parameters: &[Value], rows: usize) -> Result<(), StoreError> {
        if !self.log.is_on() {
            return Ok(());
        }
        let mut plan = String::new();
        if self.dialect().is_told_statistics {
            let explained = format!("EXPLAIN QUERY PLAN {sql}");
            self.database.query(&explained, parameters, &mut |row| {
                if let Some(Value::Text(step)) = row.last() {
                    plan.push_str(&format!("{step}\n"));
                }
                Ok(())
            })?;
        }
        if let Some(all) = &mut *self.log.0.lock().unwrap() {
            let sql = sql.to_owned();
            all.push(Statement { sql, rows, plan });
        }
        Ok(())
    }
}

impl Engine for Noting {
    fn dialect(&self) -> &'static Dialect {
        self.database.dialect()
    }

    fn execute(&mut self, sql: &str, parameters: &[Value]) -> Result<(), StoreError> {
        self.database.execute(sql, parameters)
    }

    fn query(
        &mut self,
        sql: &str,
        parameters: &[Value],
        each: &mut dyn FnMut(&[Value]) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut rows = 0;
        self.database.query(sql, parameters, &mut |row| {
            rows += 1;
            each(row)
        })?;
        self.note(sql, parameters, rows)
    }

    fn query_each(
        &mut self,
        sql: &str,
        parameters: &[Vec<Value>],
        each: &mut Numbered<'_>,
    ) -> Result<(), StoreError> {
        let mut rows = 0;
        self.database.query_each(sql, parameters, &mut |at, row| {
            rows += 1;
            each(at, row)
        })?;
        let first = parameters.first().map_or(&[][..], Vec::as_slice);
        self.note(sql, first, rows)
    }

    fn script(&mut self, sql: &str) -> Result<(), StoreError> {
        self.database.script(sql)
    }

    fn claim(&mut self, name: &str) -> Result<(), StoreError> {
        self.database.claim(name)
    }

    fn release(&mut self) -> Result<(), StoreError> {
        self.database.release()
    }
}
