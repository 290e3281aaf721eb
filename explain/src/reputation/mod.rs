//! Why a number can be believed: every feedback behind a summary, and that none is missing.
mod bundle;
mod complete;
mod payment_use;
mod report;

pub use bundle::{Query, ReputationBundle, ReviewerSet};
pub use complete::complete_reputation;
pub use report::{Completeness, Counted, Number, ReputationReport};

use crate::{
    Bundle, Need, Report, State, Subject, SubjectError, Trust,
    check::{self, Given},
    evidence::{Evidence, Gap},
};
use concord_canonical::{score, summary::Accumulator, tag::Tag};
use concord_registry::event::{AccountId, Event, Profile};
use payment_use::Used;
use std::collections::{BTreeMap, BTreeSet};

/// A report about a number, and what would complete it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplainedReputation {
    /// What was found.
    pub report: ReputationReport,
    /// What the bundle lacked.
    pub needs: Vec<Need>,
}

/// Explains every feedback of a bundle, and whether they are all there are. Reads nothing but its arguments.
///
/// # Errors
/// The bundle names no agent, or a feedback of another one.
pub fn explain_reputation(
    bundle: &ReputationBundle,
    trust: &Trust,
) -> Result<ExplainedReputation, SubjectError> {
    let mut needs = BTreeSet::new();
    let mut read = bundle.read.clone();
    read.feedback = bundle.subject_of_nobody();
    let expected = expected(&read, bundle, trust, &mut needs)?;
    let (mut feedbacks, mut given) = (Vec::new(), Vec::new());
    let mut sums = Sums::default();
    for subject in &bundle.feedbacks {
        read.feedback = bundle.of_query(subject)?;
        let explained = check::explain_given(&read, trust)?;
        needs.extend(explained.explained.needs);
        let times = bundle.query.times(&subject.client);
        let entry = entry(
            bundle,
            explained.given.as_ref(),
            explained.is_revoked,
            times,
        );
        if let (true, Some(given)) = (entry.is_counted(), &explained.given) {
            sums.add(&given.event, times);
        }
        feedbacks.push(counted(subject, explained.explained.report, entry));
        given.push(explained.given);
    }
    let evidence = Evidence::new(&read, trust);
    payment_use::refute_second_uses(&mut feedbacks, &used(bundle, given), &evidence);
    needs.extend(evidence.into_needs());
    let report = ReputationReport {
        query: bundle.query.to_string(),
        rests_on: check::rests_on(&read),
        complete: completeness(&expected, &bundle.feedbacks),
        number: sums.number(&bundle.query),
        feedbacks,
    };
    Ok(ExplainedReputation {
        report,
        needs: needs.into_iter().collect(),
    })
}

/// Where each feedback is, if that is known.
fn used(bundle: &ReputationBundle, given: Vec<Option<Given>>) -> Vec<Option<Used>> {
    let subjects = bundle.feedbacks.iter().zip(given);
    let used = subjects.map(|(subject, given)| Used::new(subject, &given?, &bundle.read));
    used.collect()
}

/// How a feedback enters the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    Counted,
    Revoked,
    /// It has other tags, or its reviewer is not listed.
    Filtered,
    Unknown,
}

impl Entry {
    const fn is_counted(self) -> bool {
        matches!(self, Self::Counted)
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Counted => "counted",
            Self::Revoked => "revoked",
            Self::Filtered => "filtered",
            Self::Unknown => "unknown",
        }
    }
}

fn entry(
    bundle: &ReputationBundle,
    given: Option<&Given>,
    is_revoked: Option<bool>,
    times: u64,
) -> Entry {
    match (given, is_revoked) {
        (None, _) | (_, None) => Entry::Unknown,
        (Some(given), _) if times == 0 || !bundle.query.has_tags(&given.event) => Entry::Filtered,
        (_, Some(true)) => Entry::Revoked,
        (_, Some(false)) => Entry::Counted,
    }
}

fn counted(subject: &Subject, report: Report, entry: Entry) -> Counted {
    Counted {
        feedback: subject.name(),
        entry: entry.name(),
        state: report.state(),
        report,
    }
}

/// The last index of each client whose feedback can count.
type Expected = Result<BTreeMap<AccountId, u64>, Gap>;

fn expected(
    read: &Bundle,
    bundle: &ReputationBundle,
    trust: &Trust,
    needs: &mut BTreeSet<Need>,
) -> Result<Expected, SubjectError> {
    let clients = match &bundle.query.reviewers {
        ReviewerSet::Everyone => {
            let found = check::clients(read, trust)?;
            needs.extend(found.needs);
            found.value
        }
        ReviewerSet::Listed(listed) => {
            let read_one = |client: &String| {
                let subject = Subject {
                    client: client.clone(),
                    ..read.feedback.clone()
                };
                Ok(subject.read()?.client)
            };
            Ok(listed.iter().map(read_one).collect::<Result<_, _>>()?)
        }
    };
    let clients = match clients {
        Ok(clients) => clients,
        Err(gap) => return Ok(Err(gap)),
    };
    let mut last = BTreeMap::new();
    let mut failed = None;
    for client in clients {
        let mut read_of = read.clone();
        read_of.feedback.client = client.to_string();
        let found = check::last_index(&read_of, trust)?;
        needs.extend(found.needs);
        match found.value {
            Ok(index) => {
                last.insert(client, index);
            }
            Err(gap) => failed = Some(gap),
        }
    }
    Ok(failed.map_or(Ok(last), Err))
}

