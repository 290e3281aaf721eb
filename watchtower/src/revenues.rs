//! What the operator settled for an agent, as a facilitator knows it (BP): the one signal that no probe gives.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use concord_chain::fetch::{FetchError, Fetcher};
use concord_x402::feedback::FileStore;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::json;

use crate::{
    Agent, Draft, Settings, Store, Tag, WatchtowerError, Window,
    signal::{Drafting, window_of},
    target::registry_key,
};

/// Bytes of a file.
const FILE_MAX: u64 = 1 << 20;
/// Tokens of a dollar have at most 18 decimals.
const DECIMALS_MAX: u8 = 18;
/// What is published has two decimals.
const CENT_DECIMALS: u8 = 2;

/// Where it is said what this operator settled.
#[derive(Clone)]
pub enum RevenueSource {
    /// A JSON file: a list of [`Revenues`].
    File(PathBuf),
    /// `GET /revenues` of the operator's own aggregator, with what fetches it.
    Url(String, Fetcher),
}

/// What the operator settled for one agent in one window, as `GET /revenues` of an aggregator answers.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Revenues {
    /// The identity registry, CAIP-10.
    pub agent_registry: String,
    /// The agent's id.
    pub agent_id: String,
    /// When it was paid.
    pub window: Paid,
    /// Whether the window has ended, so that nothing will be added.
    pub is_complete: bool,
    /// By token.
    pub revenues: Vec<Revenue>,
}

/// The window of payments.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Paid {
    /// Its first second, in unix seconds.
    pub from: u64,
    /// The first second after it, in unix seconds.
    pub to: u64,
}

/// What was paid in one token.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Revenue {
    /// The token, CAIP-10.
    pub asset: String,
    /// How many payments there are.
    pub payments: u64,
    /// How many paid.
    pub payers: u64,
    /// In the token's smallest unit, as decimal text.
    pub amount: String,
    /// How the amount is to be read.
    pub signal: Unit,
}

/// How an amount is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Unit {
    /// How many of its digits follow the point.
    pub value_decimals: u8,
}

impl RevenueSource {
    /// Reads what was settled for an agent in a window; `None` if that is nowhere said.
    ///
    /// # Errors
    /// [`WatchtowerError::Revenues`] with the place, and the field that is wrong.
    pub async fn read(
        &self,
        agent: &Agent,
        window: Window,
    ) -> Result<Option<Revenues>, WatchtowerError> {
        let found = match self {
            Self::File(path) => {
                let all: Vec<Revenues> = self.parse(&self.read_file(path)?)?;
                all.into_iter().find(|it| it.is_of(agent, window))
            }
            Self::Url(url, fetcher) => match fetcher.fetch(&question(url, agent, window)).await {
                Ok(fetched) => Some(self.parse(&fetched.bytes)?),
                Err(FetchError::Status { status: 404, .. }) => None, // not served there
                Err(error) => return Err(self.unusable(error)),
            },
        };
        match found {
            Some(found) if !found.is_of(agent, window) => {
                Err(self.unusable("the answer is about another agent or window"))
            }
            Some(found) if !found.is_complete => Err(self.unusable("isComplete is false")),
            found => Ok(found),
        }
    }

    fn parse<T: DeserializeOwned>(&self, bytes: &[u8]) -> Result<T, WatchtowerError> {
        let mut reader = serde_json::Deserializer::from_slice(bytes);
        let read = serde_path_to_error::deserialize(&mut reader);
        read.map_err(|error| self.unusable(error))
    }

    fn read_file(&self, path: &Path) -> Result<Vec<u8>, WatchtowerError> {
        let found = fs::metadata(path).map_err(|error| self.unusable(error))?;
        if found.len() > FILE_MAX {
            let length = found.len();
            return Err(self.unusable(format!("{length} bytes, expected at most {FILE_MAX}")));
        }
        fs::read(path).map_err(|error| self.unusable(error))
    }

