use std::{fmt, str::FromStr};

/// When a transaction counts as final.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confirmations {
    /// With so many blocks, its own among them. At least one.
    Blocks(u64),
    /// When its block is no newer than the chain's `safe` one.
    Safe,
    /// When its block is no newer than the chain's `finalized` one.
    Finalized,
}

/// More blocks than any chain needs.
const BLOCKS_MAX: u64 = 1_000;

impl FromStr for Confirmations {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "safe" => Ok(Self::Safe),
            "finalized" => Ok(Self::Finalized),
            _ => match text.parse() {
                Ok(blocks @ 1..=BLOCKS_MAX) => Ok(Self::Blocks(blocks)),
                _ => Err(format!(
                    "neither a number of blocks from 1 to {BLOCKS_MAX}, nor safe, nor finalized"
                )),
            },
        }
    }
}

impl fmt::Display for Confirmations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blocks(blocks) => blocks.fmt(f),
            Self::Safe => f.write_str("safe"),
            Self::Finalized => f.write_str("finalized"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_and_tags_are_read() {
        for (text, read) in [
            ("1", Confirmations::Blocks(1)),
            ("1000", Confirmations::Blocks(1_000)),
            ("safe", Confirmations::Safe),
            ("finalized", Confirmations::Finalized),
        ] {
            assert_eq!(text.parse(), Ok(read));
            assert_eq!(read.to_string(), text);
        }
        for text in ["0", "1001", "-1", "latest", ""] {
            assert!(text.parse::<Confirmations>().is_err(), "{text}");
        }
    }
}
