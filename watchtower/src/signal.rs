//! From samples to signals: what is to be published is on disk before anything of it is signed (R60).

use std::collections::BTreeMap;

use concord_canonical::hash::keccak256;
#[cfg(feature = "cli")]
use concord_canonical::limits::ENDPOINT_MAX;
use concord_x402::feedback::{FeedbackContent, FileStore, Submission};
use serde_json::{Value, json};

use crate::{
    Agent, Settings, Store, Tally, WatchtowerError, Window,
    evidence::{Evidence, time},
};

/// What a signal measures: BP's `tag1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tag {
    /// Whether the service answered at least once: 1 or 0.
    Reachable,
    /// Percentage of probes that were answered, with two decimals, rounded down.
    Uptime,
    /// Percentage of probes that succeeded, of those that say so, rounded down.
    SuccessRate,
    /// Mean milliseconds of the probes that were answered.
    ResponseTime,
    /// Whether the service's host proves the agent (R43): 1 or 0.
    OwnerVerified,
    /// Dollars that the operator settled for the agent in the window, with two decimals, rounded down.
    Revenues,
}

impl Tag {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Reachable,
        Self::Uptime,
        Self::SuccessRate,
        Self::ResponseTime,
        Self::OwnerVerified,
        Self::Revenues,
    ];
    /// Those of an endpoint.
    pub const OF_ENDPOINT: [Self; 5] = [
        Self::Reachable,
        Self::Uptime,
        Self::SuccessRate,
        Self::ResponseTime,
        Self::OwnerVerified,
    ];

    /// What `tag1` says.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reachable => "reachable",
            Self::Uptime => "uptime",
            Self::SuccessRate => "successRate",
            Self::ResponseTime => "responseTime",
            Self::OwnerVerified => "ownerVerified",
            Self::Revenues => "revenues",
        }
    }

    /// The tag with this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }

    /// Value and decimals, as BP's table has them; `None` if the samples do not say.
    #[must_use]
    pub fn value(self, tally: &Tally) -> Option<(i128, u8)> {
        let share = |part: u64, whole: u64, scale: u64| {
            let share = u128::from(part) * u128::from(scale);
            i128::try_from(share.checked_div(whole.into())?).ok()
        };
        match self {
            Self::Reachable => (tally.samples > 0).then_some((i128::from(tally.answered > 0), 0)),
            Self::Uptime => Some((share(tally.answered, tally.samples, 10_000)?, 2)),
            Self::SuccessRate => Some((share(tally.succeeded, tally.judged, 100)?, 0)),
            Self::ResponseTime => {
                let sum = tally.millis?.sum.saturating_add(tally.answered / 2);
                Some((i128::from(sum.checked_div(tally.answered)?), 0))
            }
            Self::OwnerVerified => tally.owned.map(|it| (i128::from(it), 0)),
            Self::Revenues => None,
        }
    }
}

/// A signal that is not on disk yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// [`Agent::key`].
    pub agent: String,
    /// The service; empty for what is about the agent.
    pub endpoint: String,
    /// What it measures.
    pub tag: Tag,
    /// When.
    pub window: Window,
    /// [`Agent::registry_key`], which names the publisher.
    pub registry: String,
    /// What the registry is sent.
    pub submission: Submission,
    /// The evidence file, byte for byte.
    pub file: String,
}

/// Who rates whom, and where evidence is kept.
pub(crate) struct Drafting<'a> {
    pub agent: &'a Agent,
    /// The account that publishes, CAIP-10.
    pub client: &'a str,
    pub endpoint: &'a str,
    pub window: Window,
    /// Unix seconds.
    pub now: u64,
    pub files: &'a dyn FileStore,
}

