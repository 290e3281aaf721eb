//! What the operator settled for an agent, as a facilitator knows it (BP): the one signal that no probe gives.

use std::{collections::BTreeMap, fs, path::PathBuf};

use concord_chain::fetch::Fetcher;
use concord_x402::feedback::FileStore;
use serde::Deserialize;
use serde_json::json;

use crate::{
    Agent, Draft, Settings, Store, Tag, WatchtowerError, Window,
    evidence::time,
    signal::{Drafting, window_of},
};

/// Bytes of a list.
const LIST_MAX: u64 = 1 << 20;
/// Tokens of a dollar have at most 18 decimals.
const DECIMALS_MAX: u8 = 18;
/// What is published has two decimals.
const CENT_DECIMALS: u8 = 2;

/// Where the operator's settled payments are listed.
#[derive(Clone)]
pub enum RevenueSource {
    /// A JSON file.
    File(PathBuf),
    /// A URL of the operator's own, with what fetches it.
    Url(String, Fetcher),
}

/// What the operator settled for one agent in one token.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Revenue {
    /// The identity registry, CAIP-10.
    pub agent_registry: String,
    /// The agent's id.
    pub agent_id: String,
    /// The payments' chain, CAIP-2.
    pub network: String,
    /// The token: its address or mint.
    pub asset: String,
    /// How many digits of `total` follow the point.
    pub decimals: u8,
    /// In the token's smallest unit, as decimal text.
    pub total: String,
    /// Unix seconds of the first payment.
    pub from: u64,
    /// Unix seconds of the last payment.
    pub to: u64,
    /// How many payments there are.
    pub count: u64,
}

#[derive(Deserialize)]
struct List {
    revenues: Vec<Revenue>,
}

impl Revenue {
    /// The token, CAIP-10.
    #[must_use]
    pub fn token(&self) -> String {
        let token = format!("{}:{}", self.network, self.asset);
        crate::target::registry_key(&token)
    }
}

impl RevenueSource {
    /// Reads the list.
    ///
    /// # Errors
    /// [`WatchtowerError::Revenues`] with the file or the host, and the field that is wrong.
    pub async fn read(&self) -> Result<Vec<Revenue>, WatchtowerError> {
        let (place, bytes) = match self {
            Self::File(path) => (path.display().to_string(), self.read_file(path)?),
            Self::Url(url, fetcher) => {
                let fetched = fetcher.fetch(url).await;
                let fetched = fetched.map_err(|error| self.unusable(error))?;
                (fetched.host.unwrap_or_default(), fetched.bytes)
            }
        };
        let mut reader = serde_json::Deserializer::from_slice(&bytes);
        let list: List = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
            let reason = error.to_string();
            WatchtowerError::Revenues { place, reason }
        })?;
        Ok(list.revenues)
    }

    fn read_file(&self, path: &PathBuf) -> Result<Vec<u8>, WatchtowerError> {
        let length = fs::metadata(path).map_err(|error| self.unusable(error))?;
        if length.len() > LIST_MAX {
            let length = length.len();
            return Err(self.unusable(format!("{length} bytes, expected at most {LIST_MAX}")));
        }
        fs::read(path).map_err(|error| self.unusable(error))
    }

    /// A URL may have a key in it, so that its host alone is shown, by the fetcher's words.
    fn unusable(&self, reason: impl ToString) -> WatchtowerError {
        let place = match self {
            Self::File(path) => path.display().to_string(),
            Self::Url(..) => "the configured URL".to_owned(),
        };
        WatchtowerError::Revenues {
            place,
            reason: reason.to_string(),
        }
    }
}

/// The dollars of several totals, in cents, rounded down.
///
/// # Errors
/// Names the field that is malformed.
pub fn sum_in_cents(revenues: &[&Revenue]) -> Result<i128, String> {
    let mut sum: u128 = 0;
    for revenue in revenues {
        let Revenue {
            total, decimals, ..
        } = revenue;
        if *decimals > DECIMALS_MAX {
            return Err(format!(
                "decimals is {decimals}, expected at most {DECIMALS_MAX}"
            ));
        }
        let units: u128 = (total.parse())
            .map_err(|_| format!("total is {total:?}, expected a decimal below 2^128"))?;
        let scaled = units.checked_mul(10u128.pow(u32::from(DECIMALS_MAX - decimals)));
        let added = scaled.and_then(|it| sum.checked_add(it));
        sum = added.ok_or_else(|| format!("total is {total}, which is beyond all dollars"))?;
    }
    let cents = sum / 10u128.pow(u32::from(DECIMALS_MAX - CENT_DECIMALS));
    i128::try_from(cents).map_err(|error| error.to_string())
}

