//! The event log as lines of JSON, for other databases and queues.
mod event;

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
use event::hexadecimal;
use serde_json::json;
use std::io::{self, BufWriter, ErrorKind, Write};

/// Events that are read at once: the store is free between two reads, however slow the reader is.
const AT_ONCE: usize = 4_096;

/// Prints each event in the order of its chain.
pub fn export(options: &ExportOptions) -> Result<u8, CliError> {
    let Format::Ndjson = options.to;
    let mut store = verify::open(&options.store)?;
    let chosen = chosen(&mut store, options)?;
    let mut out = BufWriter::new(io::stdout().lock());
    for deployed in chosen {
        match write_all(&mut store, &deployed, options, &mut out) {
            Err(CliError::Output(error)) if error.kind() == ErrorKind::BrokenPipe => break,
            done => done?,
        }
    }
    Ok(FINE)
}

/// A position is of one deployment.
fn chosen(store: &mut Store<Database>, options: &ExportOptions) -> Result<Vec<Deployed>, CliError> {
    let mut all = store.deployments()?;
    let is = |wanted: &Option<String>, found: &str| {
        wanted
            .as_ref()
            .is_none_or(|it| it.eq_ignore_ascii_case(found))
    };
    all.retain(|it| is(&options.chain, &it.chain) && is(&options.registry, &it.registry));
    match (all.len(), options.after) {
        (0, _) => Err(CliError::Usage(
            "the store has no such deployment: see status".into(),
        )),
        (2.., Some(_)) => Err(CliError::Usage(
            "--after is a position in one deployment: add --chain and --registry".into(),
        )),
        _ => Ok(all),
    }
}

fn write_all(
    store: &mut Store<Database>,
    deployed: &Deployed,
    options: &ExportOptions,
    out: &mut impl Write,
) -> Result<(), CliError> {
    let Some(cursor) = store.cursor(deployed.id)? else {
        return Ok(());
    };
    // What is written cannot be taken back, so a block that still can be is left out.
    let last = match options.unfinal {
        true => cursor.head.number,
        false => match cursor.final_number {
            Some(last) => last.min(cursor.head.number),
            None => return Ok(()),
        },
    };
    let mut after = options.after;
    loop {
        let events = store.events_after(deployed.id, after, last, AT_ONCE)?;
        for event in &events {
            let line = line(deployed, event)?;
            writeln!(out, "{line}").map_err(CliError::Output)?;
        }
        match events.last() {
            Some(event) if events.len() == AT_ONCE => after = Some(event.place),
            _ => return out.flush().map_err(CliError::Output),
        }
    }
}

fn line(deployed: &Deployed, event: &IndexedEvent) -> Result<serde_json::Value, CliError> {
    let (name, fields) = event::render(&event.event).ok_or_else(|| {
        let place = event.place;
        CliError::Usage(format!(
            "the event at {place} is of a later version: update"
        ))
    })?;
    let transaction = match event.transaction {
        TransactionId::Evm(hash) => hexadecimal(&hash),
        TransactionId::Svm(signature) => bs58::encode(signature).into_string().into(),
    };
    Ok(json!({
        "position": event.place.to_string(),
        "chain": deployed.chain,
        "identityRegistry": deployed.registry,
        "registry": event.registry.to_string(),
        "block": event.place.block().to_string(),
        "transaction": transaction,
        "time": event.time,
        "event": name,
        "fields": fields,
    }))
}

/// A place that an earlier export ended with.
pub fn position(text: &str) -> Result<Place, String> {
    let mut bytes = [0; Place::LENGTH];
    match hex::decode_to_slice(text, &mut bytes) {
        Ok(()) => Ok(Place::from_bytes(bytes)),
        Err(_) => Err("expected the position of an exported event: 48 hex digits".to_owned()),
    }
}
