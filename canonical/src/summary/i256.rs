use crate::Word;
use core::fmt;

/// A signed 256-bit integer, two's complement: just what the summary's sum needs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct I256 {
    high: i128,
    low: u128,
}

impl I256 {
    /// 0.
    pub const ZERO: Self = Self { high: 0, low: 0 };

    /// `value · factor`, which always fits.
    pub fn product(value: i128, factor: u64) -> Self {
        let [a, b] = halves(value.unsigned_abs());
        let factor = u128::from(factor);
        let (low_part, high_part) = (a * factor, b * factor);
        let (low, carry) = low_part.overflowing_add(high_part << 64);
        let magnitude = Self {
            high: (high_part >> 64) as i128 + i128::from(carry), // below 2^64
            low,
        };
        if value < 0 {
            magnitude.wrapping_negate()
        } else {
            magnitude
        }
    }

    /// `self + other`, or `None` if 256 bits do not hold it.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        let (low, carry) = self.low.overflowing_add(other.low);
        let (high, overflow) = self.high.overflowing_add(other.high);
        let (high, overflow_of_carry) = high.overflowing_add(i128::from(carry));
        // A carry can undo the overflow of two negative halves, so the two cancel or both hold.
        (overflow == overflow_of_carry).then_some(Self { high, low })
    }

    /// Whether it is below 0.
    pub const fn is_negative(self) -> bool {
        self.high < 0
    }

    /// `self / divisor`, truncated toward zero; 0 if `divisor` is 0.
    pub fn divide(self, divisor: u64) -> Self {
        let mut limbs = self.magnitude();
        divide_limbs(&mut limbs, divisor);
        let [l3, l2, l1, l0] = limbs;
        let quotient = Self {
            high: (l3 << 64 | l2) as i128,
            low: l1 << 64 | l0,
        };
        if self.is_negative() {
            quotient.wrapping_negate()
        } else {
            quotient
        }
    }

    /// The value as an i128, or `None` if it does not fit.
    pub const fn to_i128(self) -> Option<i128> {
        let low = self.low as i128;
        // It fits where the high half only repeats the low half's sign.
        if self.high == low >> 127 {
            Some(low)
        } else {
            None
        }
    }

    /// 32 bytes, two's complement, big-endian: an ABI `int256`.
    pub fn to_be_bytes(self) -> Word {
        let mut bytes = [0; 32];
        bytes[..16].copy_from_slice(&self.high.to_be_bytes());
        bytes[16..].copy_from_slice(&self.low.to_be_bytes());
        bytes
    }

    /// From 32 bytes, two's complement, big-endian: an ABI `int256`.
    pub fn from_be_bytes(bytes: &Word) -> Self {
        let mut halves = [[0; 16]; 2];
        halves.as_flattened_mut().copy_from_slice(bytes);
        Self {
            high: i128::from_be_bytes(halves[0]),
            low: u128::from_be_bytes(halves[1]),
        }
    }

    /// Whether `divisor` divides it, which is not 0.
    pub(super) fn is_multiple_of(self, divisor: u64) -> bool {
        divide_limbs(&mut self.magnitude(), divisor) == 0
    }

    /// Base-2^64 digits, most significant first.
    const fn magnitude(self) -> [u128; 4] {
        // That of the smallest value is 2^255, right as an unsigned number.
        let magnitude = if self.is_negative() {
            self.wrapping_negate()
        } else {
            self
        };
        let [l2, l3] = halves(magnitude.high as u128);
        let [l0, l1] = halves(magnitude.low);
        [l3, l2, l1, l0]
    }

    const fn wrapping_negate(self) -> Self {
        let (low, carry) = (!self.low).overflowing_add(1);
        Self {
            high: (!self.high).wrapping_add(carry as i128),
            low,
        }
    }
}

impl fmt::Debug for I256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "I256({:#034x}_{:032x})", self.high, self.low)
    }
}

/// Low and high 64 bits, each in its own u128.
const fn halves(value: u128) -> [u128; 2] {
    [value & u64::MAX as u128, value >> 64]
}

/// Long division of base-2^64 digits, most significant first. Returns the remainder.
fn divide_limbs(limbs: &mut [u128; 4], divisor: u64) -> u128 {
    let divisor = u128::from(divisor);
    let mut remainder = 0;
    for limb in limbs {
        let dividend = remainder << 64 | *limb;
        *limb = dividend.checked_div(divisor).unwrap_or(0);
        remainder = dividend.checked_rem(divisor).unwrap_or(0);
    }
    remainder
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigInt;
    use proptest::prelude::*;

    #[test]
    fn a_number_is_shown_to_developers_in_two_halves() {
        let number = I256 { high: 1, low: 0xab };
        let expected = "I256(0x00000000000000000000000000000001_000000000000000000000000000000ab)";
        assert_eq!(std::format!("{number:?}"), expected);
    }

    fn big(value: I256) -> BigInt {
        BigInt::from_signed_bytes_be(&value.to_be_bytes())
    }

    fn fits(value: &BigInt) -> bool {
        let limit = BigInt::from(1) << 255;
        *value >= -&limit && *value < limit
    }

    proptest! {
        #[test]
        fn agrees_with_a_big_integer_library(
            a: [u8; 32],
            b: [u8; 32],
            factor in prop_oneof![any::<u64>(), Just(u64::MAX), Just(0)],
            value in prop_oneof![any::<i128>(), Just(i128::MIN), Just(i128::MAX)],
        ) {
            let (x, y) = (I256::from_be_bytes(&a), I256::from_be_bytes(&b));
            prop_assert_eq!(x.to_be_bytes(), a);
            prop_assert_eq!(big(I256::product(value, factor)), BigInt::from(value) * factor);
            let sum = big(x) + big(y);
            prop_assert_eq!(x.checked_add(y).map(big), fits(&sum).then_some(sum));
            if factor != 0 {
                prop_assert_eq!(big(x.divide(factor)), big(x) / factor);
                prop_assert_eq!(x.is_multiple_of(factor), big(x) % factor == BigInt::ZERO);
            }
            let multiple = I256::product(value, factor);
            prop_assert!(factor == 0 || multiple.is_multiple_of(factor));
            prop_assert_eq!(x.cmp(&y), big(x).cmp(&big(y)));
            prop_assert_eq!(x.to_i128(), i128::try_from(big(x)).ok());
            prop_assert_eq!(x.is_negative(), big(x) < BigInt::ZERO);
        }

        #[test]
        fn narrows_exactly_the_values_that_fit(value: i128) {
            prop_assert_eq!(I256::product(value, 1).to_i128(), Some(value));
        }
    }

    #[test]
    fn holds_the_ends_of_its_range() {
        let mut min = [0; 32];
        min[0] = 0x80;
        let mut max = [0xff; 32];
        max[0] = 0x7f;
        let (min, max) = (I256::from_be_bytes(&min), I256::from_be_bytes(&max));
        let one = I256::product(1, 1);
        assert_eq!(max.checked_add(one), None);
        assert_eq!(min.checked_add(I256::product(-1, 1)), None);
        assert_eq!(big(min.checked_add(max).unwrap()), BigInt::from(-1));
        assert_eq!(big(min.divide(1)), BigInt::from(-1) << 255);
        assert_eq!((min.to_i128(), max.to_i128()), (None, None));
        assert_eq!(one.divide(0), I256::ZERO);
    }
}
