use std::{
    fmt,
    sync::{Arc, PoisonError, RwLock},
};

use concord_canonical::{
    hash::keccak256,
    sign::{PublicKey, ed25519_verify, secp256k1_verify},
};
use concord_files::{Algorithm, Signer};

use super::signer::{ResponseSigner, SignerError};

/// Seconds that a settlement's block may be older than the signature: twice what a buyer lets a payment be valid by default.
pub const SETTLEMENT_AGE_MAX: u64 = 600;

/// A key and the time in which it may sign, as the registration file publishes it (R30).
#[derive(Clone)]
pub struct SigningKey {
    /// Signs with it.
    pub signer: Arc<dyn ResponseSigner>,
    /// Unix seconds from which it is valid.
    pub valid_from: u64,
    /// Unix seconds from which it is no longer valid.
    pub valid_until: Option<u64>,
}

/// Why a key is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// A key that could never sign.
    #[error("the key is valid until {valid_until}, which is not later than validFrom {valid_from}")]
    EmptyWindow {
        /// Unix seconds.
        valid_from: u64,
        /// Unix seconds.
        valid_until: u64,
    },
    /// The trial signature failed.
    #[error(transparent)]
    NotSigned(#[from] SignerError),
    /// The trial signature does not hold.
    #[error("the signer's trial signature is refused: {0}")]
    BadSignature(concord_canonical::Error),
}

impl SigningKey {
    /// A key that is valid from a time on.
    #[must_use]
    pub fn new(signer: Arc<dyn ResponseSigner>, valid_from: u64) -> Self {
        Self {
            signer,
            valid_from,
            valid_until: None,
        }
    }

    /// Whether `validFrom ≤ t < validUntil` (R30).
    #[must_use]
    pub fn is_valid_at(&self, unix_seconds: u64) -> bool {
        self.valid_from <= unix_seconds && self.valid_until.is_none_or(|until| unix_seconds < until)
    }

    /// Requires that the signer signs, and with the key that it names.
    async fn check(&self) -> Result<(), KeyError> {
        if let Some(valid_until) = self.valid_until.filter(|it| *it <= self.valid_from) {
            let valid_from = self.valid_from;
            return Err(KeyError::EmptyWindow {
                valid_from,
                valid_until,
            });
        }
        let trial = keccak256(b"x402 signing key trial");
        let signature = self.signer.sign(&trial).await?;
        let held = match self.signer.public_key() {
            PublicKey::Secp256k1(key) => secp256k1_verify(&key, &trial, &signature),
            PublicKey::Ed25519(key) => ed25519_verify(&key, &trial, &signature),
        };
        held.map_err(KeyError::BadSignature)
    }

    fn published(&self) -> Signer {
        let public_key = self.signer.public_key();
        Signer {
            public_key,
            algorithm: Algorithm::of_key(&public_key),
            valid_from: self.valid_from,
            valid_until: self.valid_until,
            comment: None,
            extra: Default::default(),
        }
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey")
            .field("public_key", &self.signer.public_key())
            .field("valid_from", &self.valid_from)
            .field("valid_until", &self.valid_until)
            .finish()
    }
}

/// The agent's keys. They can be rotated while the server runs.
#[derive(Debug, Default)]
pub struct SigningKeys(RwLock<Vec<SigningKey>>);

impl SigningKeys {
    /// Takes the keys, each of which must sign a trial.
    ///
    /// # Errors
    /// [`KeyError`].
    pub async fn new(keys: Vec<SigningKey>) -> Result<Self, KeyError> {
        for key in &keys {
            key.check().await?;
        }
        Ok(Self(RwLock::new(keys)))
    }

    /// Replaces every key.
    ///
    /// # Errors
    /// [`KeyError`]; then the old keys stay.
    pub async fn replace(&self, keys: Vec<SigningKey>) -> Result<(), KeyError> {
        let Self(checked) = Self::new(keys).await?;
        let checked = checked.into_inner().unwrap_or_else(PoisonError::into_inner);
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = checked;
        Ok(())
    }

    /// Adds a key that is valid from `at` on and signs [`SETTLEMENT_AGE_MAX`] later (see [`Self::at`]), and lets those with its algorithm expire `overlap` seconds later:
    /// X402 asks for 24 hours. Publish [`Self::published`] before `at`.
    ///
    /// # Errors
    /// [`KeyError`]; then nothing changes.
    pub async fn rotate(
        &self,
        signer: Arc<dyn ResponseSigner>,
        at: u64,
        overlap: u64,
    ) -> Result<(), KeyError> {
        let key = SigningKey::new(signer, at);
        key.check().await?;
        let algorithm = Algorithm::of_key(&key.signer.public_key());
        let end = at.saturating_add(overlap);
        let mut keys = self.0.write().unwrap_or_else(PoisonError::into_inner);
        for old in keys.iter_mut() {
            let is_same = Algorithm::of_key(&old.signer.public_key()) == algorithm;
            if is_same && old.valid_until.is_none_or(|until| until > end) {
                old.valid_until = Some(end);
            }
        }
        keys.push(key);
        Ok(())
    }

    /// The key that signs at a time. It is valid then, and was [`SETTLEMENT_AGE_MAX`] before if there is such a key, because
    /// verifiers ask for one that was valid when the payment settled (R30). Of several it is one of this algorithm if there is
    /// one, and the newest.
    #[must_use]
    pub fn at(&self, unix_seconds: u64, algorithm: Option<Algorithm>) -> Option<SigningKey> {
        let keys = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let settled_from = unix_seconds.saturating_sub(SETTLEMENT_AGE_MAX);
        let preference = |key: &&SigningKey| {
            let is_preferred = Some(Algorithm::of_key(&key.signer.public_key())) == algorithm;
            (key.valid_from <= settled_from, is_preferred, key.valid_from)
        };
        let valid = keys.iter().filter(|key| key.is_valid_at(unix_seconds));
        valid.max_by_key(preference).cloned()
    }

    /// The `signers` of the registration file.
    #[must_use]
    pub fn published(&self) -> Vec<Signer> {
        let keys = self.0.read().unwrap_or_else(PoisonError::into_inner);
        keys.iter().map(SigningKey::published).collect()
    }
}
