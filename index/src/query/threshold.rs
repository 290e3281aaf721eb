use crate::store::Sql;
use alloy::primitives::{I256, U256};
use concord_canonical::{limits::DECIMALS_MAX, summary::Accumulator, value::Value};
use std::{cmp::Ordering, str::FromStr};

/// A bound on values and averages: a decimal with at most 18 digits after its point, compared
/// exactly (R47).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Threshold(Value);

/// The text is not a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("is not a decimal within ±1e38 with at most 18 digits after its point")]
pub struct ThresholdError;

impl FromStr for Threshold {
    type Err = ThresholdError;

    fn from_str(text: &str) -> Result<Self, ThresholdError> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let digits = whole.strip_prefix('-').unwrap_or(whole);
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if digits.is_empty() || !is_number(digits) || !is_number(fraction) {
            return Err(ThresholdError);
        }
        if text.ends_with('.') || fraction.len() > usize::from(DECIMALS_MAX) {
            return Err(ThresholdError);
        }
        let value = format!("{whole}{fraction}").parse();
        let decimals = u8::try_from(fraction.len());
        match (value, decimals) {
            (Ok(value), Ok(decimals)) => Value::new(value, decimals)
                .map(Self)
                .map_err(|_| ThresholdError),
            _ => Err(ThresholdError),
        }
    }
}

impl Threshold {
    /// Compares an average with the bound; `None` if nothing was averaged.
    #[must_use]
    pub fn compare_average(&self, of: &Accumulator) -> Option<Ordering> {
        if of.count() == 0 {
            return None;
        }
        let sum = I256::from_raw(U256::from_be_bytes(of.sum().to_be_bytes()));
        let count = I256::try_from(of.count()).ok()?;
        // |bound| is at most 1e56 at 18 decimals, and the count 2^64: far inside 256 bits.
        let bound = scaled(self.0)?.checked_mul(count)?;
        Some(sum.cmp(&bound))
    }

    /// Compares a feedback's value with the bound.
    #[must_use]
    pub fn compare_value(&self, value: i128, decimals: u8) -> Option<Ordering> {
        let value = Value::new(value, decimals).ok()?;
        Some(scaled(value)?.cmp(&scaled(self.0)?))
    }

    fn approximate(&self) -> f64 {
        self.0.value() as f64 / 10f64.powi(self.0.decimals().into())
    }
}

/// A bound from below, one from above, or both.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bounds {
    /// At least this.
    pub min: Option<Threshold>,
    /// At most this.
    pub max: Option<Threshold>,
}

impl Bounds {
    /// Returns whether there is no bound.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.min.is_none() && self.max.is_none()
    }

    /// Returns whether an average is within the bounds.
    #[must_use]
    pub fn admit_average(&self, of: &Accumulator) -> bool {
        self.admit(|bound| bound.compare_average(of))
    }

    /// Returns whether a value is within the bounds.
    #[must_use]
    pub fn admit_value(&self, value: i128, decimals: u8) -> bool {
        self.admit(|bound| bound.compare_value(value, decimals))
    }

    fn admit(&self, compare: impl Fn(&Threshold) -> Option<Ordering>) -> bool {
        let is_above = |bound| compare(bound).is_some_and(Ordering::is_ge);
        let is_below = |bound| compare(bound).is_some_and(Ordering::is_le);
        self.min.as_ref().is_none_or(is_above) && self.max.as_ref().is_none_or(is_below)
    }

    /// Appends bounds on an approximate column that leave out nothing that is within the exact ones.
    pub(crate) fn restrict(&self, sql: &mut Sql, column: &str) {
        let real = crate::store::Value::Real;
        if let Some(min) = &self.min {
            let min = min.approximate();
            sql.bind(&format!(" AND {column} >= ?"), [real(min - slack(min))]);
        }
        if let Some(max) = &self.max {
            let max = max.approximate();
            sql.bind(&format!(" AND {column} <= ?"), [real(max + slack(max))]);
        }
    }
}

/// More than the error of a double.
fn slack(of: f64) -> f64 {
    of.abs() * 1e-9 + 1e-9
}

fn scaled(value: Value) -> Option<I256> {
    let unit = 10u64.checked_pow(u32::from(DECIMALS_MAX.checked_sub(value.decimals())?))?;
    I256::try_from(value.value())
        .ok()?
        .checked_mul(I256::try_from(unit).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(text: &str) -> Threshold {
        text.parse().unwrap()
    }

    #[test]
    fn r47_a_bound_is_compared_exactly() {
        let mut thirds = Accumulator::default();
        for value in [79, 80, 80] {
            thirds.add(value, 0).unwrap(); // 79.666…
        }
        let compare = |text| bound(text).compare_average(&thirds).unwrap();
        assert_eq!(compare("79.666666666666666666"), Ordering::Greater);
        assert_eq!(compare("79.666666666666666667"), Ordering::Less);
        assert_eq!(bound("80").compare_value(8_000, 2), Some(Ordering::Equal));
        assert_eq!(bound("-3.2").compare_value(-33, 1), Some(Ordering::Less));
        assert_eq!(bound("1").compare_average(&Accumulator::default()), None);
        let mut large = Accumulator::default();
        large.add(10i128.pow(38), 0).unwrap();
        assert_eq!(
            bound(&format!("1{}", "0".repeat(38))).compare_average(&large),
            Some(Ordering::Equal)
        );
    }

    #[test]
    fn a_bound_is_a_decimal() {
        for text in [
            "",
            "-",
            ".5",
            "5.",
            "1e3",
            "0x1",
            "+1",
            "1 ",
            "1.0000000000000000000",
        ] {
            assert_eq!(text.parse::<Threshold>(), Err(ThresholdError), "{text:?}");
        }
        assert!(format!("2{}", "0".repeat(38)).parse::<Threshold>().is_err());
    }
}
