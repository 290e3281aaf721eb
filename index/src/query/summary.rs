//! Summaries that equal the chain's to the digit (R47), for reviewers that the caller names (R48).
use crate::{
    StoreError,
    fold::accumulator,
    store::{DeploymentId, Engine, Store},
    table::{Part, PartKey},
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

impl<E: Engine> Store<E> {
    /// Returns the summary of an agent's open feedback by these clients, or by everyone. Empty tags
    /// match all.
    ///
    /// # Errors
    /// The store cannot be read; [`StoreError::OutOfRange`].
    pub fn open_summary(
        &mut self,
        deployment: DeploymentId,
        agent: AgentId,
        reviewers: Option<&[AccountId]>,
        tags: (&str, &str),
    ) -> Result<OpenSummary, StoreError> {
        let parts = self.parts_by(deployment, (Profile::Open, agent), reviewers, tags)?;
        let merged = merge(parts.iter().map(|(_, part)| part))?;
        Ok(OpenSummary {
            summary: merged.finish(),
            parts: merged,
        })
    }

    /// Returns the summary of an agent's authorized feedback by these clients, or by everyone. Tags
    /// are texts, or `0x` and 64 hex digits (R14); empty ones match all.
    ///
    /// # Errors
    /// As [`Self::open_summary`].
    pub fn authorized_summary(
        &mut self,
        deployment: DeploymentId,
        agent: AgentId,
        reviewers: Option<&[AccountId]>,
        tags: (&str, &str),
    ) -> Result<AuthorizedSummary, StoreError> {
        let parts = self.parts_by(deployment, (Profile::Authorized, agent), reviewers, tags)?;
        let of = |is_paid: bool| {
            let some = parts.iter().filter(|(key, _)| key.is_paid == is_paid);
            tally(&merge(some.map(|(_, part)| part))?)
        };
        Ok(AuthorizedSummary {
            verified: of(true)?,
            unverified: of(false)?,
        })
    }

    fn parts_by(
        &mut self,
        deployment: DeploymentId,
        of: (Profile, AgentId),
        reviewers: Option<&[AccountId]>,
        tags: (&str, &str),
    ) -> Result<Vec<(PartKey, Part)>, StoreError> {
        let Some(reviewers) = reviewers else {
            return self.parts(deployment, of, None, tags);
        };
        let mut parts = Vec::new();
        for client in reviewers {
            parts.extend(self.parts(deployment, of, Some(*client), tags)?);
        }
        Ok(parts)
    }
}

const OUT_OF_RANGE: StoreError = StoreError::OutOfRange { what: "a summary" };

fn merge<'a>(parts: impl Iterator<Item = &'a Part>) -> Result<Accumulator, StoreError> {
    let mut merged = Accumulator::default();
    for part in parts {
        let part = accumulator(part).ok_or(OUT_OF_RANGE)?;
        merged.merge(&part).map_err(|_| OUT_OF_RANGE)?;
    }
    Ok(merged)
}

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
