use crate::{
    backend::secrets::{RunSecret, secret_of},
    model::Actor,
};
use alloy::{primitives::B256, signers::local::PrivateKeySigner};
use concord_canonical::Word;

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

    /// The key behind a label.
    pub fn key(&self, actor: &Actor) -> PrivateKeySigner {
        PrivateKeySigner::from_bytes(&B256::from(self.secret(actor)))
            .expect("keccak256 of a label is a secp256k1 secret")
    }
}
