//! Tags and their three encodings (R14), the standard tags (BP, X402), and the star mapping (BP).
//!
//! A canonical tag is at most 32 UTF-8 bytes without NUL. Its encodings:
//!
//! | name | bytes | used by |
//! |---|---|---|
//! | `padded` | the UTF-8 bytes at offset 0, zeros up to 32 | authorized profile on EVM |
//! | `hashed` | SHA-256 of the UTF-8 bytes | X84's `hashTag` |
//! | raw | the UTF-8 bytes | open profile |
//!
//! The empty tag is 32 zero bytes in both 32-byte encodings. On chain those are opaque.

mod standard;

pub use standard::{
    Range, STANDARD_TAGS, StandardTag, X402_TAGS, X402Tag, standard_tag, stars_of_value,
    stars_to_value,
};

use crate::error::{Error, TextFault};
use crate::limits::TAG_MAX;
use crate::{Word, hash, word};
use core::fmt;

/// A canonical tag (R14).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Tag<'a>(&'a str);

impl<'a> Tag<'a> {
    /// A tag of at most 32 UTF-8 bytes without NUL; it may be empty.
    ///
    /// # Errors
    /// [`Error::MalformedTag`].
    pub fn new(text: &'a str) -> Result<Self, Error> {
        Self::named("tag", text)
    }

    /// As [`Tag::new`]; errors name `field`, such as `tag1`.
    ///
    /// # Errors
    /// [`Error::MalformedTag`].
    pub fn named(field: &'static str, text: &'a str) -> Result<Self, Error> {
        check(text)
            .map_err(|fault| Error::MalformedTag { field, fault })
            .map(|()| Self(text))
    }

    /// The tag's text.
    pub const fn as_str(&self) -> &'a str {
        self.0
    }

    /// Whether the tag is empty, the wildcard of a filter (R16).
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The `padded` encoding: UTF-8 bytes, then zeros (bytes32 on EVM).
    pub fn padded(&self) -> Word {
        let mut padded = word::ZERO;
        padded[..self.0.len()].copy_from_slice(self.0.as_bytes());
        padded
    }

    /// The `hashed` encoding: SHA-256 of the UTF-8 bytes, zeros for the empty tag.
    pub fn hashed(&self) -> Word {
        match self.is_empty() {
            true => word::ZERO, // R14
            false => hash::sha256(self.0.as_bytes()),
        }
    }
}

impl fmt::Display for Tag<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0)
    }
}

/// The tag of a `padded` word.
///
/// # Errors
/// [`Error::MalformedTag`] for a NUL before the last byte that is not one, and for bytes that are
/// not UTF-8.
pub fn decode_padded(padded: &Word) -> Result<Tag<'_>, Error> {
    let field = "tag";
    let length = padded.iter().rposition(|byte| *byte != 0);
    let bytes = &padded[..length.map_or(0, |last| last + 1)];
    let text = core::str::from_utf8(bytes).map_err(|error| Error::MalformedTag {
        field,
        fault: TextFault::NotUtf8 {
            offset: error.valid_up_to(),
        },
    })?;
    Tag::named(field, text)
}

/// R14: length, then NUL.
fn check(text: &str) -> Result<(), TextFault> {
    if text.len() > TAG_MAX {
        return Err(TextFault::Length {
            length: text.len(),
            min: 0,
            max: TAG_MAX,
        });
    }
    check_no_nul(text)
}

/// A NUL would end the text early wherever it is a separator or a padding.
pub(crate) fn check_no_nul(text: &str) -> Result<(), TextFault> {
    match text.bytes().position(|byte| byte == 0) {
        Some(offset) => Err(TextFault::Character { byte: 0, offset }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorClass;
    use crate::testing::word;
    use proptest::prelude::*;

    #[test]
    fn a_tag_is_shown_as_it_is() {
        let tag = Tag::new("starred").unwrap();
        assert_eq!(std::format!("{tag}|{tag:>9}"), "starred|  starred");
    }

    #[test]
    fn r14_hashed_tags_equal_x84s_published_hashes() {
        // `hashTag("reliability")`, computed by X84's SDK (facts on Solana, 7.4).
        assert_eq!(
            Tag::new("reliability").unwrap().hashed(),
            word("819bb986f4199f141bc48a85fee53780516ee28183b3cc883c3411ff7d9e4ada")
        );
        assert_eq!(
            Tag::new("speed").unwrap().hashed()[..4],
            [0xbb, 0xcc, 0xb9, 0xc0]
        );
    }

    #[test]
    fn r14_padded_tags_are_left_aligned() {
        // Solidity's `bytes32("starred")`.
        let padded = word("7374617272656400000000000000000000000000000000000000000000000000");
        assert_eq!(Tag::new("starred").unwrap().padded(), padded);
        assert_eq!(decode_padded(&padded).unwrap().as_str(), "starred");
    }

    #[test]
    fn r14_the_empty_tag_is_zeros_in_both_encodings() {
        let empty = Tag::new("").unwrap();
        assert_eq!((empty.padded(), empty.hashed()), ([0; 32], [0; 32]));
        assert_eq!(decode_padded(&[0; 32]).unwrap(), empty);
    }

    #[test]
    fn r14_refuses_33_bytes_and_nul() {
        assert!(Tag::new(&"x".repeat(32)).is_ok());
        for text in [
            "x".repeat(33).as_str(),
            "é".repeat(17).as_str(),
            "a\0b",
            "\0",
            "a\0",
        ] {
            let error = Tag::new(text).unwrap_err();
            assert_eq!(error.class(), ErrorClass::MalformedTag, "{text:?}");
        }
    }

    #[test]
    fn r14_refuses_padded_words_that_no_tag_encodes() {
        let mut interior_nul = [0; 32];
        interior_nul[31] = b'x';
        let not_utf8 = word("ff00000000000000000000000000000000000000000000000000000000000000");
        // A three-byte character cut off after two bytes.
        let cut = word("61e28200000000000000000000000000000000000000000000000000000000ff");
        for padded in [interior_nul, not_utf8, cut] {
            let error = decode_padded(&padded).unwrap_err();
            assert_eq!(error.class(), ErrorClass::MalformedTag, "{padded:?}");
        }
    }

    proptest! {
        #[test]
        fn padded_tags_round_trip(text in "[^\0]{0,12}") {
            prop_assume!(text.len() <= TAG_MAX);
            let tag = Tag::new(&text).unwrap();
            let padded = tag.padded();
            prop_assert_eq!(decode_padded(&padded).unwrap().as_str(), text);
        }

        #[test]
        fn any_word_decodes_to_a_tag_that_encodes_it_or_is_refused(padded: [u8; 32]) {
            if let Ok(tag) = decode_padded(&padded) {
                prop_assert_eq!(tag.padded(), padded);
            }
        }
    }
}
