use crate::{
    backend::secrets::{RunSecret, secret_of},
    model::Actor,
};
use alloy::{primitives::B256, signers::local::PrivateKeySigner};
use concord_canonical::Word;

/// What the keys of contract accounts are for.
const SESSION: &str = "session";

/// The key behind each label.
#[derive(Clone)]
pub enum Keyring {
    /// Known to everybody: on chains where nothing is worth anything.
    Public,
    /// Made from a secret, for one run on a chain that others use too.
    Derived(RunSecret),
}

impl Keyring {
    pub(super) fn secret(&self, actor: &Actor) -> Word {
        match self {
            Self::Public => secret_of("actor", &actor.0),
            Self::Derived(run) => run.secret_of("actor", &actor.0),
        }
    }

    /// What signs for a label off chain: its key; of a contract account, the key that its code
    /// accepts.
    pub(super) fn signing_secret(&self, actor: &Actor) -> Word {
        match self {
            _ if !actor.is_contract() => self.secret(actor),
            Self::Public => secret_of(SESSION, &actor.0),
            Self::Derived(run) => run.secret_of(SESSION, &actor.0),
        }
    }

    /// The key behind a label.
    pub fn key(&self, actor: &Actor) -> PrivateKeySigner {
        key_of(self.secret(actor))
    }

    /// The key of [`Self::signing_secret`].
    pub(super) fn signing_key(&self, actor: &Actor) -> PrivateKeySigner {
        key_of(self.signing_secret(actor))
    }
}

fn key_of(secret: Word) -> PrivateKeySigner {
    PrivateKeySigner::from_bytes(&B256::from(secret))
        .expect("keccak256 of a label is a secp256k1 secret")
}
