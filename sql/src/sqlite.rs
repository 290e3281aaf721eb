//! SQLite in this process: the default engine.
use crate::{Dialect, Engine, Numbered, StoreError, Value, engine::PREPARED_BYTES};
use concord_chain::{ChainError, atomic_file};
use rusqlite::{
    Connection, ErrorCode, OpenFlags, Statement, config::DbConfig, params_from_iter,
    types::ValueRef,
};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

/// Statements that stay prepared: more than the store has.
const PREPARED: usize = 128;
/// Readers do not block a writer in WAL mode; this is for checkpoints.
const BUSY: Duration = Duration::from_secs(10);
/// KiB of pages that a connection keeps at most. A batch changes pages all over the indices: what does not stay in memory until its
/// commit is written and read again for each change.
const WRITER_CACHE: i64 = 256 << 10;
const READER_CACHE: i64 = 32 << 10;
/// Bytes of the file that a reader maps at most (IDX-52). A page that is mapped is neither copied nor searched for in the cache.
const READER_MAP: i64 = 1 << 40;

/// A database file, or a database in memory.
#[derive(Debug)]
pub struct Sqlite {
    connection: Connection,
    path: Option<PathBuf>,
    claimed: Vec<atomic_file::Lock>,
}

impl Sqlite {
    /// Opens a file, and makes it if there is none.
    ///
    /// # Errors
    /// [`StoreError::File`].
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let unusable = |error: rusqlite::Error| StoreError::File {
            path: path.to_owned(),
            reason: error.to_string(),
        };
        let connection = Connection::open(path).map_err(unusable)?;
        // WAL: a killed process loses nothing that was committed, and readers go on.
        connection
            .execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;")
            .and_then(|()| keep_pages(&connection, WRITER_CACHE))
            .map_err(unusable)?;
        Self::with(connection, Some(path.to_owned()))
    }

    /// Opens a file that exists, and never writes it.
    ///
    /// # Errors
    /// [`StoreError::File`].
    pub fn open_read_only(path: &Path) -> Result<Self, StoreError> {
        let unusable = |error: rusqlite::Error| StoreError::File {
            path: path.to_owned(),
            reason: error.to_string(),
        };
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(unusable)?;
        connection
            .pragma_update(None, "query_only", true)
            .and_then(|()| keep_pages(&connection, READER_CACHE))
            .and_then(|()| connection.pragma_update(None, "mmap_size", READER_MAP))
            .map_err(unusable)?;
        Self::with(connection, Some(path.to_owned()))
    }

    /// Returns what ends the statement that is being carried out, from another thread.
    #[must_use]
    pub fn interrupt(&self) -> Arc<dyn Fn() + Send + Sync> {
        let handle = self.connection.get_interrupt_handle();
        Arc::new(move || handle.interrupt())
    }

    /// A database that ends with this value.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub fn in_memory() -> Result<Self, StoreError> {
        Self::with(Connection::open_in_memory().map_err(failed)?, None)
    }

    fn with(connection: Connection, path: Option<PathBuf>) -> Result<Self, StoreError> {
        connection.set_prepared_statement_cache_capacity(PREPARED);
        // The planner asks no parameter for its value, so a statement stays prepared when its parameters change (IDX-41).
        let stable = DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG;
        connection.set_db_config(stable, true).map_err(failed)?;
        connection.busy_timeout(BUSY).map_err(failed)?;
        Ok(Self {
            connection,
            path,
            claimed: Vec::new(),
        })
    }

    /// Sets how long a statement waits for another connection that writes.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub fn wait_for_writers(&self, time: Duration) -> Result<(), StoreError> {
        self.connection.busy_timeout(time).map_err(failed)
    }

    /// Limits the file to so many pages, as a full disk would.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub fn limit_pages(&self, pages: u32) -> Result<(), StoreError> {
        let limited = self.connection.pragma_update(None, "max_page_count", pages);
        limited.map_err(failed)
    }
}