impl Drafting<'_> {
    /// A signal with its evidence file, whose bytes never change from here on.
    pub fn draft(
        &self,
        tag: Tag,
        (value, decimals): (i128, u8),
        statement: &Value,
    ) -> Result<Draft, WatchtowerError> {
        let registration = self.agent.registration();
        let evidence = Evidence {
            registration,
            client: self.client,
            endpoint: self.endpoint,
            tags: [tag.name(), self.window.kind.name()],
            value,
            decimals,
            created_at: self.now,
            statement,
        };
        let file = evidence.to_canonical()?;
        let submission = Submission {
            agent_id: registration.agent_id.to_string(),
            tag1: tag.name().to_owned(),
            tag2: self.window.kind.name().to_owned(), // R60
            content: FeedbackContent::Open {
                value: value.to_string(),
                decimals,
                endpoint: self.endpoint.to_owned(),
            },
            uri: self.files.uri(file.as_bytes()),
            hash: format!("0x{}", hex::encode(keccak256(file.as_bytes()))),
        };
        Ok(Draft {
            agent: self.agent.key(),
            endpoint: self.endpoint.to_owned(),
            tag,
            window: self.window,
            registry: self.agent.registry_key(),
            submission,
            file,
        })
    }
}

/// Writes down the signals of every window that has ended, each once (R60). Returns how many are new.
///
/// `accounts`: the account that publishes at each registry ([`Agent::registry_key`]). `now`: unix seconds.
///
/// # Errors
/// [`WatchtowerError::Store`].
pub fn signals_of_ended_windows(
    store: &Store,
    settings: &Settings,
    agents: &[Agent],
    accounts: &BTreeMap<String, String>,
    files: &dyn FileStore,
    now: u64,
) -> Result<usize, WatchtowerError> {
    let watched: BTreeMap<String, &Agent> = agents.iter().map(|it| (it.key(), it)).collect();
    let mut count = 0;
    for kind in &settings.windows {
        // a probe that began in the window may still be under way
        let settled = now.saturating_sub(settings.timeout.as_secs().saturating_mul(4));
        let Some(last) = Window::last_ended(*kind, settled) else {
            continue;
        };
        let Some(mut start) = first_start(store, *kind)? else {
            continue;
        };
        while start <= last.start {
            let window = Window { kind: *kind, start };
            let mut drafts = Vec::new();
            for (agent, endpoint) in store.sampled(window)? {
                let watched = watched.get(&agent);
                let client = watched.and_then(|it| accounts.get(&it.registry_key()));
                let (Some(agent), Some(client)) = (watched, client) else {
                    continue; // not configured any more
                };
                let drafting = Drafting {
                    agent,
                    client,
                    endpoint: &endpoint,
                    window,
                    now,
                    files,
                };
                drafts.extend(of_endpoint(store, settings, &drafting)?);
            }
            count += store.intend(window, &drafts, now)?;
            start = window.end();
        }
    }
    Ok(count)
}

/// Where the first window begins that was not looked at.
fn first_start(store: &Store, kind: crate::WindowKind) -> Result<Option<u64>, WatchtowerError> {
    if let Some(until) = store.intended_until(kind)? {
        return Ok(Some(until));
    }
    let first = store.first_sample()?;
    Ok(first.map(|at| Window::containing(kind, at).start))
}

/// A signal such as those of an agent, to ask what one costs. Its endpoint is as long as one may be (R17).
#[cfg(feature = "cli")]
pub(crate) fn sample(
    agent: &Agent,
    client: &str,
    files: &dyn FileStore,
) -> Result<Submission, WatchtowerError> {
    let endpoint = format!("https://{}", "a".repeat(ENDPOINT_MAX - "https://".len()));
    let drafting = Drafting {
        agent,
        client,
        endpoint: &endpoint,
        window: Window::containing(crate::WindowKind::Week, 0),
        now: 0,
        files,
    };
    let draft = drafting.draft(Tag::Uptime, (10_000, 2), &json!({}))?;
    Ok(draft.submission)
}

fn of_endpoint(
    store: &Store,
    settings: &Settings,
    drafting: &Drafting<'_>,
) -> Result<Vec<Draft>, WatchtowerError> {
    let window = drafting.window;
    let samples = store.samples(&drafting.agent.key(), drafting.endpoint, window)?;
    let tally = Tally::of(&samples);
    let (agent, endpoint) = (drafting.agent.key(), drafting.endpoint);
    let least = settings.samples_min(window.kind);
    if tally.samples < least {
        let (samples, window) = (tally.samples, window.kind.name());
        tracing::warn!(agent, endpoint, window, samples, least, "too few samples");
        return Ok(Vec::new());
    }
    let statement = statement(settings, window, &tally);
    let mut drafts = Vec::new();
    for tag in &settings.tags {
        let Some(value) = tag.value(&tally) else {
            continue;
        };
        match drafting.draft(*tag, value, &statement) {
            Ok(draft) => drafts.push(draft),
            Err(error) => tracing::error!(%error, agent, endpoint, tag = tag.name(), "no signal"),
        }
    }
    Ok(drafts)
}

