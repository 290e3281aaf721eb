//! Averages of 0–100 scores, in integers, safe if there are none.

/// Weight of a feedback with payment proof (X84 "Payment proof weighting").
pub const VERIFIED_WEIGHT: u8 = 3;
/// Weight of a feedback without (X84 "Payment proof weighting").
pub const UNVERIFIED_WEIGHT: u8 = 1;

/// How many feedbacks, and the sum of their scores: one pair of an agent's counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Feedbacks that are not revoked.
    pub count: u64,
    /// Sum of their scores.
    pub score_sum: u64,
}

impl Tally {
    /// `floor(score_sum / count)`, 0 if there is no feedback (R15).
    pub const fn average(&self) -> u64 {
        match self.score_sum.checked_div(self.count) {
            Some(average) => average,
            None => 0,
        }
    }
}

/// X84's weighted score, `floor(Σ weight·score / Σ weight·count)`: 0 if there is no feedback.
///
/// X84's own example averages each pair first and divides by 4, which divides by zero if a pair
/// is empty and lets one paid feedback outweigh any number of unpaid ones. Here every feedback
/// enters with its own weight. The quotient is rounded down.
pub fn weighted(verified: &Tally, unverified: &Tally) -> u64 {
    let weigh = |paid: u64, unpaid: u64| {
        u128::from(VERIFIED_WEIGHT) * u128::from(paid)
            + u128::from(UNVERIFIED_WEIGHT) * u128::from(unpaid)
    };
    let sum = weigh(verified.score_sum, unverified.score_sum);
    let count = weigh(verified.count, unverified.count);
    // A mean of u64 sums exceeds a u64 only where the tallies contradict themselves.
    let mean = sum.checked_div(count).unwrap_or(0);
    u64::try_from(mean).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn tally(count: u64, score_sum: u64) -> Tally {
        Tally { count, score_sum }
    }

    #[test]
    fn x84_paid_feedback_weighs_three_times() {
        // (3·90 + 1·50) / 4 = 80.
        assert_eq!(weighted(&tally(1, 90), &tally(1, 50)), 80);
        // (3·200 + 1·100) / (3·2 + 3) = 77.7…, rounded down.
        assert_eq!(weighted(&tally(2, 200), &tally(3, 100)), 77);
    }

    #[test]
    fn x84_empty_tallies_divide_nothing() {
        assert_eq!(weighted(&tally(0, 0), &tally(0, 0)), 0);
        assert_eq!(weighted(&tally(0, 0), &tally(2, 101)), 50);
        assert_eq!(weighted(&tally(2, 101), &tally(0, 0)), 50);
        assert_eq!(tally(0, 0).average(), 0);
    }

    #[test]
    fn averages_round_down_and_never_overflow() {
        assert_eq!(tally(3, 200).average(), 66);
        let huge = tally(u64::MAX, u64::MAX);
        assert_eq!(weighted(&huge, &huge), 1);
        assert_eq!(weighted(&tally(0, u64::MAX), &tally(1, u64::MAX)), u64::MAX);
    }
}