impl Engine for Sqlite {
    fn dialect(&self) -> &'static Dialect {
        &Dialect {
            begin: "BEGIN IMMEDIATE",
            begin_alone: "BEGIN IMMEDIATE",
            lock_deployment: None,
            begin_snapshot: "BEGIN",
            integer: "INTEGER",
            real: "REAL",
            text: "TEXT",
            blob: "BLOB",
            clustered: " WITHOUT ROWID",
            is_distant: false,
            is_told_statistics: true,
        }
    }

    fn execute(&mut self, sql: &str, parameters: &[Value]) -> Result<(), StoreError> {
        let mut statement = self.connection.prepare_cached(sql).map_err(failed)?;
        let changed = statement.execute(params_from_iter(parameters));
        changed.map(drop).map_err(failed)
    }

    fn query(
        &mut self,
        sql: &str,
        parameters: &[Value],
        each: &mut dyn FnMut(&[Value]) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        if sql.len() > PREPARED_BYTES {
            // SQLite looks for a name among all names, and knows where a number is.
            let sql = sql.replace('$', "?");
            let mut statement = self.connection.prepare(&sql).map_err(failed)?;
            return pass_rows(&mut statement, parameters, each);
        }
        let mut statement = self.connection.prepare_cached(sql).map_err(failed)?;
        pass_rows(&mut statement, parameters, each)
    }

    fn query_each(
        &mut self,
        sql: &str,
        parameters: &[Vec<Value>],
        each: &mut Numbered<'_>,
    ) -> Result<(), StoreError> {
        let mut statement = self.connection.prepare_cached(sql).map_err(failed)?;
        let mut numbered = parameters.iter().enumerate();
        numbered.try_for_each(|(at, values)| {
            pass_rows(&mut statement, values, &mut |row| each(at, row))
        })
    }

    fn script(&mut self, sql: &str) -> Result<(), StoreError> {
        self.connection.execute_batch(sql).map_err(failed)
    }

    fn claim(&mut self, name: &str) -> Result<(), StoreError> {
        let Some(path) = &self.path else {
            return Ok(()); // no other process can write it
        };
        // A link to the file must not have another lock.
        let mut file = atomic_file::resolved(path).into_os_string();
        file.push(format!(".{}", name.replace([':', '/'], "-")));
        match atomic_file::lock(&PathBuf::from(file).with_added_extension("lock")) {
            Ok(lock) => self.claimed.push(lock),
            Err(ChainError::Locked(_)) => {
                return Err(StoreError::SecondWriter {
                    what: name.to_owned(),
                });
            }
            Err(error) => return Err(StoreError::Database(error.to_string())),
        }
        Ok(())
    }

    fn release(&mut self) -> Result<(), StoreError> {
        self.claimed.clear();
        Ok(())
    }
}

fn pass_rows(
    statement: &mut Statement<'_>,
    parameters: &[Value],
    each: &mut dyn FnMut(&[Value]) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let columns = statement.column_count();
    let found = statement.query(params_from_iter(parameters));
    let mut rows = found.map_err(failed)?;
    let mut cells = Vec::with_capacity(columns);
    while let Some(row) = rows.next().map_err(failed)? {
        cells.clear();
        for column in 0..columns {
            cells.push(cell(row.get_ref(column).map_err(failed)?)?);
        }
        each(&cells)?;
    }
    Ok(())
}

fn cell(value: ValueRef<'_>) -> Result<Value, StoreError> {
    Ok(match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Int(number),
        ValueRef::Real(number) => Value::Real(number),
        ValueRef::Text(bytes) => {
            let text = String::from_utf8(bytes.to_vec());
            Value::Text(text.map_err(|error| StoreError::Database(error.to_string()))?)
        }
        ValueRef::Blob(bytes) => Value::Blob(bytes.to_vec()),
    })
}

impl rusqlite::ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
        let value = match self {
            Self::Null => ValueRef::Null,
            Self::Int(number) => ValueRef::Integer(*number),
            Self::Real(number) => ValueRef::Real(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Blob(bytes) => ValueRef::Blob(bytes),
        };
        Ok(rusqlite::types::ToSqlOutput::Borrowed(value))
    }
}

/// A negative size is in KiB, whatever the length of a page.
fn keep_pages(connection: &Connection, kib: i64) -> rusqlite::Result<()> {
    connection.pragma_update(None, "cache_size", -kib)
}

