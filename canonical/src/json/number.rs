use super::integer;
use crate::error::{Error, Excerpt};

/// A JSON number: the double that RFC 8785 writes, and the literal that R22 judges.
#[derive(Clone, Copy, Debug)]
pub struct Number<'a> {
    literal: &'a str,
    value: f64,
}

impl<'a> Number<'a> {
    /// `literal` follows the grammar of RFC 8259 §6.
    ///
    /// # Errors
    /// [`Error::NumberOutOfRange`] when the nearest double is infinite.
    pub(super) fn new(literal: &'a str) -> Result<Self, Error> {
        // JSON's number grammar is a subset of what core parses, correctly rounded.
        match literal.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Self { literal, value }),
            _ => Err(Error::NumberOutOfRange {
                field: "JSON number",
                value: Excerpt::new(literal),
                limit: "a finite double",
            }),
        }
    }

    /// The number as it was written.
    #[must_use]
    pub fn literal(&self) -> &'a str {
        self.literal
    }

    /// The nearest double, ties to even.
    #[must_use]
    pub fn to_f64(&self) -> f64 {
        self.value
    }

    /// The value of `field`, which a profile calls integer (R22): `1.0` and `1e2` are integers.
    ///
    /// # Errors
    /// [`Error::NumberOutOfRange`] when the literal is not an integer or lies beyond ±(2^53 − 1).
    pub fn to_integer(&self, field: &'static str) -> Result<i64, Error> {
        integer::from_literal(self.literal).ok_or(Error::NumberOutOfRange {
            field,
            value: Excerpt::new(self.literal),
            limit: "an integer between -(2^53 - 1) and 2^53 - 1",
        })
    }
}

/// Two numbers are equal when RFC 8785 writes them alike.
impl PartialEq for Number<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}