/// R46: the feedbacks are 1 to the last index of each client.
fn completeness(expected: &Expected, found: &[Subject]) -> Completeness {
    let expected = match expected {
        Ok(expected) => expected,
        Err(Gap::CannotCheck(reason)) => return Completeness::new(State::CannotCheck, reason),
        Err(Gap::Broken(reason)) => return Completeness::new(State::Refuted, reason),
        Err(Gap::Needs(step)) => {
            return Completeness::new(State::CannotCheck, &format!("needs {step}"));
        }
    };
    let mut seen: BTreeSet<(AccountId, u64)> = BTreeSet::new();
    for subject in found {
        let Ok(named) = subject.read() else {
            continue; // refused before
        };
        if !seen.insert((named.client, named.index)) {
            let words = format!("{} is listed twice", subject.name());
            return Completeness::new(State::Refuted, &words);
        }
    }
    let Some(all) = sum(expected.values()) else {
        let words = "the registry's last indices add up to more than 2^64 - 1";
        return Completeness::new(State::Refuted, words);
    };
    let is_known =
        |(client, index): &(AccountId, u64)| expected.get(client).is_none_or(|last| index <= last);
    if let Some((client, index)) = seen.iter().find(|it| !is_known(it)) {
        let words = format!("the registry has no feedback {index} of {client}");
        return Completeness::new(State::Refuted, &words);
    }
    let of_expected = |it: &&(AccountId, u64)| expected.contains_key(&it.0);
    let there = seen.iter().filter(of_expected).count() as u64;
    if there == all {
        Completeness::new(
            State::Verified,
            &format!("{all} feedbacks of {} clients", expected.len()),
        )
    } else {
        Completeness::new(
            State::CannotCheck,
            &format!("the registry has {all} feedbacks; the bundle {there} of them"),
        )
    }
}

/// The exact parts of a number.
#[derive(Default)]
struct Sums {
    open: Accumulator,
    authorized: score::Tally,
    /// A sum beyond its type, which no registry holds.
    is_beyond: bool,
}

impl Sums {
    fn add(&mut self, event: &Event, times: u64) {
        for _ in 0..times {
            let added = match event {
                Event::OpenFeedback {
                    value, decimals, ..
                } => self.open.add(*value, *decimals).is_ok(),
                Event::AuthorizedFeedback { score, .. } => {
                    let sum = self.authorized.score_sum.checked_add(u64::from(*score));
                    let count = self.authorized.count.checked_add(1);
                    match (sum, count) {
                        (Some(score_sum), Some(count)) => {
                            self.authorized = score::Tally { count, score_sum };
                            true
                        }
                        _ => false,
                    }
                }
                _ => true,
            };
            self.is_beyond |= !added;
        }
    }

    /// R47: as the registry's `getSummary` answers.
    fn number(&self, query: &Query) -> Option<Number> {
        if self.is_beyond {
            return None;
        }
        match query.read_profile()? {
            Profile::Open => {
                let summary = self.open.finish();
                Some(Number {
                    count: summary.count,
                    value: summary.value.to_string(),
                    decimals: summary.decimals,
                })
            }
            Profile::Authorized => Some(Number {
                count: self.authorized.count,
                value: self.authorized.average().to_string(),
                decimals: 0,
            }),
        }
    }
}

impl Query {
    /// Whether a client's feedback can count.
    #[must_use]
    pub fn has_reviewer(&self, client: &str) -> bool {
        self.times(client) > 0
    }

    /// How often a client's feedback counts: as often as they are listed.
    fn times(&self, client: &str) -> u64 {
        match &self.reviewers {
            ReviewerSet::Everyone => 1,
            ReviewerSet::Listed(listed) => {
                let is_same = |it: &&String| it.eq_ignore_ascii_case(client);
                let is_same_key = |it: &&String| *it == client;
                if client.starts_with("0x") {
                    listed.iter().filter(is_same).count() as u64
                } else {
                    listed.iter().filter(is_same_key).count() as u64
                }
            }
        }
    }

    /// An empty tag matches all.
    fn has_tags(&self, event: &Event) -> bool {
        let own = match event {
            Event::OpenFeedback { tag1, tag2, .. } => [*tag1 == self.tag1, *tag2 == self.tag2],
            Event::AuthorizedFeedback { tag1, tag2, .. } => {
                [(tag1, &self.tag1), (tag2, &self.tag2)].map(|(word, tag)| {
                    Tag::new(tag).is_ok_and(|it| it.padded() == *word)
                        || format!("0x{}", hex::encode(word)) == *tag
                })
            }
            _ => return false,
        };
        (self.tag1.is_empty() || own[0]) && (self.tag2.is_empty() || own[1])
    }
}

/// A bundle without a trusted block can state any indices.
fn sum<'a>(indices: impl IntoIterator<Item = &'a u64>) -> Option<u64> {
    let mut indices = indices.into_iter();
    indices.try_fold(0_u64, |sum, it| sum.checked_add(*it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_of_a_registry_that_nothing_proves_do_not_overflow() {
        assert_eq!(sum(&[1, 2, u64::MAX - 3]), Some(u64::MAX));
        assert_eq!(sum(&[u64::MAX, u64::MAX]), None);
    }
}
