use serde::{Deserialize, Serialize};
use std::fmt;

/// The kind of chain whose declared variances (specification §3a) apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Chain {
    /// What §3a marks "E".
    Evm,
    /// What §3a marks "S".
    Svm,
}

/// The two kinds of feedback (specification §2), each with its own entries and indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    Authorized,
    Open,
}

/// A part of the registries that a registry may have without the others (specification §2). What it is compared
/// with, a registry declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum RegistryProfile {
    Identity,
    Open,
    Authorized,
    Validation,
}

impl RegistryProfile {
    pub const ALL: [Self; 4] = [
        Self::Identity,
        Self::Open,
        Self::Authorized,
        Self::Validation,
    ];

    /// As the command line and adapters write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Open => "open",
            Self::Authorized => "authorized",
            Self::Validation => "validation",
        }
    }
}

impl fmt::Display for RegistryProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Chain {
    pub const ALL: [Self; 2] = [Self::Evm, Self::Svm];
}

impl fmt::Display for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Evm => "evm",
            Self::Svm => "svm",
        })
    }
}
