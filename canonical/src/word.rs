//! 32-byte big-endian words: what `abi.encode` puts on the wire, and what decimal text means.

use crate::Word;
use crate::error::{Error, Excerpt, TextFault};
use core::fmt;

/// The word whose value is 0.
pub const ZERO: Word = [0; 32];

/// Most decimal digits of a uint256.
pub const DECIMAL_DIGITS_MAX: usize = 78;

/// `uint64` as a word: 24 zero bytes, then 8 bytes big-endian.
#[inline]
pub const fn from_u64(value: u64) -> Word {
    from_u128(value as u128)
}

/// `uint128` as a word: 16 zero bytes, then 16 bytes big-endian.
#[inline]
pub const fn from_u128(value: u128) -> Word {
    let bytes = value.to_be_bytes();
    let mut word = ZERO;
    let mut i = 0;
    while i < 16 {
        word[16 + i] = bytes[i];
        i += 1;
    }
    word
}

/// `address` as a word: 12 zero bytes, then the 20 bytes.
#[inline]
pub const fn from_address(address: &[u8; 20]) -> Word {
    let mut word = ZERO;
    let mut i = 0;
    while i < 20 {
        word[12 + i] = address[i];
        i += 1;
    }
    word
}

/// The word as `uint64`, or `None` if one of the upper 24 bytes is not zero.
pub fn to_u64(word: &Word) -> Option<u64> {
    let (high, low) = word.split_at(24);
    let low: [u8; 8] = low.try_into().ok()?;
    high.iter()
        .all(|byte| *byte == 0)
        .then(|| u64::from_be_bytes(low))
}

/// The word as `address`, or `None` if one of the upper 12 bytes is not zero.
pub fn to_address(word: &Word) -> Option<[u8; 20]> {
    let (high, low) = word.split_at(12);
    let low: [u8; 20] = low.try_into().ok()?;
    high.iter().all(|byte| *byte == 0).then_some(low)
}

/// A uint256 from its decimal text `0|[1-9][0-9]*`.
///
/// # Errors
/// [`Error::MalformedNumber`] for anything but that form, [`Error::NumberOutOfRange`] from 2^256
/// on; both name `field`.
pub fn parse_decimal(field: &'static str, text: &str) -> Result<Word, Error> {
    let fault = |fault| Error::MalformedNumber {
        field,
        value: Excerpt::new(text),
        fault,
    };
    if text.is_empty() {
        return Err(fault(TextFault::Empty));
    }
    if text.len() > 1 && text.starts_with('0') {
        return Err(fault(TextFault::LeadingZero));
    }
    let mut word = ZERO;
    for (offset, byte) in text.bytes().enumerate() {
        if !byte.is_ascii_digit() {
            return Err(fault(TextFault::Character { byte, offset }));
        }
        times_ten_plus(&mut word, byte - b'0').ok_or(Error::NumberOutOfRange {
            field,
            value: Excerpt::new(text),
            limit: "a uint256, at most 2^256 - 1",
        })?;
    }
    Ok(word)
}

/// `word = word * 10 + digit`, or `None` on overflow.
fn times_ten_plus(word: &mut Word, digit: u8) -> Option<()> {
    let mut carry = u16::from(digit);
    for byte in word.iter_mut().rev() {
        let sum = u16::from(*byte) * 10 + carry;
        *byte = (sum & 0xff) as u8;
        carry = sum >> 8;
    }
    (carry == 0).then_some(())
}

/// Shows a word as the decimal text of a uint256, without leading zeros.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decimal(pub Word);

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut digits = [b'0'; DECIMAL_DIGITS_MAX];
        let mut rest = self.0;
        let mut start = DECIMAL_DIGITS_MAX;
        loop {
            start -= 1;
            digits[start] = b'0' + divide_by_ten(&mut rest);
            if rest == ZERO {
                break;
            }
        }
        let text = core::str::from_utf8(&digits[start..]).map_err(|_| fmt::Error)?;
        f.pad_integral(true, "", text)
    }
}

/// `word = word / 10`; returns the remainder.
fn divide_by_ten(word: &mut Word) -> u8 {
    let mut remainder = 0u16;
    for byte in word.iter_mut().skip_while(|byte| **byte == 0) {
        let value = (remainder << 8) | u16::from(*byte);
        *byte = (value / 10) as u8;
        remainder = value % 10;
    }
    remainder as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorClass;
    use std::string::{String, ToString};

    const UINT256_MAX: &str =
        "115792089237316195423570985008687907853269984665640564039457584007913129639935";

    #[test]
    fn integers_and_addresses_are_right_aligned() {
        assert_eq!(from_u64(0x0102)[30..], [1, 2]);
        assert_eq!(from_u64(u64::MAX)[..24], [0; 24]);
        assert_eq!(from_u128(u128::MAX)[16..], [0xff; 16]);
        assert_eq!(from_address(&[7; 20])[..12], [0; 12]);
        assert_eq!(to_u64(&from_u64(u64::MAX)), Some(u64::MAX));
        assert_eq!(to_address(&from_address(&[7; 20])), Some([7; 20]));
    }

    #[test]
    fn refuses_dirty_high_bytes() {
        for position in 0..24 {
            let mut word = ZERO;
            word[position] = 1;
            assert_eq!(to_u64(&word), None, "byte {position}");
        }
        for position in 0..12 {
            let mut word = ZERO;
            word[position] = 0x80;
            assert_eq!(to_address(&word), None, "byte {position}");
        }
    }

    #[test]
    fn decimal_text_round_trips_at_the_ends() {
        assert_eq!(parse_decimal("n", "0").unwrap(), ZERO);
        assert_eq!(parse_decimal("n", UINT256_MAX).unwrap(), [0xff; 32]);
        assert_eq!(Decimal([0xff; 32]).to_string(), UINT256_MAX);
        assert_eq!(Decimal(ZERO).to_string(), "0");
        assert_eq!(Decimal(from_u64(1_000_000)).to_string(), "1000000");
    }

    #[test]
    fn refuses_text_that_is_not_a_decimal_uint256() {
        let class = |text: &str| parse_decimal("n", text).unwrap_err().class();
        for text in [
            "", "00", "01", "+1", "-1", "1 ", " 1", "0x1", "1e3", "1.0", "١",
        ] {
            assert_eq!(class(text), ErrorClass::BadRequest, "{text:?}");
        }
        let mut above = String::from(UINT256_MAX);
        above.replace_range(77.., "6");
        assert_eq!(class(&above), ErrorClass::NumberOutOfRange);
        assert_eq!(class(&"9".repeat(5000)), ErrorClass::NumberOutOfRange);
    }
}
