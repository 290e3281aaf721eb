//! Summary of open feedback (R16): an average that never wraps.
//!
//! 1. Every value that is not revoked and matches the query is scaled to 18 decimals ("WAD") and
//!    summed in 256 bits.
//! 2. `average = sum / count`, truncated toward zero.
//! 3. The result has the most frequent number of decimals, ties going to the fewest, and is
//!    `average / 10^(18 − decimals)`, truncated toward zero.
//! 4. Where that does not fit an int128, the largest smaller number of decimals at which it does.
//!
//! Step 4 is the one difference from the canonical contract, which wraps.

mod i256;

pub use i256::I256;

use crate::error::Error;
use crate::limits::{DECIMALS_MAX, VALUE_MAX};
use crate::value::Value;

/// Entries of the histogram: 0 to 18 decimals.
pub const DECIMALS_COUNT: usize = DECIMALS_MAX as usize + 1;

/// The answer of a summary; all zeros if nothing matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Summary {
    /// How many feedbacks entered it.
    pub count: u64,
    /// Their average times `10^decimals`, truncated toward zero.
    pub value: i128,
    /// Decimals of `value`.
    pub decimals: u8,
}

/// A summary in the making. Parts computed apart can be merged, in any order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Accumulator {
    sum: I256,
    count: u64,
    histogram: [u64; DECIMALS_COUNT],
}

impl Accumulator {
    /// Takes in one feedback.
    ///
    /// # Errors
    /// [`Error::DecimalsOutOfRange`], [`Error::ValueOutOfRange`];
    /// [`Error::CounterExhausted`] after 2^64 − 1 feedbacks.
    pub fn add(&mut self, value: i128, decimals: u8) -> Result<(), Error> {
        let value = Value::new(value, decimals)?;
        let mut one = Self {
            sum: I256::product(value.value(), wad_factor(decimals)),
            count: 1,
            histogram: [0; DECIMALS_COUNT],
        };
        one.histogram[usize::from(decimals)] = 1;
        self.merge(&one)
    }

    /// Takes in what `other` took in. On an error `self` is unchanged.
    ///
    /// # Errors
    /// [`Error::CounterExhausted`] where the counts exceed 2^64 − 1 together.
    pub fn merge(&mut self, other: &Self) -> Result<(), Error> {
        let exhausted = Error::CounterExhausted {
            counter: "summary count",
            limit: u64::MAX,
        };
        let count = self.count.checked_add(other.count).ok_or(exhausted)?;
        // |sum| <= count * 10^56 < 2^64 * 2^187, far inside 256 bits.
        let sum = self.sum.checked_add(other.sum).ok_or(exhausted)?;
        let mut histogram = self.histogram;
        for (mine, theirs) in histogram.iter_mut().zip(other.histogram) {
            *mine = mine.checked_add(theirs).ok_or(exhausted)?;
        }
        *self = Self {
            sum,
            count,
            histogram,
        };
        Ok(())
    }

    /// An accumulator from the parts that a chain reported.
    ///
    /// # Errors
    /// [`Error::SummaryMismatch`] for parts that no feedback makes: the histogram does not add up to
    /// `count`, the sum is beyond what values of 1e38 or of −1e38 make at the decimals of the
    /// histogram, or it has a smaller unit than the value with the most decimals.
    pub fn from_parts(
        sum: I256,
        count: u64,
        histogram: [u64; DECIMALS_COUNT],
    ) -> Result<Self, Error> {
        let total: u128 = histogram.iter().copied().map(u128::from).sum();
        if total != u128::from(count) {
            return Err(Error::SummaryMismatch {
                field: "histogram",
                rule: "does not add up to the count",
            });
        }
        let bounds = extreme_sum(-VALUE_MAX, &histogram).zip(extreme_sum(VALUE_MAX, &histogram));
        if !bounds.is_some_and(|(least, most)| least <= sum && sum <= most) {
            return Err(Error::SummaryMismatch {
                field: "sum",
                rule: "exceeds 1e38 for each value at its decimals",
            });
        }
        let most_decimals = (0..=DECIMALS_MAX).rfind(|it| histogram[usize::from(*it)] != 0);
        if !most_decimals.is_none_or(|it| sum.is_multiple_of(wad_factor(it))) {
            return Err(Error::SummaryMismatch {
                field: "sum",
                rule: "has more decimals than any of the values",
            });
        }
        Ok(Self {
            sum,
            count,
            histogram,
        })
    }

