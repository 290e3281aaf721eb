use alloy_primitives::B256;
use core::fmt;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// Bytes, written as `0x` and lower-case hex digits.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HexBytes(pub Vec<u8>);

/// 32 bytes, written as [`HexBytes`].
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HexHash(pub [u8; 32]);

impl HexHash {
    pub(crate) const fn b256(self) -> B256 {
        B256::new(self.0)
    }
}

impl From<B256> for HexHash {
    fn from(hash: B256) -> Self {
        Self(hash.0)
    }
}

impl From<Vec<u8>> for HexBytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl fmt::Display for HexBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{}", hex::encode(&self.0))
    }
}

impl fmt::Display for HexHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{}", hex::encode(self.0))
    }
}

impl fmt::Debug for HexBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for HexHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for HexBytes {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl Serialize for HexHash {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for HexBytes {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        read(&text).map(Self).map_err(D::Error::custom)
    }
}

impl<'de> Deserialize<'de> for HexHash {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let bytes = HexBytes::deserialize(from)?.0;
        let length = bytes.len();
        let hash = bytes.try_into().map(Self);
        hash.map_err(|_| D::Error::custom(format!("{length} bytes; expected 32")))
    }
}

fn read(text: &str) -> Result<Vec<u8>, String> {
    let shown: String = text.chars().take(16).collect();
    let digits = text.strip_prefix("0x");
    let digits = digits.ok_or_else(|| format!("{shown:?} does not begin with 0x"))?;
    if digits.bytes().any(|digit| digit.is_ascii_uppercase()) {
        return Err(format!("{shown:?} has upper-case digits"));
    }
    hex::decode(digits).map_err(|error| format!("{shown:?}: {error}"))
}
