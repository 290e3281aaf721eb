//! Values that JSON writes as text.
use alloy::primitives::I256;
use concord_canonical::tag;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use std::{fmt, str::FromStr};

/// 32 bytes, written as `0x` and 64 lower-case hex digits: a tag, a hash, a digest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Bytes32(pub [u8; 32]);

/// Bytes of any length, written as `0x` and lower-case hex digits: a metadata value.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Bytes(pub Vec<u8>);

/// A 32-byte tag in `padded` encoding (R14). Written as its text if it has one, else as
/// [`Bytes32`] is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct PaddedTag(pub [u8; 32]);

/// A signed 128-bit integer, written in decimal digits as text: JSON numbers end at 2^53 (R22).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Integer(pub i128);

/// A signed 256-bit integer, written as [`Integer`] is: a sum of open feedback (R16).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct WideInteger(pub I256);

impl fmt::Display for Bytes32 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{}", hex::encode(self.0))
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{}", hex::encode(&self.0))
    }
}

impl fmt::Display for PaddedTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match tag::decode_padded(&self.0) {
            Ok(tag) => tag.fmt(f),
            Err(_) => Bytes32(self.0).fmt(f),
        }
    }
}

impl fmt::Display for Integer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for WideInteger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Bytes32 {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        hex_digits(text)
            .and_then(|bytes| <[u8; 32]>::try_from(bytes).ok())
            .map(Self)
            .ok_or_else(|| format!("`{text}` is not 0x and 64 lower-case hex digits"))
    }
}

impl FromStr for Bytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        hex_digits(text)
            .map(Self)
            .ok_or_else(|| format!("`{text}` is not 0x and pairs of lower-case hex digits"))
    }
}

impl FromStr for PaddedTag {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(word) = text.parse::<Bytes32>() {
            return Ok(Self(word.0));
        }
        tag::Tag::new(text)
            .map(|tag| Self(tag.padded()))
            .map_err(|fault| fault.to_string())
    }
}

impl FromStr for Integer {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.parse()
            .map(Self)
            .map_err(|_| format!("`{text}` is not a signed 128-bit integer"))
    }
}

impl FromStr for WideInteger {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        I256::from_dec_str(text)
            .map(Self)
            .map_err(|_| format!("`{text}` is not a signed 256-bit integer"))
    }
}

impl PaddedTag {
    pub fn is_empty(&self) -> bool {
        self.0 == [0; 32]
    }
}

fn hex_digits(text: &str) -> Option<Vec<u8>> {
    text.strip_prefix("0x")
        .filter(|digits| !digits.contains(|c: char| c.is_uppercase()))
        .and_then(|digits| hex::decode(digits).ok())
}

macro_rules! written_as_text {
    ($($name:ident),+) => {$(
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?
                    .parse()
                    .map_err(D::Error::custom)
            }
        }
    )+};
}

written_as_text!(Bytes32, Bytes, PaddedTag, Integer, WideInteger);
