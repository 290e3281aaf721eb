use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use std::{fmt, str::FromStr};

/// The rule that a step shows: `R1` to `R25`, or `§3a`, the order of checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    Ruling(u8),
    OrderOfChecks,
}

const LAST_RULING: u8 = 25;
/// R1 and so on.
const TITLES: [&str; LAST_RULING as usize] = [
    "Agent ids",
    "The canonical ABI",
    "The agent wallet",
    "The Solana agent",
    "FeedbackAuth",
    "Authorization on EVM",
    "The signer",
    "Limits",
    "Authorization on Solana",
    "X84's message",
    "The Ed25519 precompile",
    "Accounts on Solana",
    "Payment proofs (Solana)",
    "Tags",
    "The authorized registry's ABI",
    "Values and summaries",
    "Portable lengths",
    "Self-feedback",
    "Responses",
    "Validation",
    "File hashes",
    "JSON",
    "Signatures",
    "The interaction hash",
    "Error classes",
];

impl Rule {
    /// Every rule there is, in the order of the specification.
    pub fn all() -> impl Iterator<Item = Self> {
        (1..=LAST_RULING)
            .map(Self::Ruling)
            .chain([Self::OrderOfChecks])
    }

    /// What the rule is about: its title in docs/SPECIFICATION.md.
    pub fn title(self) -> &'static str {
        match self {
            Self::Ruling(number) => usize::from(number)
                .checked_sub(1)
                .and_then(|at| TITLES.get(at))
                .copied()
                .unwrap_or_default(),
            Self::OrderOfChecks => "Order of checks",
        }
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
            .ok_or_else(|| format!("`{text}` is not a rule: use R1 to R{LAST_RULING}, or §3a"))
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, path::PathBuf};

    #[test]
    fn titles_are_the_specification_s() {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        let text = fs::read_to_string(folder.join("../docs/SPECIFICATION.md")).unwrap();
        for rule in Rule::all().filter(|it| *it != Rule::OrderOfChecks) {
            // `**R8. Limits.** A feedback …`, or `**R18. Self-feedback** is refused …`
            let start = format!("**{rule}. {}", rule.title());
            let line = text.lines().find(|it| it.starts_with(&start));
            let rest = line.and_then(|it| it.strip_prefix(&start));
            let ends = |it: &str| it.starts_with("**") || it.starts_with(".**");
            assert!(rest.is_some_and(ends), "{start}");
        }
    }
}
