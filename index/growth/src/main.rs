//! Fills a store through the index's own fold, and asks its API: at ten thousand feedbacks, and at ten times as many, again
//! and again. Prints a line of JSON for each size. `scripts/deep growth` runs it on both engines.
mod ask;
mod chain;

use ask::Asker;
use chain::Grown;
use clap::Parser;
use concord_index::{
    Indexer, Options,
    store::{Database, Engine, Location, Store, Value},
};
use serde_json::json;
use std::{
    fs,
    io::{self, Write},
    process::ExitCode,
    time::Instant,
};

/// Measures an index while it grows.
#[derive(Debug, Parser)]
struct Arguments {
    /// A database that is empty or of an earlier run: a SQLite file, or postgres://USER@HOST:PORT/DATABASE.
    #[arg(long)]
    store: Location,
    /// Sizes, in feedbacks.
    #[arg(long, value_delimiter = ',', default_value = "10000,100000,1000000")]
    feedbacks: Vec<u64>,
    /// Fills a SQLite file without a log and without waiting for the disk: a store of millions of feedbacks in hours less. A crash
    /// loses it, and the events a second say nothing about an index.
    #[arg(long)]
    hasty: bool,
    /// Requests of each kind.
    #[arg(long, default_value_t = 1_000)]
    requests: u64,
}

type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    match measure(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("concord-growth: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(arguments: &Arguments) -> Result<(), Failure> {
    let runtime = tokio::runtime::Runtime::new()?;
    let mut database = arguments.store.open()?;
    if arguments.hasty {
        database.script("PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF")?;
    }
    let store = Store::open(database)?;
    let options = Options::default();
    let mut indexer = Indexer::new(Grown::default(), store, &chain::deployment(), options)?;
    let id = indexer.deployment();
    let mut events = indexer.store().event_count(id)?;
    for feedbacks in &arguments.feedbacks {
        indexer.source().feedbacks = *feedbacks;
        let making = indexer.source().making;
        let begun = Instant::now();
        runtime.block_on(indexer.catch_up(|_| ()))?;
        let made = indexer.source().making - making;
        let seconds = (begun.elapsed() - made).as_secs_f64();
        let now = indexer.store().event_count(id)?;
        let rate = (now - events) as f64 / seconds;
        events = now;
        tidy(&arguments.store)?;
        let asked =
            Asker::new(arguments.store.clone(), *feedbacks).all(&runtime, arguments.requests)?;
        let line = json!({
            "feedbacks": feedbacks,
            "agents": chain::agents(*feedbacks),
            "clients": chain::clients(*feedbacks),
            "events": events,
            "eventsPerSecond": rate.round(),
            "bytes": bytes(&arguments.store)?,
            "memory": memory(),
            "milliseconds": asked,
        });
        writeln!(io::stdout(), "{line}")?;
    }
    Ok(())
}

/// What the engines do by themselves after a while.
fn tidy(location: &Location) -> Result<(), Failure> {
    let mut database = location.open()?;
    let script = match location {
        Location::File(_) => "PRAGMA wal_checkpoint(TRUNCATE)",
        Location::Server(_) => "VACUUM (ANALYZE)",
    };
    Ok(database.script(script)?)
}

fn bytes(location: &Location) -> Result<u64, Failure> {
    match location {
        Location::File(path) => Ok(fs::metadata(path)?.len()),
        Location::Server(_) => {
            let mut database: Database = location.open()?;
            let mut size = 0;
            let sql = "SELECT pg_database_size(current_database())";
            database.query(sql, &[], &mut |row| {
                if let [Value::Int(found)] = row {
                    size = found.cast_unsigned();
                }
                Ok(())
            })?;
            Ok(size)
        }
    }
}

/// The most that this process ever had, in bytes: the maker's tables of indices are in it.
fn memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes << 10)
}
