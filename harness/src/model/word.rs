use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use std::{fmt, str::FromStr};

/// 32 bytes, written as `0x` and 64 lower-case hex digits: a tag, a hash, a digest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Bytes32(pub [u8; 32]);

impl fmt::Display for Bytes32 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{}", hex::encode(self.0))
    }
}

impl fmt::Debug for Bytes32 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Bytes32 {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let digits = text
            .strip_prefix("0x")
            .filter(|digits| digits.len() == 64 && !digits.contains(|c: char| c.is_uppercase()));
        let mut bytes = [0; 32];
        match digits.map(|digits| hex::decode_to_slice(digits, &mut bytes)) {
            Some(Ok(())) => Ok(Self(bytes)),
            _ => Err(format!("`{text}` is not 0x and 64 lower-case hex digits")),
        }
    }
}

impl Serialize for Bytes32 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Bytes32 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(D::Error::custom)
    }
}
