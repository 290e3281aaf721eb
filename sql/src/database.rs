//! Where a store is: a file, or a server.
use crate::{Dialect, Engine, Insert, Numbered, Postgres, Sqlite, StoreError, Value};
use std::{env, fmt, path::PathBuf, str::FromStr, sync::Arc};
use tokio_postgres::{Config, config::Host};

/// Where a store is: `postgres://…`, or the path of a SQLite file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// A file.
    File(PathBuf),
    /// A server. Its password is never shown.
    Server(Box<Config>),
}

impl FromStr for Location {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if !text.starts_with("postgres://") && !text.starts_with("postgresql://") {
            return Ok(Self::File(text.into()));
        }
        // The error has none of the text, which may have a password.
        let config: Result<Config, _> = text.parse();
        let mut config = config.map_err(|_| {
            "the address is malformed: expected postgres://USER@HOST:PORT/DATABASE".to_owned()
        })?;
        if config.get_password().is_none()
            && let Ok(password) = env::var("PGPASSWORD")
        {
            config.password(password);
        }
        Ok(Self::Server(Box::new(config)))
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Server(config) => {
                let host = match config.get_hosts().first() {
                    Some(Host::Tcp(name)) => name.clone(),
                    Some(Host::Unix(path)) => path.display().to_string(),
                    None => "localhost".to_owned(),
                };
                let database = config.get_dbname().unwrap_or_default();
                write!(f, "postgres://{host}/{database}")
            }
        }
    }
}

impl Location {
    /// Opens the store to write it.
    ///
    /// # Errors
    /// [`StoreError::File`], [`StoreError::Server`].
    pub fn open(&self) -> Result<Database, StoreError> {
        match self {
            Self::File(path) => Sqlite::open(path).map(Database::Sqlite),
            Self::Server(config) => Postgres::connect(config).map(Database::Postgres),
        }
    }

    /// Opens a store that exists, and never writes it.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_read_only(&self) -> Result<Database, StoreError> {
        match self {
            Self::File(path) => Sqlite::open_read_only(path).map(Database::Sqlite),
            Self::Server(config) => Postgres::connect_read_only(config).map(Database::Postgres),
        }
    }
}

/// Either engine.
#[derive(Debug)]
pub enum Database {
    /// SQLite.
    Sqlite(Sqlite),
    /// Postgres.
    Postgres(Postgres),
}

impl Database {
    /// Returns what ends the statement that is being carried out, from another thread.
    #[must_use]
    pub fn interrupt(&self) -> Arc<dyn Fn() + Send + Sync> {
        match self {
            Self::Sqlite(engine) => engine.interrupt(),
            Self::Postgres(engine) => engine.interrupt(),
        }
    }

    fn engine(&mut self) -> &mut dyn Engine {
        match self {
            Self::Sqlite(engine) => engine,
            Self::Postgres(engine) => engine,
        }
    }
}

impl Engine for Database {
    fn dialect(&self) -> &'static Dialect {
        match self {
            Self::Sqlite(engine) => engine.dialect(),
            Self::Postgres(engine) => engine.dialect(),
        }
    }

    fn execute(&mut self, sql: &str, parameters: &[Value]) -> Result<(), StoreError> {
        self.engine().execute(sql, parameters)
    }

    fn insert(&mut self, insert: &Insert, rows: &[Vec<Value>]) -> Result<(), StoreError> {
        self.engine().insert(insert, rows)
    }

    fn query(
        &mut self,
        sql: &str,
        parameters: &[Value],
        each: &mut dyn FnMut(&[Value]) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.engine().query(sql, parameters, each)
    }

    fn query_each(
        &mut self,
        sql: &str,
        parameters: &[Vec<Value>],
        each: &mut Numbered<'_>,
    ) -> Result<(), StoreError> {
        self.engine().query_each(sql, parameters, each)
    }

    fn script(&mut self, sql: &str) -> Result<(), StoreError> {
        self.engine().script(sql)
    }

    fn claim(&mut self, name: &str) -> Result<(), StoreError> {
        self.engine().claim(name)
    }

    fn release(&mut self) -> Result<(), StoreError> {
        self.engine().release()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_never_shown() {
        let location: Location = "postgres://me:secret@db.example:6432/index"
            .parse()
            .unwrap();
        assert_eq!(location.to_string(), "postgres://db.example/index");
        assert!(!format!("{location:?}").contains("secret"));
        let error = "postgres://me:secret@db.example:port/index".parse::<Location>();
        assert!(!error.unwrap_err().contains("secret"));
    }

    #[test]
    fn what_names_no_server_is_a_file() {
        let location: Location = "postgres.sqlite".parse().unwrap();
        assert_eq!(location, Location::File("postgres.sqlite".into()));
    }
}
