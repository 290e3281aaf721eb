use core::fmt;

/// Lengths, in words.
struct Range(usize, usize);

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self(min, max) if min == max => write!(f, "{min}"),
            Self(min, max) => write!(f, "{min} to {max}"),
        }
    }
}

/// What is wrong with a piece of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TextFault {
    /// Empty, where a value is required.
    #[error("is empty")]
    Empty,
    /// A part that the form has and the text has not.
    #[error("is missing")]
    Missing,
    /// Too few or too many bytes.
    #[error("is {length} bytes, must be {}", Range(*min, *max))]
    Length {
        /// Its length in bytes.
        length: usize,
        /// The least length.
        min: usize,
        /// The greatest length.
        max: usize,
    },
    /// A byte outside the form's alphabet.
    #[error("has byte 0x{byte:02x} at offset {offset}, which its form does not allow")]
    Character {
        /// The byte.
        byte: u8,
        /// Its offset in the part.
        offset: usize,
    },
    /// A decimal number that begins with a superfluous 0.
    #[error("has a leading zero")]
    LeadingZero,
    /// Hex digits that do not follow a `0x`.
    #[error("does not begin with 0x")]
    NoHexPrefix,
    /// Base58 text that decodes to another number of bytes.
    #[error("is not base58 of {expected} bytes")]
    Base58Length {
        /// The number of bytes it must decode to.
        expected: usize,
    },
    /// Bytes that are not UTF-8.
    #[error("is not UTF-8 at offset {offset}")]
    NotUtf8 {
        /// Offset of the first bad byte.
        offset: usize,
    },
    /// A name outside a closed list.
    #[error("must be {allowed}")]
    Name {
        /// The names it may have, in words.
        allowed: &'static str,
    },
    /// A number outside its range.
    #[error("must be {range}")]
    Range {
        /// The range, in words.
        range: &'static str,
    },
}

/// Bytes of a text that an [`Excerpt`] keeps.
const EXCERPT_MAX: usize = 40;

/// The first bytes of an offending text, kept without allocation, printed on one line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Excerpt {
    bytes: [u8; EXCERPT_MAX],
    length: u8,
    is_cut: bool,
}

impl Excerpt {
    /// Keeps the first 40 bytes of `text`, cut between characters.
    pub fn new(text: &str) -> Self {
        let mut end = text.len().min(EXCERPT_MAX);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let mut bytes = [0; EXCERPT_MAX];
        bytes[..end].copy_from_slice(&text.as_bytes()[..end]);
        Self {
            bytes,
            length: end as u8,
            is_cut: end < text.len(),
        }
    }

    /// The text kept.
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(&self.bytes[..usize::from(self.length)]).unwrap_or_default()
    }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.as_str().escape_debug(), f)?;
        f.write_str(if self.is_cut { "…" } else { "" })
    }
}

impl fmt::Debug for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn a_length_that_may_vary_is_given_as_a_range() {
        let fault = |min, max| {
            TextFault::Length {
                length: 9,
                min,
                max,
            }
            .to_string()
        };
        assert_eq!(fault(1, 8), "is 9 bytes, must be 1 to 8");
        assert_eq!(fault(8, 8), "is 9 bytes, must be 8");
    }

    #[test]
    fn an_excerpt_is_quoted_for_developers() {
        assert_eq!(std::format!("{:?}", Excerpt::new("a\"b\n")), r#""a\"b\n""#);
    }

    #[test]
    fn excerpt_cuts_between_characters_and_escapes_control_bytes() {
        assert_eq!(Excerpt::new("a\nb\0").to_string(), "a\\nb\\0");
        let long = "é".repeat(30);
        assert_eq!(Excerpt::new(&long).as_str(), "é".repeat(20));
        assert!(Excerpt::new(&long).to_string().ends_with('…'));
        let odd = std::format!("a{}", "é".repeat(30));
        assert_eq!(Excerpt::new(&odd).as_str().len(), 39);
    }
}