    /// A URL is not shown, because it may contain a key.
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

/// What an aggregator is asked.
fn question(url: &str, agent: &Agent, window: Window) -> String {
    let registration = agent.registration();
    let (registry, id) = (&registration.agent_registry, &registration.agent_id);
    let (kind, end) = (window.kind.name(), window.end());
    format!("{url}?agentRegistry={registry}&agentId={id}&window={kind}&end={end}")
}

impl Revenues {
    fn is_of(&self, agent: &Agent, window: Window) -> bool {
        let named = Agent::parse(&self.agent_registry, &self.agent_id);
        let is_agent = named.is_ok_and(|it| it.key() == agent.key());
        is_agent && (self.window.from, self.window.to) == (window.start, window.end())
    }
}

/// The dollars of several tokens, in cents, rounded down.
///
/// # Errors
/// Names the field that is malformed.
pub fn sum_in_cents(revenues: &[&Revenue]) -> Result<i128, String> {
    let mut sum: u128 = 0;
    for revenue in revenues {
        let (amount, decimals) = (&revenue.amount, revenue.signal.value_decimals);
        if decimals > DECIMALS_MAX {
            return Err(format!(
                "valueDecimals is {decimals}, expected at most {DECIMALS_MAX}"
            ));
        }
        let units: u128 = (amount.parse())
            .map_err(|_| format!("amount is {amount:?}, expected a decimal below 2^128"))?;
        let scaled = units.checked_mul(10u128.pow(u32::from(DECIMALS_MAX - decimals)));
        let added = scaled.and_then(|it| sum.checked_add(it));
        sum = added.ok_or_else(|| format!("amount is {amount}, which is beyond all dollars"))?;
    }
    let cents = sum / 10u128.pow(u32::from(DECIMALS_MAX - CENT_DECIMALS));
    i128::try_from(cents).map_err(|error| error.to_string())
}

/// Writes down the revenues of every agent in the windows that ended last, each once (R60). `dollars`: the tokens
/// that count as a dollar, CAIP-10. Returns how many are new.
///
/// # Errors
/// [`WatchtowerError`]. Then all are asked for again at the next call.
pub async fn revenue_signals(
    store: &Store,
    settings: &Settings,
    (source, dollars): (&RevenueSource, &[String]),
    agents: &[Agent],
    accounts: &BTreeMap<String, String>,
    files: &dyn FileStore,
    now: u64,
) -> Result<usize, WatchtowerError> {
    let dollars: Vec<String> = dollars.iter().map(|it| registry_key(it)).collect();
    let mut count = 0;
    for kind in &settings.windows {
        let name = format!("revenues {}", kind.name());
        let Some(window) = Window::last_ended(*kind, now) else {
            continue;
        };
        if store.number(&name)?.is_some_and(|it| it >= window.end()) {
            continue;
        }
        let mut drafts = Vec::new();
        for agent in agents {
            let Some(client) = accounts.get(&agent.registry_key()) else {
                continue;
            };
            let Some(revenues) = source.read(agent, window).await? else {
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
            drafts.extend(of_agent(&drafting, &revenues, &dollars)?);
        }
        count += store.intend_as(&name, window.end(), &drafts, now)?;
    }
    Ok(count)
}

/// `None` if nothing was settled for the agent.
fn of_agent(
    drafting: &Drafting<'_>,
    revenues: &Revenues,
    dollars: &[String],
) -> Result<Option<Draft>, WatchtowerError> {
    let all = revenues.revenues.iter();
    let counted: Vec<&Revenue> = all
        .filter(|it| dollars.contains(&registry_key(&it.asset)))
        .collect();
    if counted.is_empty() {
        return Ok(None);
    }
    let cents = sum_in_cents(&counted).map_err(|reason| WatchtowerError::Revenues {
        place: format!("agent {}", drafting.agent.key()),
        reason,
    })?;
    let tokens = counted.iter().map(|it| {
        let decimals = it.signal.value_decimals;
        json!({
            "token": it.asset, "amount": it.amount, "decimals": decimals, "payments": it.payments, "payers": it.payers,
        })
    });
    let statement = json!({
        "window": window_of(drafting.window),
        "scope": "payments that this operator settled",
        "unit": "US dollar",
        "tokens": tokens.collect::<Vec<_>>(),
    });
    let value = (cents, CENT_DECIMALS);
    drafting.draft(Tag::Revenues, value, &statement).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn revenue(amount: &str, value_decimals: u8) -> Revenue {
        Revenue {
            asset: "eip155:84532:0x036CbD53842c5426634e7929541eC2318f3dCF7e".to_owned(),
            payments: 3,
            payers: 2,
            amount: amount.to_owned(),
            signal: Unit { value_decimals },
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
                .map(|(amount, it)| revenue(amount, *it))
                .collect();
            let all: Vec<_> = revenues.iter().collect();
            assert_eq!(sum_in_cents(&all), cents, "{totals:?}");
        }
    }

    #[test]
    fn what_is_no_amount_is_named() {
        for (total, decimals, words) in [
            ("1.5", 6, "amount is \"1.5\""),
            ("-1", 6, "amount is \"-1\""),
            ("", 6, "amount is \"\""),
            ("1", 19, "valueDecimals is 19"),
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
