use serde::{Deserialize, Deserializer, Serialize, de::Error};
use std::fmt;

/// The longest label, in characters.
pub const LABEL_MAX: usize = 32;

macro_rules! label {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(label: &str) -> Self {
                Self(label.to_owned())
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let label = String::deserialize(deserializer)?;
                check(&label).map_err(D::Error::custom)?;
                Ok(Self(label))
            }
        }
    };
}

label! {
    /// A key holder, by the name a scenario gives it. Each chain derives a key of its own from it.
    Actor
}
label! {
    /// An agent, by the name a scenario gives it. Native ids (R1) never leave a backend.
    Agent
}

/// How the label of an account begins that on EVM is a contract: an EOA delegated to code
/// (EIP-7702) whose signatures are another key's, by ERC-1271 (R3, R6). On Solana it is a key like
/// any other (declared variance 6).
pub const CONTRACT: &str = "contract-";
/// How the label of such an account begins if it refuses ERC-721 tokens that ask it first (R2).
pub const CLOSED_CONTRACT: &str = "contract-closed-";

impl Actor {
    /// Is it a contract account on EVM?
    pub fn is_contract(&self) -> bool {
        self.0.starts_with(CONTRACT)
    }

    /// Returns whether it is a contract account on EVM that refuses tokens.
    pub fn refuses_tokens(&self) -> bool {
        self.0.starts_with(CLOSED_CONTRACT)
    }
}

/// The prefix of an address without a label.
pub const UNLABELLED: &str = "unlabelled:";

fn check(label: &str) -> Result<(), String> {
    let starts_well = label.starts_with(|c: char| c.is_ascii_lowercase());
    let goes_on_well = label
        .chars()
        .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    if (starts_well && goes_on_well && label.len() <= LABEL_MAX) || label.starts_with(UNLABELLED) {
        return Ok(());
    }
    Err(format!(
        "`{label}` is not a label: a lower-case letter, then letters, digits or hyphens, at most {LABEL_MAX}"
    ))
}
