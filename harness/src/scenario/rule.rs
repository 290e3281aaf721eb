use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use std::{fmt, str::FromStr};

/// The rule that a step shows: a ruling `R1` to `R25`, or `§3a`, the order of checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    Ruling(u8),
    OrderOfChecks,
}

const LAST_RULING: u8 = 25;

impl Rule {
    /// Every rule there is, in the order of the specification.
    pub fn all() -> impl Iterator<Item = Self> {
        (1..=LAST_RULING)
            .map(Self::Ruling)
            .chain([Self::OrderOfChecks])
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ruling(number) => f.pad(&format!("R{number}")),
            Self::OrderOfChecks => f.pad("§3a"),
        }
    }
}

impl FromStr for Rule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::all()
            .find(|rule| rule.to_string() == text)
            .ok_or_else(|| format!("`{text}` is no rule: use R1 to R{LAST_RULING}, or §3a"))
    }
}

impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Rule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(D::Error::custom)
    }
}
