//! Fixed-point values of open feedback: `value / 10^decimals` (BP, R16).

use crate::error::Error;
use crate::limits::{DECIMALS_MAX, VALUE_MAX};
use core::fmt;

/// A value within the registry's bounds (R16).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Value {
    value: i128,
    decimals: u8,
}

impl Value {
    /// `value / 10^decimals`, with decimals judged first, as the registries do (§3a).
    ///
    /// # Errors
    /// [`Error::DecimalsOutOfRange`] above 18, [`Error::ValueOutOfRange`] beyond ±1e38.
    pub const fn new(value: i128, decimals: u8) -> Result<Self, Error> {
        if decimals > DECIMALS_MAX {
            return Err(Error::DecimalsOutOfRange {
                decimals: decimals as u64,
                limit: DECIMALS_MAX,
            });
        }
        if value > VALUE_MAX || value < -VALUE_MAX {
            return Err(Error::ValueOutOfRange {
                value,
                limit: VALUE_MAX,
            });
        }
        Ok(Self { value, decimals })
    }

    /// The integer on chain, an int128.
    pub const fn value(&self) -> i128 {
        self.value
    }

    /// How many of its digits follow the point, 0 to 18.
    pub const fn decimals(&self) -> u8 {
        self.decimals
    }
}

impl fmt::Display for Value {
    /// Decimal text with exactly `decimals` digits after the point: 9977 at 2 is `99.77`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = 10u128.pow(u32::from(self.decimals));
        let magnitude = self.value.unsigned_abs();
        let sign = if self.value < 0 { "-" } else { "" };
        write!(f, "{sign}{}", magnitude / unit)?;
        match usize::from(self.decimals) {
            0 => Ok(()),
            width => write!(f, ".{:0width$}", magnitude % unit),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorClass;
    use std::string::ToString;

    #[test]
    fn decimals_are_those_given() {
        for decimals in [0, 1, 18] {
            assert_eq!(Value::new(5, decimals).unwrap().decimals(), decimals);
        }
    }

    #[test]
    fn nothing_is_not_negative() {
        assert_eq!(Value::new(0, 2).unwrap().to_string(), "0.00");
        assert_eq!(Value::new(-1, 2).unwrap().to_string(), "-0.01");
    }

    #[test]
    fn r16_accepts_the_bounds_themselves() {
        assert_eq!(VALUE_MAX.to_string(), std::format!("1{}", "0".repeat(38)));
        for value in [VALUE_MAX, -VALUE_MAX, 0] {
            assert!(Value::new(value, 18).is_ok());
        }
    }

    #[test]
    fn r16_refuses_19_decimals_and_values_beyond_1e38() {
        let class = |value, decimals| Value::new(value, decimals).unwrap_err().class();
        assert_eq!(class(0, 19), ErrorClass::DecimalsOutOfRange);
        assert_eq!(class(VALUE_MAX + 1, 0), ErrorClass::ValueOutOfRange);
        assert_eq!(class(-VALUE_MAX - 1, 18), ErrorClass::ValueOutOfRange);
        assert_eq!(class(i128::MIN, 0), ErrorClass::ValueOutOfRange);
        // Both broken: decimals are reported, as on chain (§3a).
        assert_eq!(class(i128::MAX, 255), ErrorClass::DecimalsOutOfRange);
    }

    #[test]
    fn displays_bps_examples() {
        let cases = [
            (87, 0, "87"),
            (9977, 2, "99.77"),
            (-32, 1, "-3.2"),
            (-5, 2, "-0.05"),
        ];
        for (value, decimals, text) in cases {
            assert_eq!(Value::new(value, decimals).unwrap().to_string(), text);
        }
    }
}