    /// Sum of the values, each scaled to 18 decimals.
    pub const fn sum(&self) -> I256 {
        self.sum
    }

    /// How many feedbacks were taken in.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// How many of them had 0, 1, … 18 decimals.
    pub const fn histogram(&self) -> &[u64; DECIMALS_COUNT] {
        &self.histogram
    }

    /// The summary of everything taken in.
    pub fn finish(&self) -> Summary {
        if self.count == 0 {
            return Summary::default();
        }
        let average = self.sum.divide(self.count);
        // R16: at 0 decimals |average| <= 1e38 fits an int128, so the search always ends.
        let (value, decimals) = (0..=self.mode())
            .rev()
            .find_map(|decimals| {
                let value = average.divide(wad_factor(decimals)).to_i128()?;
                Some((value, decimals))
            })
            .unwrap_or_default();
        Summary {
            count: self.count,
            value,
            decimals,
        }
    }

    /// R16: the most frequent number of decimals; of several, the fewest.
    fn mode(&self) -> u8 {
        let mut mode = 0;
        for decimals in 1..=DECIMALS_MAX {
            if self.histogram[usize::from(decimals)] > self.histogram[usize::from(mode)] {
                mode = decimals;
            }
        }
        mode
    }
}

/// One feedback, as a summary sees it. `C` is whatever identifies a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Feedback<'a, C> {
    /// Who gave it.
    pub client: C,
    /// The value on chain.
    pub value: i128,
    /// Its decimals.
    pub decimals: u8,
    /// First tag.
    pub tag1: &'a str,
    /// Second tag.
    pub tag2: &'a str,
    /// Whether it was revoked, which keeps it out.
    pub is_revoked: bool,
}

/// Which feedback a summary is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Query<'a, C> {
    /// The clients that count, as listed: one listed twice counts twice.
    pub clients: &'a [C],
    /// First tag to match; empty matches all.
    pub tag1: &'a str,
    /// Second tag to match; empty matches all.
    pub tag2: &'a str,
}

impl<C: PartialEq> Query<'_, C> {
    /// Whether a feedback is not revoked and has the tags asked for.
    pub fn matches(&self, feedback: &Feedback<'_, C>) -> bool {
        let tag_matches = |wanted: &str, tag: &str| wanted.is_empty() || wanted == tag;
        !feedback.is_revoked
            && tag_matches(self.tag1, feedback.tag1)
            && tag_matches(self.tag2, feedback.tag2)
    }
}

/// The summary of the feedback that a query is over (R16).
///
/// # Errors
/// [`Error::EmptyClients`]; [`Error::DecimalsOutOfRange`] and [`Error::ValueOutOfRange`] for a
/// feedback that no registry holds, whether or not it matches.
pub fn summarize<C: PartialEq>(
    feedback: &[Feedback<'_, C>],
    query: &Query<'_, C>,
) -> Result<Summary, Error> {
    if query.clients.is_empty() {
        return Err(Error::EmptyClients);
    }
    let mut accumulator = Accumulator::default();
    for entry in feedback {
        Value::new(entry.value, entry.decimals)?;
        let listed = query.clients.iter().filter(|c| **c == entry.client);
        for _ in listed.filter(|_| query.matches(entry)) {
            accumulator.add(entry.value, entry.decimals)?;
        }
    }
    Ok(accumulator.finish())
}

/// R16: Σ histogram\[d\] · `value` · 10^(18 − d), the sum if every value were `value`. `None` if 256
/// bits do not hold it.
fn extreme_sum(value: i128, histogram: &[u64; DECIMALS_COUNT]) -> Option<I256> {
    histogram.iter().try_fold(I256::ZERO, |sum, count| {
        let double = sum.checked_add(sum)?;
        let quadruple = double.checked_add(double)?;
        let tenfold = quadruple.checked_add(quadruple)?.checked_add(double)?;
        tenfold.checked_add(I256::product(value, *count))
    })
}

/// 10^(18 − decimals).
const fn wad_factor(decimals: u8) -> u64 {
    10u64.pow((DECIMALS_MAX - decimals) as u32)
}

#[cfg(test)]
mod tests;
