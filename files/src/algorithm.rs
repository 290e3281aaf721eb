use concord_canonical::{
    caip::{EIP155, SOLANA},
    sign::PublicKey,
};
use serde::Serialize;

/// A signature algorithm of X402.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Algorithm {
    /// Solana's.
    Ed25519,
    /// Ethereum's.
    Secp256k1,
}

impl Algorithm {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Ed25519, Self::Secp256k1];

    /// The name in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ed25519 => "ed25519",
            Self::Secp256k1 => "secp256k1",
        }
    }

    /// The algorithm that addresses of a CAIP-2 namespace sign with (R23); `None` for other namespaces.
    #[must_use]
    pub fn of_namespace(namespace: &str) -> Option<Self> {
        match namespace {
            EIP155 => Some(Self::Secp256k1),
            SOLANA => Some(Self::Ed25519),
            _ => None,
        }
    }

    /// The algorithm of a public key.
    #[must_use]
    pub const fn of_key(key: &PublicKey) -> Self {
        match key {
            PublicKey::Ed25519(_) => Self::Ed25519,
            PublicKey::Secp256k1(_) => Self::Secp256k1,
        }
    }
}