fn failed(error: rusqlite::Error) -> StoreError {
    let words = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => StoreError::Full(words),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy(words),
        _ => StoreError::Database(words),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::StatementStatus;

    /// IDX-52: `.cargo/config.toml` is what allows more than 2 GiB.
    #[test]
    fn a_reader_maps_all_of_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index.sqlite");
        let mut writer = Sqlite::open(&path).unwrap();
        writer.script("CREATE TABLE t (a)").unwrap();
        let reader = Sqlite::open_read_only(&path).unwrap();
        let mapped = |of: &Sqlite| -> i64 {
            let pragma = of
                .connection
                .pragma_query_value(None, "mmap_size", |it| it.get(0));
            pragma.unwrap()
        };
        assert_eq!((mapped(&reader), mapped(&writer)), (READER_MAP, 0));
    }

    /// IDX-52: a read beyond the end of a file that is mapped would end the process.
    #[test]
    fn a_file_that_is_made_shorter_is_read_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index.sqlite");
        let mut writer = Sqlite::open(&path).unwrap();
        let fill = "CREATE TABLE t (a INTEGER PRIMARY KEY, b BLOB);
            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
            INSERT INTO t SELECT i, randomblob(4000) FROM n;
            PRAGMA wal_checkpoint(TRUNCATE);";
        writer.script(fill).unwrap();
        let length = || std::fs::metadata(&path).unwrap().len();
        let long = length();
        let mut reader = Sqlite::open_read_only(&path).unwrap();
        let mut rows = || {
            let mut rows = 0;
            let sql = "SELECT b FROM t ORDER BY a";
            let read = reader.query(sql, &[], &mut |_| {
                rows += 1;
                Ok(())
            });
            read.map(|()| rows)
        };
        assert_eq!(rows().unwrap(), 2_000);
        let shorten = "DELETE FROM t WHERE a > 10; VACUUM; PRAGMA wal_checkpoint(TRUNCATE);";
        writer.script(shorten).unwrap();
        assert!(length() < long / 50, "{long} {}", length());
        assert_eq!(rows().unwrap(), 10);
    }

    #[test]
    fn a_statement_with_thousands_of_parameters_is_answered_and_not_kept() {
        let mut sqlite = Sqlite::in_memory().unwrap();
        sqlite
            .script("CREATE TABLE t (a); INSERT INTO t VALUES (1), (7), (10000), (10001);")
            .unwrap();
        let marks: Vec<String> = (1..=10_000).map(|it| format!("${it}")).collect();
        let sql = format!(
            "SELECT a FROM t WHERE a IN ({}) ORDER BY a",
            marks.join(", ")
        );
        let values: Vec<Value> = (1..=10_000).rev().map(Value::Int).collect();
        let mut found = Vec::new();
        let asked = sqlite.query(&sql, &values, &mut |row| {
            found.push(row[0].clone());
            Ok(())
        });
        asked.unwrap();
        assert_eq!(found, [1, 7, 10_000].map(Value::Int));
        let kept = sqlite.connection.prepare_cached(&sql).unwrap();
        assert_eq!(kept.get_status(StatementStatus::Run), 0);
    }

    /// IDX-41: with a partial index, a planner that looks at parameters plans again for each new value.
    #[test]
    fn a_statement_is_prepared_once_for_all_values() {
        let mut sqlite = Sqlite::in_memory().unwrap();
        let tables = "CREATE TABLE t (a, b); CREATE INDEX some ON t (a) WHERE b = 1;";
        sqlite.script(tables).unwrap();
        let sql = "SELECT a FROM t WHERE a = ?1 AND b = ?2";
        for number in 0..3 {
            let of = [Value::Int(number), Value::Int(number)];
            sqlite.query(sql, &of, &mut |_| Ok(())).unwrap();
        }
        let statement = sqlite.connection.prepare_cached(sql).unwrap();
        assert_eq!(statement.get_status(StatementStatus::RePrepare), 0);
        assert_eq!(statement.get_status(StatementStatus::Run), 3);
    }
}
