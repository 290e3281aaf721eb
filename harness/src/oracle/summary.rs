//! The summary of open feedback (R16).

use super::Answer;
use super::arguments::{Arguments, Failure, members_of};
use concord_canonical::caip;
use concord_canonical::json::Value;
use concord_canonical::summary::{Feedback, Query, summarize};
use concord_canonical::{Error, ErrorClass, limits};
use serde_json::json;
use std::borrow::Cow;

/// A client in a form in which equal clients are equal: EVM addresses in lower case.
type Client<'a> = Cow<'a, str>;

pub(super) fn summary(arguments: &Arguments<'_>) -> Answer {
    arguments.expect(&["feedback", "query"], &[])?;
    let entries = arguments.list("feedback")?;
    let feedback: Vec<_> = (entries.iter().enumerate())
        .map(|(at, entry)| {
            let name = format!("feedback[{at}]");
            let entry = members_of(&name, entry).and_then(|members| read_feedback(&members));
            entry.map_err(|failure| inside(&name, failure))
        })
        .collect::<Result<_, _>>()?;
    let query = arguments.members("query")?;
    let inside_query = |failure| inside("query", failure);
    query
        .expect_members(&["clients", "tag1", "tag2"], &[])
        .map_err(inside_query)?;
    let clients = read_clients(&query).map_err(inside_query)?;
    let summary = summarize(
        &feedback,
        &Query {
            clients: &clients,
            tag1: query.text("tag1").map_err(inside_query)?,
            tag2: query.text("tag2").map_err(inside_query)?,
        },
    )?;
    Ok(json!({
        "count": summary.count,
        "value": summary.value.to_string(),
        "value_decimals": summary.decimals,
    }))
}

fn read_feedback<'a>(entry: &Arguments<'a>) -> Result<Feedback<'a, Client<'a>>, Failure> {
    entry.expect_members(
        &[
            "client",
            "value",
            "value_decimals",
            "tag1",
            "tag2",
            "revoked",
        ],
        &[],
    )?;
    Ok(Feedback {
        client: client(entry.text("client")?),
        value: entry.int128("value")?,
        decimals: decimals(entry)?,
        tag1: entry.text("tag1")?,
        tag2: entry.text("tag2")?,
        is_revoked: entry.flag("revoked")?,
    })
}

/// Decimals beyond a uint8 break the same rule as those beyond 18 (R16).
fn decimals(entry: &Arguments<'_>) -> Result<u8, Failure> {
    let decimals = entry.uint64("value_decimals")?;
    u8::try_from(decimals).map_err(|_| {
        Error::DecimalsOutOfRange {
            decimals,
            limit: limits::DECIMALS_MAX,
        }
        .into()
    })
}

fn read_clients<'a>(query: &Arguments<'a>) -> Result<Vec<Client<'a>>, Failure> {
    let named = |(at, value): (usize, &'a Value<'a>)| match value.as_str() {
        Some(text) => Ok(client(text)),
        None => Err(Failure::bad_request(format!(
            "clients[{at}] is not a string"
        ))),
    };
    query
        .list("clients")?
        .iter()
        .enumerate()
        .map(named)
        .collect()
}

fn client(text: &str) -> Client<'_> {
    match caip::parse_evm_address("client", text) {
        Ok(_) => text.to_ascii_lowercase().into(),
        Err(_) => text.into(),
    }
}

/// The same failure, with the place it happened in.
fn inside(place: &str, failure: Failure) -> Failure {
    let class: ErrorClass = failure.class;
    let message = match failure.message.starts_with(place) {
        true => failure.message,
        false => format!("{place}: {}", failure.message),
    };
    Failure { class, message }
}
