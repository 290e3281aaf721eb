use concord_canonical::{
    score::{Tally, weighted},
    summary::Summary,
};
use concord_registry::event::AccountId;

use crate::{ClientError, Registries, Reviewers, Tags, reads::Tallies};

/// How much an authorized feedback counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weighting {
    /// Each as much as any other, as `getSummary` has it (R15).
    Equal,
    /// One with a payment proof three times as much as one without (X84).
    PaymentProof,
}

/// A summary, and whose feedback is in it (R48).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stated<T> {
    /// The agent.
    pub agent: String,
    /// Those who count, as the caller named them; `None` for everyone.
    pub reviewers: Option<Vec<AccountId>>,
    /// The tags that were matched.
    pub tags: [String; 2],
    /// The summary.
    pub summary: T,
}

/// A summary of authorized feedback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScoreSummary {
    /// How many feedbacks entered it.
    pub count: u64,
    /// How many of them have a payment proof.
    pub verified_count: u64,
    /// Their average from 0 to 100, rounded down; 0 if there is none.
    pub score: u64,
    /// How they were weighted.
    pub weighting: Weighting,
}

/// Summarises open feedback by the chain's own figures. There is no default set of reviewers (R48).
///
/// # Errors
/// [`ClientError::Reviewers`] for an empty set; [`ClientError`] if the chain does not answer.
pub async fn summarize(
    registries: &dyn Registries,
    agent: &str,
    reviewers: &Reviewers,
    tags: Tags<'_>,
) -> Result<Stated<Summary>, ClientError> {
    let listed = reviewers.accounts()?; // R48
    let summary = registries.open_summary(agent, listed.as_deref(), tags);
    let summary = summary.await?;
    Ok(stated(agent, listed, tags, summary))
}

/// Summarises authorized feedback, as [`summarize`] does open feedback.
///
/// # Errors
/// As [`summarize`].
pub async fn summarize_authorized(
    registries: &dyn Registries,
    agent: &str,
    reviewers: &Reviewers,
    tags: Tags<'_>,
    weighting: Weighting,
) -> Result<Stated<ScoreSummary>, ClientError> {
    let listed = reviewers.accounts()?; // R48
    let tallies = registries.tallies(agent, listed.as_deref(), tags).await?;
    let summary = scores(tallies, weighting);
    Ok(stated(agent, listed, tags, summary))
}

fn stated<T>(
    agent: &str,
    reviewers: Option<Vec<AccountId>>,
    tags: Tags<'_>,
    summary: T,
) -> Stated<T> {
    Stated {
        agent: agent.to_owned(),
        reviewers,
        tags: [tags.tag1, tags.tag2].map(str::to_owned),
        summary,
    }
}

fn scores(tallies: Tallies, weighting: Weighting) -> ScoreSummary {
    let Tallies {
        verified,
        unverified,
    } = tallies;
    let all = Tally {
        count: verified.count.saturating_add(unverified.count),
        score_sum: verified.score_sum.saturating_add(unverified.score_sum),
    };
    ScoreSummary {
        count: all.count,
        verified_count: verified.count,
        score: match weighting {
            Weighting::Equal => all.average(),
            Weighting::PaymentProof => weighted(&verified, &unverified),
        },
        weighting,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// (90 + 50) / 2 = 70, and by X84 (3·90 + 1·50) / 4 = 80.
    #[test]
    fn x84_a_proven_payment_weighs_three_times() {
        let tally = |score_sum| Tally {
            count: 1,
            score_sum,
        };
        let tallies = Tallies {
            verified: tally(90),
            unverified: tally(50),
        };
        for (weighting, score) in [(Weighting::Equal, 70), (Weighting::PaymentProof, 80)] {
            let expected = ScoreSummary {
                count: 2,
                verified_count: 1,
                score,
                weighting,
            };
            assert_eq!(scores(tallies, weighting), expected);
        }
        let none = scores(Tallies::default(), Weighting::PaymentProof);
        assert_eq!((none.count, none.score), (0, 0));
    }
}