/// What an evidence file says beyond the rating.
fn statement(settings: &Settings, window: Window, tally: &Tally) -> Value {
    let mut statement = json!({
        "window": window_of(window),
        "probe": tally.kind,
        "intervalSeconds": settings.interval.as_secs(),
        "timeoutSeconds": settings.timeout.as_secs(),
        "samples": tally.samples,
        "firstSample": time(tally.first),
        "lastSample": time(tally.last),
        "answered": tally.answered,
        "judged": tally.judged,
        "succeeded": tally.succeeded,
        "findings": tally.findings,
    });
    if let Some(millis) = tally.millis {
        statement["milliseconds"] =
            json!({ "least": millis.least, "most": millis.most, "sum": millis.sum });
    }
    statement
}

pub(crate) fn window_of(window: Window) -> Value {
    json!({ "kind": window.kind.name(), "start": time(window.start), "end": time(window.end()) })
}

#[cfg(test)]
mod tests {
    use super::{Tag, Tally};
    use crate::Sample;

    fn sample(at: u64, answered: bool, succeeded: Option<bool>, millis: u64) -> Sample {
        Sample {
            at,
            kind: "http".to_owned(),
            answered,
            succeeded,
            millis,
            owned: None,
            finding: "as promised".to_owned(),
        }
    }

    fn values(samples: &[Sample]) -> [Option<(i128, u8)>; 5] {
        let tally = Tally::of(samples);
        Tag::OF_ENDPOINT.map(|tag| tag.value(&tally))
    }

    /// BP's examples: 1, 99.77 % as 9977 with two decimals, 89 %, 560 ms.
    #[test]
    fn values_are_in_the_units_of_the_best_practices() {
        let mut samples: Vec<_> = (0..10_000)
            .map(|at| sample(at, at >= 23, Some(at >= 1_100), 560))
            .collect();
        samples[9_999].owned = Some(true);
        let expected = [(1, 0), (9_977, 2), (89, 0), (560, 0), (1, 0)];
        assert_eq!(values(&samples), expected.map(Some));
    }

    #[test]
    fn a_percentage_is_rounded_down_and_a_time_to_the_nearest() {
        let samples: Vec<_> = (0..3)
            .map(|at| sample(at, at > 0, Some(at > 0), 10 + at))
            .collect();
        let [_, uptime, success, time, _] = values(&samples);
        assert_eq!((uptime, success), (Some((6_666, 2)), Some((66, 0))));
        assert_eq!(time, Some((12, 0)), "11.5 of those that were answered");
        let almost: Vec<_> = (0..1_000_000)
            .map(|at| sample(at, at > 0, None, 1))
            .collect();
        assert_eq!(Tag::Uptime.value(&Tally::of(&almost)), Some((9_999, 2)));
    }

    #[test]
    fn r36_what_was_not_answered_or_not_judged_makes_no_value() {
        let down = [
            sample(1, false, Some(false), 9),
            sample(2, false, Some(false), 9),
        ];
        let expected = [Some((0, 0)), Some((0, 2)), Some((0, 0)), None, None];
        assert_eq!(values(&down), expected);
        let unauthorized = [sample(1, true, None, 9)];
        assert_eq!(values(&unauthorized)[2], None);
        assert_eq!(values(&[]), [None; 5]);
    }

    #[test]
    fn the_last_check_of_a_domain_counts() {
        let mut samples = [1, 2, 3].map(|at| sample(at, true, Some(true), 1));
        samples[0].owned = Some(true);
        samples[1].owned = Some(false);
        assert_eq!(values(&samples)[4], Some((0, 0)));
    }
}
