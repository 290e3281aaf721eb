//! SQLite and Postgres behind one trait: the same SQL, and the same errors, for the stores of the index and of the aggregator.
mod database;
mod engine;
mod error;
mod postgres;
mod sqlite;
mod value;

pub use database::{Database, Location};
pub use engine::{Dialect, Engine, Insert, Numbered};
pub use error::StoreError;
pub use postgres::Postgres;
pub use sqlite::Sqlite;
pub use value::{Cell, Value};
