//! Summaries that equal the chain's to the digit (R47), for reviewers that the caller names (R48).
use super::Tags;
use crate::{
    StoreError,
    fold::{accumulator, difference, tag_key},
    store::{DeploymentId, Engine, Store, average},
    table::{Part, Total, TotalKey},
};
use concord_canonical::{
    score::Tally,
    summary::{Accumulator, Summary},
};
use concord_registry::event::{AccountId, AgentId, Profile};

/// A summary of open feedback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenSummary {
    /// What `getSummary` answers.
    pub summary: Summary,
    /// The exact parts that it is made of.
    pub parts: Accumulator,
}

/// A summary of authorized feedback.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AuthorizedSummary {
    /// Feedback with proof of payment (R13).
    pub verified: Tally,
    /// Feedback without.
    pub unverified: Tally,
}

impl AuthorizedSummary {
    /// Both kinds together, as `getSummary` has them.
    #[must_use]
    pub const fn total(&self) -> Tally {
        Tally {
            count: self.verified.count + self.unverified.count,
            score_sum: self.verified.score_sum + self.unverified.score_sum,
        }
    }
}

/// The exact parts of a summary of either kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sums {
    /// All feedback in it.
    pub all: Accumulator,
    /// S: what of it has proof of payment (R13).
    pub paid: Accumulator,
}

impl Sums {
    /// Returns the summary, if the feedback is open.
    #[must_use]
    pub fn open(&self) -> OpenSummary {
        OpenSummary {
            summary: self.all.finish(),
            parts: self.all,
        }
    }

    /// Returns the summary, if the feedback is authorized.
    ///
    /// # Errors
    /// [`StoreError::OutOfRange`] if it is not.
    pub fn authorized(&self) -> Result<AuthorizedSummary, StoreError> {
        let (all, verified) = (tally(&self.all)?, tally(&self.paid)?);
        let count = all.count.checked_sub(verified.count);
        let score_sum = all.score_sum.checked_sub(verified.score_sum);
        Ok(AuthorizedSummary {
            verified,
            unverified: Tally {
                count: count.ok_or(OUT_OF_RANGE)?,
                score_sum: score_sum.ok_or(OUT_OF_RANGE)?,
            },
        })
    }

    /// Returns the average for ordering only (R47).
    #[must_use]
    pub fn average(&self) -> f64 {
        average(&part_of(&self.all))
    }

    pub(super) fn add(&mut self, part: &Part, is_paid: bool) -> Result<(), StoreError> {
        let part = accumulator(part).ok_or(OUT_OF_RANGE)?;
        self.all.merge(&part).map_err(|_| OUT_OF_RANGE)?;
        if is_paid {
            self.paid.merge(&part).map_err(|_| OUT_OF_RANGE)
        } else {
            Ok(())
        }
    }

    pub(super) fn add_total(&mut self, total: &Total) -> Result<(), StoreError> {
        let all = accumulator(&total.all).ok_or(OUT_OF_RANGE)?;
        let paid = accumulator(&total.paid).ok_or(OUT_OF_RANGE)?;
        self.all.merge(&all).map_err(|_| OUT_OF_RANGE)?;
        self.paid.merge(&paid).map_err(|_| OUT_OF_RANGE)
    }

    pub(super) fn take_total(&mut self, total: &Total) -> Result<(), StoreError> {
        self.all = without(&self.all, &total.all).ok_or(OUT_OF_RANGE)?;
        self.paid = without(&self.paid, &total.paid).ok_or(OUT_OF_RANGE)?;
        Ok(())
    }
}

fn part_of(all: &Accumulator) -> Part {
    Part {
        count: all.count(),
        sum: all.sum().to_be_bytes(),
        histogram: *all.histogram(),
    }
}

fn without(all: &Accumulator, part: &Part) -> Option<Accumulator> {
    accumulator(&difference(&part_of(all), part)?)
}

impl<E: Engine> Store<E> {
    /// Returns the summary of an agent's open feedback by these clients, or by everyone.
    ///
    /// # Errors
    /// The store cannot be read; [`StoreError::OutOfRange`].
    pub fn open_summary<'a>(
        &mut self,
        deployment: DeploymentId,
        agent: AgentId,
        reviewers: Option<&[AccountId]>,
        tags: impl Into<Tags<'a>>,
    ) -> Result<OpenSummary, StoreError> {
        let of = (Profile::Open, agent);
        Ok(self.sums(deployment, of, reviewers, tags)?.open())
    }

    /// Returns the summary of an agent's authorized feedback by these clients, or by everyone. Tags
    /// are texts, or `0x` and 64 hex digits (R14).
    ///
    /// # Errors
    /// As [`Self::open_summary`].
    pub fn authorized_summary<'a>(
        &mut self,
        deployment: DeploymentId,
        agent: AgentId,
        reviewers: Option<&[AccountId]>,
        tags: impl Into<Tags<'a>>,
    ) -> Result<AuthorizedSummary, StoreError> {
        let of = (Profile::Authorized, agent);
        self.sums(deployment, of, reviewers, tags)?.authorized()
    }

    /// Returns the exact parts of a summary.
    ///
    /// # Errors
    /// As [`Self::open_summary`].
    pub fn sums<'a>(
        &mut self,
        deployment: DeploymentId,
        of: (Profile, AgentId),
        reviewers: Option<&[AccountId]>,
        tags: impl Into<Tags<'a>>,
    ) -> Result<Sums, StoreError> {
        let tags = tags.into();
        let Some(reviewers) = reviewers else {
            return self.sums_of_everyone(deployment, of, &tags);
        };
        let mut sums = Sums::default();
        self.parts(deployment, of, reviewers, &tags, &mut |key, part| {
            sums.add(&part, key.is_paid)
        })?;
        Ok(sums)
    }

    fn sums_of_everyone(
        &mut self,
        deployment: DeploymentId,
        (profile, agent): (Profile, AgentId),
        tags: &Tags<'_>,
    ) -> Result<Sums, StoreError> {
        let key = |(tag1, tag2): (&str, &str)| TotalKey {
            profile,
            agent,
            tag1: tag_key(tag1),
            tag2: tag_key(tag2),
        };
        let (added, twice) = tags.pairs();
        let mut sums = Sums::default();
        for pair in added {
            if let Some(total) = self.total(deployment, &key(pair))? {
                sums.add_total(&total)?;
            }
        }
        if let Some(pair) = twice
            && let Some(total) = self.total(deployment, &key(pair))?
        {
            sums.take_total(&total)?;
        }
        Ok(sums)
    }
}

const OUT_OF_RANGE: StoreError = StoreError::OutOfRange { what: "a summary" };

/// Scores are in the parts as values without decimals, scaled to 18.
fn tally(merged: &Accumulator) -> Result<Tally, StoreError> {
    const WAD: u64 = 1_000_000_000_000_000_000;
    let sum = merged.sum().divide(WAD).to_i128();
    let sum = sum.and_then(|sum| u64::try_from(sum).ok());
    Ok(Tally {
        count: merged.count(),
        score_sum: sum.ok_or(OUT_OF_RANGE)?,
    })
}
