//! The summary of open feedback (R16).
use super::{Answer, failure::Failure};
use alloc::borrow::Cow;
use alloc::{format, string::ToString, vec::Vec};
use concord_canonical::{Error, caip, limits, summary, value::Value};
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
pub(super) struct Summary<'a> {
    #[serde(borrow)]
    feedback: Vec<Feedback<'a>>,
    query: Query<'a>,
}

#[derive(Deserialize)]
struct Feedback<'a> {
    client: &'a str,
    value: i128,
    value_decimals: u64,
    tag1: &'a str,
    tag2: &'a str,
    revoked: bool,
}

#[derive(Deserialize)]
struct Query<'a> {
    #[serde(borrow)]
    clients: Vec<&'a str>,
    tag1: &'a str,
    tag2: &'a str,
}

/// A client in a form in which equal clients are equal: EVM addresses in lower case.
type Client<'a> = Cow<'a, str>;

impl<'a> Summary<'a> {
    pub fn answer(&self) -> Answer {
        let mut accumulator = summary::Accumulator::default();
        for entry in self.matching()? {
            accumulator.add(entry.value, entry.decimals)?;
        }
        let summary = accumulator.finish();
        Ok(json!({
            "count": summary.count,
            "value": summary.value.to_string(),
            "value_decimals": summary.decimals,
        }))
    }

    /// The entries that enter the summary, once for each time that their client is listed. Every
    /// entry is checked, whether or not it matches.
    pub(super) fn matching(&self) -> Result<Vec<summary::Feedback<'a, Client<'a>>>, Failure> {
        if self.query.clients.is_empty() {
            return Err(Error::EmptyClients.into());
        }
        let clients: Vec<_> = self.query.clients.iter().map(|it| client(it)).collect();
        let query = summary::Query {
            clients: &clients,
            tag1: self.query.tag1,
            tag2: self.query.tag2,
        };
        let mut matching = Vec::new();
        for (at, feedback) in self.feedback.iter().enumerate() {
            let entry = feedback.entry();
            let entry =
                entry.map_err(|error| Failure::from(error).inside(&format!("feedback[{at}]")))?;
            let listed = clients.iter().filter(|client| **client == entry.client);
            if query.matches(&entry) {
                matching.extend(listed.map(|_| entry.clone()));
            }
        }
        Ok(matching)
    }
}

impl<'a> Feedback<'a> {
    fn entry(&self) -> Result<summary::Feedback<'a, Client<'a>>, Error> {
        // Decimals beyond a uint8 break the same rule as those beyond 18 (R16).
        let decimals = self.value_decimals;
        let decimals = u8::try_from(decimals).map_err(|_| Error::DecimalsOutOfRange {
            decimals,
            limit: limits::DECIMALS_MAX,
        })?;
        Value::new(self.value, decimals)?; // R16
        Ok(summary::Feedback {
            client: client(self.client),
            value: self.value,
            decimals,
            tag1: self.tag1,
            tag2: self.tag2,
            is_revoked: self.revoked,
        })
    }
}

/// With `0x` or without, as every EVM address of a request.
fn client(text: &str) -> Client<'_> {
    let with_prefix = match text.len() {
        40 => format!("0x{text}"),
        _ => text.into(),
    };
    match caip::parse_evm_address("client", &with_prefix) {
        Ok(_) => with_prefix.to_ascii_lowercase().into(),
        Err(_) => text.into(),
    }
}
