//! The database under test: SQLite, or Postgres if `CONCORD_TEST_POSTGRES` has the address of a server.
//! `full_tier::postgres` runs the tests again with a server that it starts.
use concord_testkit::postgres::create;

use concord_index::store::{Database, Location, Sqlite};

use std::{env, sync::OnceLock};
use tempfile::TempDir;

pub(crate) const SERVER: &str = "CONCORD_TEST_POSTGRES";

/// An empty database that is there as long as this value.
pub struct Fresh {
    pub location: Location,
    _folder: Option<TempDir>,
}

/// An empty database that can be opened again.
pub fn fresh() -> Fresh {
    if let Ok(server) = env::var(SERVER) {
        return Fresh {
            location: create(&server, "template1"),
            _folder: None,
        };
    }
    let folder = tempfile::tempdir().unwrap();
    Fresh {
        location: Location::File(folder.path().join("index.sqlite")),
        _folder: Some(folder),
    }
}

/// An empty database.
pub fn database() -> Database {
    match env::var(SERVER) {
        Ok(server) => create(&server, "template1").open().unwrap(),
        Err(_) => Database::Sqlite(Sqlite::in_memory().unwrap()),
    }
}

/// How `--store` names it.
pub fn argument(location: &Location) -> String {
    match location {
        Location::File(path) => path.to_str().unwrap().to_owned(),
        Location::Server(config) => {
            let server = env::var(SERVER).unwrap();
            format!("{server}/{}", config.get_dbname().unwrap())
        }
    }
}

/// A database that can be opened again, with what `fill` writes. Postgres copies the first one.
pub fn filled(fill: impl FnOnce(Database)) -> Fresh {
    static FIRST: OnceLock<String> = OnceLock::new();
    let Ok(server) = env::var(SERVER) else {
        let fresh = fresh();
        fill(fresh.location.open().unwrap());
        return fresh;
    };
    let first = FIRST.get_or_init(|| {
        let location = create(&server, "template1");
        fill(location.open().unwrap());
        match location {
            Location::Server(config) => config.get_dbname().unwrap().to_owned(),
            Location::File(_) => unreachable!(),
        }
    });
    Fresh {
        location: create(&server, first),
        _folder: None,
    }
}

/// A round trip costs Postgres more than the statement: tests that only do more of the same do a part of
/// it there.
pub fn part(all: usize, on_postgres: usize) -> usize {
    match env::var_os(SERVER) {
        Some(_) => on_postgres,
        None => all,
    }
}
