//! What an operator limits: cool-down, rates and budgets (R52, R53). All of it is off by default, and none of it
//! sees what a reviewer says: it is given who rates whom, from where, and when.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, VecDeque},
    net::{IpAddr, Ipv6Addr},
    sync::{Mutex, PoisonError},
};

use schemars::JsonSchema;
use serde::Deserialize;

use crate::{Code, Refusal};

/// Seconds of a day. Budgets are per day of UTC.
pub(crate) const DAY: u64 = 86_400;
/// Addresses that are remembered before those whose time is over are forgotten.
const ADDRESSES: usize = 10_000;

/// The agents that are served, by identity registry (CAIP-10, as it is served). A registry that is not
/// named serves all its agents.
pub type AllowedAgents = BTreeMap<String, BTreeSet<String>>;

/// Limits on what is accepted. They count what was accepted before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Limits {
    /// Seconds between two feedbacks of one reviewer for one agent.
    pub cool_down: Option<u64>,
    /// Of one reviewer, for all agents.
    pub per_reviewer: Option<Rate>,
    /// Of one network address: an IPv4 address, or the first 64 bits of an IPv6 address.
    pub per_address: Option<Rate>,
    /// Submissions for one agent in a day of UTC.
    pub per_agent_and_day: Option<u64>,
    /// Submissions for all agents in a day of UTC.
    pub per_day: Option<u64>,
}

/// So many submissions in any span of so many seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Rate {
    /// Submissions.
    pub count: u32,
    /// Seconds.
    pub seconds: u64,
}

/// A limit that is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limited {
    /// The limit's name, which is the refusal's class.
    pub class: &'static str,
    /// Who reached which limit.
    pub message: String,
    /// Seconds until it may be tried again.
    pub retry_after: u64,
}

/// Who rates whom, from where, and when.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    /// The identity registry as it is served, a space, and the agent's id.
    pub agent: String,
    /// As in the submission's key (R57).
    pub reviewer: String,
    /// Where the request came from, if it is known.
    pub address: Option<IpAddr>,
    /// Unix seconds.
    pub now: u64,
}

/// What was accepted before, as the store has it.
pub(crate) trait Acceptances {
    type Error;

    /// When the newest submission of the reviewer for the agent was accepted.
    fn last(&self, subject: &Subject) -> Result<Option<u64>, Self::Error>;
    /// When the `count`-th newest submission of the reviewer was accepted.
    fn of_reviewer(&self, subject: &Subject, rate: Rate) -> Result<Option<u64>, Self::Error>;
    /// Submissions for the agent since a time, counted up to `most`.
    fn of_agent(&self, subject: &Subject, since: u64, most: u64) -> Result<u64, Self::Error>;
    /// All submissions since a time, counted up to `most`.
    fn of_all(&self, since: u64, most: u64) -> Result<u64, Self::Error>;
}

/// The limits, and the addresses that submitted lately. Addresses are never written to disk.
#[derive(Debug, Default)]
pub struct Policy {
    limits: Limits,
    addresses: Mutex<HashMap<Option<IpAddr>, VecDeque<u64>>>,
}

