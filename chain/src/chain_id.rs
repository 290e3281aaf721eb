use crate::ChainError;
use concord_canonical::caip;
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use std::fmt;

/// A CAIP-2 chain id, such as `eip155:84532`. Its form was checked when it was made.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(into = "String")]
pub struct ChainId(String);

impl ChainId {
    /// Parses the text form.
    ///
    /// # Errors
    /// [`ChainError::ChainId`] with the part that breaks the form.
    pub fn parse(text: &str) -> Result<Self, ChainError> {
        caip::ChainId::parse(text).map_err(|error| ChainError::ChainId(error.to_string()))?;
        Ok(Self(text.to_owned()))
    }

    /// The part before the colon: `eip155` or `solana`, or another.
    pub fn namespace(&self) -> &str {
        self.0
            .split_once(':')
            .map_or("", |(namespace, _)| namespace)
    }

    /// The part after the colon.
    pub fn reference(&self) -> &str {
        self.0
            .split_once(':')
            .map_or("", |(_, reference)| reference)
    }

    /// The chain's number in the namespace `eip155`.
    ///
    /// # Errors
    /// [`ChainError::ChainId`] if it is not a number of 64 bits.
    pub fn evm_number(&self) -> Result<u64, ChainError> {
        (self.reference().parse())
            .map_err(|_| ChainError::ChainId(format!("{} is beyond 64 bits", self.reference())))
    }

    /// The name of a file or folder about this chain: some file systems refuse a colon.
    pub fn file_stem(&self) -> String {
        self.0.replace(':', "-")
    }
}

impl<'de> Deserialize<'de> for ChainId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        // DEP-66: without the text
        Self::parse(&text).map_err(|_| D::Error::custom("expected a CAIP-2 chain id"))
    }
}

impl From<ChainId> for String {
    fn from(chain: ChainId) -> Self {
        chain.0
    }
}

impl std::str::FromStr for ChainId {
    type Err = ChainError;

    fn from_str(text: &str) -> Result<Self, ChainError> {
        Self::parse(text)
    }
}

impl fmt::Display for ChainId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
