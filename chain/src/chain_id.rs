use crate::ChainError;
use concord_canonical::caip;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A CAIP-2 chain id, such as `eip155:84532`. Its form was checked when it was made.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
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

impl TryFrom<String> for ChainId {
    type Error = ChainError;

    fn try_from(text: String) -> Result<Self, ChainError> {
        Self::parse(&text)
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