impl Policy {
    /// Enforces limits.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            addresses: Mutex::default(),
        }
    }

    /// R52's last checks, in its order: cool-down, rate, budget.
    pub(crate) fn check<A: Acceptances>(
        &self,
        accepted: &A,
        subject: &Subject,
    ) -> Result<Option<Limited>, A::Error> {
        if let Some(limited) = self.cool_down(accepted, subject)? {
            return Ok(Some(limited));
        }
        if let Some(limited) = self.reviewer_rate(accepted, subject)? {
            return Ok(Some(limited));
        }
        if let Some(limited) = self.address_rate(subject) {
            return Ok(Some(limited));
        }
        self.budget(accepted, subject)
    }

    fn cool_down<A: Acceptances>(
        &self,
        accepted: &A,
        subject: &Subject,
    ) -> Result<Option<Limited>, A::Error> {
        let Some(seconds) = self.limits.cool_down else {
            return Ok(None);
        };
        let Some(last) = accepted.last(subject)? else {
            return Ok(None);
        };
        let retry_after = last.saturating_add(seconds).saturating_sub(subject.now);
        let Subject {
            agent, reviewer, ..
        } = subject;
        Ok((retry_after > 0).then(|| Limited {
            class: "CoolDown",
            message: format!("{reviewer} rated {agent} less than {seconds} seconds ago"),
            retry_after,
        }))
    }

    fn reviewer_rate<A: Acceptances>(
        &self,
        accepted: &A,
        subject: &Subject,
    ) -> Result<Option<Limited>, A::Error> {
        let Some(rate) = self.limits.per_reviewer else {
            return Ok(None);
        };
        let earliest = accepted.of_reviewer(subject, rate)?;
        Ok(rate.limited("ReviewerRate", &subject.reviewer, earliest, subject.now))
    }

    fn address_rate(&self, subject: &Subject) -> Option<Limited> {
        let rate = self.limits.per_address?;
        let mut addresses = self.addresses();
        let times = addresses.get_mut(&subject.address.map(network_of))?;
        let before = times.len().checked_sub(rate.count as usize);
        let earliest = before.and_then(|it| times.get(it).copied());
        // the address is not in the answer: a proxy may have added it
        rate.limited("AddressRate", "this address", earliest, subject.now)
    }

    fn budget<A: Acceptances>(
        &self,
        accepted: &A,
        subject: &Subject,
    ) -> Result<Option<Limited>, A::Error> {
        let since = subject.now - subject.now % DAY;
        let reached = |class, whose: &str, most: u64| Limited {
            class,
            message: format!("{whose} had {most} submissions today (UTC), which is the limit"),
            retry_after: since + DAY - subject.now,
        };
        if let Some(most) = self.limits.per_agent_and_day
            && accepted.of_agent(subject, since, most)? >= most
        {
            return Ok(Some(reached("AgentBudget", &subject.agent, most)));
        }
        if let Some(most) = self.limits.per_day
            && accepted.of_all(since, most)? >= most
        {
            return Ok(Some(reached("DayBudget", "this aggregator", most)));
        }
        Ok(None)
    }

    /// Counts a submission that is accepted for its address; the store counts it for the rest.
    pub(crate) fn note(&self, subject: &Subject) {
        let Some(rate) = self.limits.per_address else {
            return;
        };
        let mut addresses = self.addresses();
        if addresses.len() >= ADDRESSES {
            let is_recent = |time: &u64| time.saturating_add(rate.seconds) > subject.now;
            addresses.retain(|_, times| times.back().is_some_and(is_recent));
        }
        let times = addresses.entry(subject.address.map(network_of));
        let times = times.or_default();
        times.push_back(subject.now);
        while times.len() > rate.count as usize {
            times.pop_front();
        }
    }

    fn addresses(&self) -> std::sync::MutexGuard<'_, HashMap<Option<IpAddr>, VecDeque<u64>>> {
        self.addresses
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Rate {
    /// `earliest`: when the oldest of the newest `count` submissions was accepted.
    fn limited(
        self,
        class: &'static str,
        whose: &str,
        earliest: Option<u64>,
        now: u64,
    ) -> Option<Limited> {
        let Self { count, seconds } = self;
        let retry_after = match count {
            0 => seconds, // nothing is ever accepted
            _ => earliest?.saturating_add(seconds).saturating_sub(now),
        };
        (retry_after > 0).then(|| Limited {
            class,
            message: format!("{whose} had {count} submissions within {seconds} seconds"),
            retry_after,
        })
    }
}

impl From<Limited> for Refusal {
    fn from(limited: Limited) -> Self {
        let mut refusal = Self::new(Code::RateLimited, limited.class, limited.message);
        refusal.retry_after = Some(limited.retry_after);
        refusal
    }
}

/// Who has one IPv6 address has 2^64 of them.
fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
    }
}
