//! The event log for other databases and queues: lines of JSON, or Parquet files.
mod event;
mod folder;
mod ndjson;
mod parquet;
mod resumption;

pub use resumption::Resumption;

use super::{
    CliError, FINE,
    arguments::{ExportOptions, Format},
    verify,
};
use crate::{
    Place,
    batch::IndexedEvent,
    store::{Database, Deployed, Store},
};
use concord_registry::event::TransactionId;
use serde_json::Value;

/// Events that are read at once: the store is free between two reads, however slow the reader is.
const AT_ONCE: usize = 4_096;

/// An event, as every format has it.
struct Row<'a> {
    deployed: &'a Deployed,
    place: Place,
    registry: String,
    /// Hexadecimal, or base58 on Solana.
    transaction: String,
    /// Unix seconds.
    time: i64,
    event: &'static str,
    fields: Value,
}

/// Writes each event in the order of its chain.
pub fn export(options: &ExportOptions) -> Result<u8, CliError> {
    let mut store = verify::open(&options.store)?;
    let chosen = chosen(&mut store, options)?;
    match options.to {
        Format::Ndjson => ndjson::print(&mut store, &chosen, options)?,
        Format::Parquet => folder::write(&mut store, &chosen, options)?,
    }
    Ok(FINE)
}

/// A cursor is of one deployment.
fn chosen(store: &mut Store<Database>, options: &ExportOptions) -> Result<Vec<Deployed>, CliError> {
    let mut all = store.deployments()?;
    let is = |wanted: &Option<String>, found: &str| {
        wanted
            .as_ref()
            .is_none_or(|it| it.eq_ignore_ascii_case(found))
    };
    all.retain(|it| is(&options.chain, &it.chain) && is(&options.registry, &it.registry));
    match (all.len(), &options.after) {
        (0, _) => Err(CliError::Usage(
            "the store has no such deployment: see status".into(),
        )),
        (2.., Some(_)) => Err(CliError::Usage(
            "--after goes on in one deployment: add --chain and --registry".into(),
        )),
        _ => Ok(all),
    }
}

/// What is written cannot be taken back, so a block that still can be is left out. `None` if no block is final.
fn last_block(
    store: &mut Store<Database>,
    deployed: &Deployed,
    unfinal: bool,
) -> Result<Option<u64>, CliError> {
    let cursor = store.cursor(deployed.id)?;
    Ok(cursor.and_then(|cursor| {
        if unfinal {
            Some(cursor.head.number)
        } else {
            cursor.final_number.map(|it| it.min(cursor.head.number))
        }
    }))
}

/// Passes on the events after a place, through a block.
fn read(
    store: &mut Store<Database>,
    deployed: &Deployed,
    mut after: Option<Place>,
    last: u64,
    each: &mut dyn FnMut(Row<'_>) -> Result<(), CliError>,
) -> Result<(), CliError> {
    loop {
        let events = store.events_after(deployed.id, after, last, AT_ONCE)?;
        for event in &events {
            each(row(deployed, event)?)?;
        }
        match events.last() {
            Some(event) if events.len() == AT_ONCE => after = Some(event.place),
            _ => return Ok(()),
        }
    }
}

fn row<'a>(deployed: &'a Deployed, event: &IndexedEvent) -> Result<Row<'a>, CliError> {
    let (name, fields) = event::render(&event.event).ok_or_else(|| {
        let place = event.place;
        CliError::Usage(format!(
            "the event at {place} is of a later version: update"
        ))
    })?;
    Ok(Row {
        deployed,
        place: event.place,
        registry: event.registry.to_string(),
        transaction: transaction(event),
        time: event.time,
        event: name,
        fields,
    })
}

fn transaction(event: &IndexedEvent) -> String {
    match event.transaction {
        TransactionId::Evm(hash) => event::hexadecimal(&hash),
        TransactionId::Svm(signature) => bs58::encode(signature).into_string(),
    }
}

/// A place that an earlier export ended with.
fn position(text: &str) -> Result<Place, String> {
    let mut bytes = [0; Place::LENGTH];
    match hex::decode_to_slice(text, &mut bytes) {
        Ok(()) => Ok(Place::from_bytes(bytes)),
        Err(_) => Err("expected the position of an exported event: 48 hex digits".to_owned()),
    }
}