/// Writes down the revenues of every agent for the windows that ended last, each once (R60). `dollars`: the tokens
/// that count as a dollar, CAIP-10. Returns how many are new.
///
/// # Errors
/// [`WatchtowerError`]. Then the list is read again at the next call.
pub async fn revenue_signals(
    store: &Store,
    settings: &Settings,
    (source, dollars): (&RevenueSource, &[String]),
    agents: &[Agent],
    accounts: &BTreeMap<String, String>,
    files: &dyn FileStore,
    now: u64,
) -> Result<usize, WatchtowerError> {
    let mut count = 0;
    for kind in &settings.windows {
        let name = format!("revenues {}", kind.name());
        let Some(window) = Window::last_ended(*kind, now) else {
            continue;
        };
        if store.number(&name)?.is_some_and(|it| it >= window.end()) {
            continue;
        }
        let mut revenues = source.read().await?;
        let dollars: Vec<String> = dollars
            .iter()
            .map(|it| crate::target::registry_key(it))
            .collect();
        revenues.retain(|it| dollars.contains(&it.token()));
        let mut drafts = Vec::new();
        for agent in agents {
            let Some(client) = accounts.get(&agent.registry_key()) else {
                continue;
            };
            let drafting = Drafting {
                agent,
                client,
                endpoint: "",
                window,
                now,
                files,
            };
            drafts.extend(of_agent(&drafting, &revenues)?);
        }
        count += store.intend_as(&name, window.end(), &drafts, now)?;
    }
    Ok(count)
}

/// `None` if nothing was settled for the agent.
fn of_agent(
    drafting: &Drafting<'_>,
    revenues: &[Revenue],
) -> Result<Option<Draft>, WatchtowerError> {
    let key = drafting.agent.key();
    let is_own = |it: &&Revenue| {
        Agent::parse(&it.agent_registry, &it.agent_id).is_ok_and(|agent| agent.key() == key)
    };
    let own: Vec<&Revenue> = revenues.iter().filter(is_own).collect();
    if own.is_empty() {
        return Ok(None);
    }
    let cents = sum_in_cents(&own).map_err(|reason| WatchtowerError::Revenues {
        place: format!("agent {key}"),
        reason,
    })?;
    let from = own.iter().map(|it| it.from).min().unwrap_or_default();
    let to = own.iter().map(|it| it.to).max().unwrap_or_default();
    let tokens = own.iter().map(
        |it| json!({ "token": it.token(), "decimals": it.decimals, "total": it.total, "payments": it.count }),
    );
    let statement = json!({
        "window": window_of(drafting.window),
        "scope": "payments that this operator settled",
        "unit": "US dollar",
        "firstPayment": time(from),
        "lastPayment": time(to),
        "tokens": tokens.collect::<Vec<_>>(),
    });
    let value = (cents, CENT_DECIMALS);
    drafting.draft(Tag::Revenues, value, &statement).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn revenue(total: &str, decimals: u8) -> Revenue {
        Revenue {
            agent_registry: "eip155:84532:0x8004A818BFB912233c491871b3d84c89A494BD9e".to_owned(),
            agent_id: "42".to_owned(),
            network: "eip155:84532".to_owned(),
            asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e".to_owned(),
            decimals,
            total: total.to_owned(),
            from: 1,
            to: 2,
            count: 3,
        }
    }

    #[test]
    fn dollars_of_several_tokens_add_up_and_are_rounded_down() {
        for (totals, cents) in [
            (&[("560000000", 6)][..], Ok(56_000)),
            (&[("560009999", 6)], Ok(56_000)),
            (&[("9999", 6), ("1", 6)], Ok(1)),
            (
                &[("1000000", 6), ("2000000000000000000", 18), ("3", 0)],
                Ok(600),
            ),
            (&[("0", 6)], Ok(0)),
        ] {
            let revenues: Vec<_> = totals
                .iter()
                .map(|(total, it)| revenue(total, *it))
                .collect();
            let all: Vec<_> = revenues.iter().collect();
            assert_eq!(sum_in_cents(&all), cents, "{totals:?}");
        }
    }

    #[test]
    fn what_is_no_amount_is_named() {
        for (total, decimals, words) in [
            ("1.5", 6, "total is \"1.5\""),
            ("-1", 6, "total is \"-1\""),
            ("", 6, "total is \"\""),
            ("1", 19, "decimals is 19"),
            (
                "340282366920938463463374607431768211455",
                0,
                "beyond all dollars",
            ),
        ] {
            let error = sum_in_cents(&[&revenue(total, decimals)]).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }
}
