//! Which number literals are integers that every JSON reader agrees on (R22).

use crate::error::{Error, Excerpt, TextFault};

/// 2^53 − 1, the largest integer below which no two integers share a double.
pub const INTEGER_MAX: i64 = (1 << 53) - 1;

/// Decimal digits of [`INTEGER_MAX`].
const DIGITS_MAX: usize = 16;

/// `field` as an `i128` from a decimal string, `-?(0|[1-9][0-9]*)`: how integers wider than 53 bits
/// travel in JSON.
///
/// # Errors
/// [`Error::MalformedNumber`] for any other text, [`Error::NumberOutOfRange`] beyond an `i128`.
pub fn i128_from_decimal(field: &'static str, text: &str) -> Result<i128, Error> {
    let value = Excerpt::new(text);
    let fault = |fault| Error::MalformedNumber {
        field,
        value,
        fault,
    };
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() {
        return Err(fault(TextFault::Empty));
    }
    if let Some((offset, byte)) = digits
        .bytes()
        .enumerate()
        .find(|(_, b)| !b.is_ascii_digit())
    {
        let offset = text.len() - digits.len() + offset;
        return Err(fault(TextFault::Character { byte, offset }));
    }
    if digits.len() > 1 && digits.starts_with('0') {
        return Err(fault(TextFault::LeadingZero));
    }
    // only the magnitude is left to go wrong
    let limit = "an int128, between -2^127 and 2^127 - 1";
    text.parse().map_err(|_| Error::NumberOutOfRange {
        field,
        value,
        limit,
    })
}

/// The exact value of a JSON number literal, when it is an integer within ±[`INTEGER_MAX`].
pub(super) fn from_literal(literal: &str) -> Option<i64> {
    let unsigned = literal.strip_prefix('-');
    let magnitude = Decimal::split(unsigned.unwrap_or(literal)).magnitude()?;
    Some(if unsigned.is_some() {
        -magnitude
    } else {
        magnitude
    })
}

/// A literal taken apart: `whole` `.` `fraction` times ten to the `exponent`, nothing rounded.
struct Decimal<'a> {
    whole: &'a str,
    fraction: &'a str,
    exponent: i64,
}

impl<'a> Decimal<'a> {
    fn split(literal: &'a str) -> Self {
        let (mantissa, exponent) = literal.split_once(['e', 'E']).unwrap_or((literal, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        Self {
            whole,
            fraction,
            exponent: saturating_exponent(exponent),
        }
    }

    /// R22: `None` unless the value is an integer of magnitude at most 2^53 − 1.
    fn magnitude(&self) -> Option<i64> {
        let digits = || self.whole.bytes().chain(self.fraction.bytes());
        let total = digits().count();
        let leading = digits().take_while(is_zero).count();
        if leading == total {
            return Some(0);
        }
        let trailing = digits().rev().take_while(is_zero).count();
        let significant = total - leading - trailing;

        // the value is `significant` digits followed by `zeros` zeros
        let zeros = self
            .exponent
            .saturating_sub(i64::try_from(self.fraction.len()).ok()?)
            .saturating_add(i64::try_from(trailing).ok()?);
        let zeros = usize::try_from(zeros).ok()?;
        if zeros.saturating_add(significant) > DIGITS_MAX {
            return None;
        }
        let magnitude = digits()
            .skip(leading)
            .take(significant)
            .fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0'));
        let magnitude = magnitude * 10_i64.pow(u32::try_from(zeros).ok()?);
        (magnitude <= INTEGER_MAX).then_some(magnitude)
    }
}

fn is_zero(digit: &u8) -> bool {
    *digit == b'0'
}

/// An exponent of any length; beyond an `i64` only its sign matters.
fn saturating_exponent(text: &str) -> i64 {
    let saturated = if text.starts_with('-') {
        i64::MIN
    } else {
        i64::MAX
    };
    text.parse().unwrap_or(saturated)
}

#[cfg(test)]
mod tests {
    use super::{from_literal, i128_from_decimal};
    use crate::{Error, error::TextFault};

    #[test]
    fn a_fault_names_the_byte_of_the_text() {
        for (text, at) in [("x", 0), ("-x", 1), ("-12x", 3), ("12-", 2)] {
            let error = i128_from_decimal("value", text).unwrap_err();
            let Error::MalformedNumber {
                fault: TextFault::Character { offset, .. },
                ..
            } = error
            else {
                panic!("{text}: {error}");
            };
            assert_eq!(offset, at, "{text}");
        }
    }

    #[test]
    fn takes_integers_however_they_are_written() {
        for (literal, value) in [
            ("0", 0),
            ("-0", 0),
            ("0.000", 0),
            ("0e999999999999999999999", 0),
            ("1.0", 1),
            ("1e2", 100),
            ("1E+2", 100),
            ("100e-2", 1),
            ("0.5e1", 5),
            ("-0.00042e5", -42),
            ("9007199254740991", 9_007_199_254_740_991),
            ("-9007199254740991.000", -9_007_199_254_740_991),
            ("9007199254740991000e-3", 9_007_199_254_740_991),
            ("0.9007199254740991e16", 9_007_199_254_740_991),
        ] {
            assert_eq!(from_literal(literal), Some(value), "{literal}");
        }
    }

    /// R22: each of these shares its double with an integer, or is not an integer, or is too large.
    #[test]
    fn refuses_what_is_not_exactly_a_53_bit_integer() {
        for literal in [
            "0.5",
            "1e-1",
            "9007199254740991.4",
            "0.99999999999999999999",
            "9007199254740992",
            "9007199254740993",
            "-9007199254740992",
            "9999999999999999",
            "1e16",
            "1e400",
            "1e99999999999999999999",
            "1e-99999999999999999999",
            "1.00000000000000000000000000000000001",
        ] {
            assert_eq!(from_literal(literal), None, "{literal}");
        }
    }

    #[test]
    fn reads_decimal_strings_up_to_the_bounds_of_i128() {
        for value in [0, 1, -1, i128::MAX, i128::MIN] {
            let text = std::format!("{value}");
            assert_eq!(i128_from_decimal("n", &text).unwrap(), value);
        }
        assert_eq!(i128_from_decimal("n", "-0").unwrap(), 0);
    }

    #[test]
    fn refuses_decimal_strings_that_are_not_canonical() {
        let beyond = "170141183460469231731687303715884105728";
        for text in [
            "", "-", "+1", "-+1", "01", "-01", "00", " 1", "1 ", "1.0", "0x1", "١", beyond,
        ] {
            assert!(i128_from_decimal("n", text).is_err(), "{text:?}");
        }
    }
}
