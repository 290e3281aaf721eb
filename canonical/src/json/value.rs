use alloc::{borrow::Cow, string::String, vec::Vec};
use core::cmp::Ordering;

use super::{number::Number, writer};
use crate::Error;

/// One JSON value. Strings and literals that need no unescaping borrow from the text.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, with the literal it was written as.
    Number(Number<'a>),
    /// A string, unescaped.
    String(Cow<'a, str>),
    /// An array.
    Array(Vec<Value<'a>>),
    /// An object.
    Object(Object<'a>),
}

impl<'a> Value<'a> {
    /// The RFC 8785 form of the value.
    #[must_use]
    pub fn to_canonical(&self) -> String {
        self.to_canonical_sized(0)
    }

    pub(super) fn to_canonical_sized(&self, capacity: usize) -> String {
        let mut out = String::with_capacity(capacity);
        writer::write(self, &mut out);
        out
    }

    /// The text of a string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// A boolean.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// A number.
    #[must_use]
    pub fn as_number(&self) -> Option<&Number<'a>> {
        match self {
            Self::Number(number) => Some(number),
            _ => None,
        }
    }

    /// The elements of an array.
    #[must_use]
    pub fn as_array(&self) -> Option<&[Value<'a>]> {
        match self {
            Self::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// An object.
    #[must_use]
    pub fn as_object(&self) -> Option<&Object<'a>> {
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }

    /// Whether the value is `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// A member of an object; `None` for a missing key and for what is not an object.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value<'a>> {
        self.as_object()?.get(key)
    }

    /// The integer `field` (R22), judged by its literal; `None` when the value is not a number.
    ///
    /// # Errors
    /// As [`Number::to_integer`].
    #[must_use]
    pub fn as_integer(&self, field: &'static str) -> Option<Result<i64, Error>> {
        self.as_number().map(|number| number.to_integer(field))
    }

    /// The integer `field`, given as a number (R22) or, when wider than 53 bits, as a decimal string;
    /// `None` when the value is neither.
    ///
    /// # Errors
    /// As [`Number::to_integer`] for a number and as [`super::i128_from_decimal`] for a string.
    #[must_use]
    pub fn as_i128(&self, field: &'static str) -> Option<Result<i128, Error>> {
        match self {
            Self::Number(number) => Some(number.to_integer(field).map(i128::from)),
            Self::String(text) => Some(super::i128_from_decimal(field, text)),
            _ => None,
        }
    }
}

/// The members of an object, sorted by their keys' UTF-16 code units (RFC 8785 §3.2.3), each key
/// once (R22).
#[derive(Clone, Debug, PartialEq)]
pub struct Object<'a> {
    members: Vec<(Cow<'a, str>, Value<'a>)>,
}

impl<'a> Object<'a> {
    /// The caller has sorted the members and refused duplicates.
    pub(super) fn from_sorted(members: Vec<(Cow<'a, str>, Value<'a>)>) -> Self {
        Self { members }
    }

    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value<'a>> {
        let at = self
            .members
            .binary_search_by(|(candidate, _)| compare_utf16(candidate, key))
            .ok()?;
        Some(&self.members[at].1)
    }

    /// Keys and values in canonical order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value<'a>)> {
        self.members
            .iter()
            .map(|(key, value)| (key.as_ref(), value))
    }

    /// The number of members.
    #[must_use]
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there is no member.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }
}

/// Compares two strings by their UTF-16 code units without transcoding them.
///
/// UTF-8 sorts by code point. UTF-16 differs from that in one place: a supplementary character
/// (lead byte 0xF0 and above, first unit a surrogate D800…DFFF) comes before U+E000…U+FFFF
/// (lead bytes 0xEE and 0xEF).
pub(super) fn compare_utf16(a: &str, b: &str) -> Ordering {
    let differing = a.bytes().zip(b.bytes()).find(|(x, y)| x != y);
    match differing {
        None => a.len().cmp(&b.len()),
        Some((0xEE | 0xEF, 0xF0..)) => Ordering::Greater,
        Some((0xF0.., 0xEE | 0xEF)) => Ordering::Less,
        Some((x, y)) => x.cmp(&y),
    }
}

#[cfg(test)]
mod tests {
    use super::compare_utf16;

    #[test]
    fn numbers_are_equal_if_they_are_written_alike() {
        let [one, same, other] = ["1", "1.0", "2"].map(|it| crate::json::parse(it).unwrap());
        assert_eq!(one, same);
        assert_ne!(one, other);
    }

    #[test]
    fn an_object_is_empty_without_members() {
        for (text, expected) in [("{}", true), ("{\"a\":1}", false)] {
            let parsed = crate::json::parse(text).unwrap();
            let object = parsed.as_object().unwrap();
            assert_eq!(
                (object.is_empty(), object.len()),
                (expected, usize::from(!expected))
            );
        }
    }

    #[test]
    fn only_null_is_null() {
        for (text, expected) in [
            ("null", true),
            ("false", false),
            ("0", false),
            ("{}", false),
            ("\"null\"", false),
        ] {
            assert_eq!(
                crate::json::parse(text).unwrap().is_null(),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn sorts_as_utf16_code_units_do() {
        let keys = [
            "",
            "a",
            "ab",
            "\u{7f}",
            "\u{80}",
            "\u{7ff}",
            "\u{800}",
            "\u{d7ff}",
            "\u{e000}",
            "\u{efff}",
            "\u{f000}",
            "\u{fb33}",
            "\u{ffff}",
            "\u{10000}",
            "\u{1f602}",
            "\u{3ffff}",
            "\u{40000}",
            "\u{10ffff}",
            "a\u{10000}",
            "a\u{ffff}",
        ];
        for a in keys {
            for b in keys {
                let expected = a.encode_utf16().cmp(b.encode_utf16());
                assert_eq!(compare_utf16(a, b), expected, "{a:?} {b:?}");
            }
        }
    }
}
