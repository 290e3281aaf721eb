//! Lines of JSON on stdout.
use super::{CliError, Resumption, Row, last_block, read};
use crate::{
    cli::arguments::ExportOptions,
    store::{Database, Deployed, Store},
};
use serde_json::json;
use std::io::{self, BufWriter, ErrorKind, Write};

/// Prints each event in the order of its chain.
pub fn print(
    store: &mut Store<Database>,
    chosen: &[Deployed],
    options: &ExportOptions,
) -> Result<(), CliError> {
    if options.out.is_some() {
        let words = "--out is for --to parquet: lines of JSON go to stdout";
        return Err(CliError::Usage(words.into()));
    }
    let mut out = BufWriter::new(io::stdout().lock());
    for deployed in chosen {
        match print_all(store, deployed, options, &mut out) {
            Err(CliError::Output(error)) if error.kind() == ErrorKind::BrokenPipe => break,
            done => done?,
        }
    }
    Ok(())
}

fn print_all(
    store: &mut Store<Database>,
    deployed: &Deployed,
    options: &ExportOptions,
    out: &mut impl Write,
) -> Result<(), CliError> {
    let after = options.after.as_ref();
    if let Some(after) = after {
        after.check(store, deployed)?;
    }
    let Some(last) = last_block(store, deployed, options.unfinal)? else {
        return Ok(());
    };
    let mut events = after.map_or(0, |it| it.events);
    read(
        store,
        deployed,
        after.map(|it| it.place),
        last,
        &mut |row| {
            events += 1;
            writeln!(out, "{}", line(&row, events)).map_err(CliError::Output)
        },
    )?;
    out.flush().map_err(CliError::Output)
}

/// `events`: how many there are up to this one.
fn line(row: &Row<'_>, events: u64) -> serde_json::Value {
    json!({
        "position": row.place.to_string(),
        "cursor": Resumption::after(row.place, events, &row.transaction).to_string(),
        "chain": row.deployed.chain,
        "identityRegistry": row.deployed.registry,
        "registry": row.registry,
        "block": row.place.block().to_string(),
        "transaction": row.transaction,
        "time": row.time,
        "event": row.event,
        "fields": row.fields,
    })
}
