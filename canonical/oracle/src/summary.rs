//! The summary of open feedback (R16).
use super::{Answer, failure::Failure};
use alloc::borrow::Cow;
use alloc::{format, string::ToString, vec::Vec};
use concord_canonical::{Error, caip, limits, summary};
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

impl Summary<'_> {
    pub fn answer(&self) -> Answer {
        let entries = self.feedback.iter().enumerate().map(|(at, feedback)| {
            let entry = feedback.entry();
            entry.map_err(|error| Failure::from(error).inside(&format!("feedback[{at}]")))
        });
        let entries: Vec<_> = entries.collect::<Result<_, _>>()?;
        let clients: Vec<_> = self.query.clients.iter().map(|it| client(it)).collect();
        let query = summary::Query {
            clients: &clients,
            tag1: self.query.tag1,
            tag2: self.query.tag2,
        };
        let summary = summary::summarize(&entries, &query)?;
        Ok(json!({
            "count": summary.count,
            "value": summary.value.to_string(),
            "value_decimals": summary.decimals,
        }))
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

fn client(text: &str) -> Client<'_> {
    match caip::parse_evm_address("client", text) {
        Ok(_) => text.to_ascii_lowercase().into(),
        Err(_) => text.into(),
    }
}
