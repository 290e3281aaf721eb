use crate::{backend::secrets::secret_of, model::Actor};
use alloy::{primitives::B256, signers::local::PrivateKeySigner};
use concord_canonical::{Word, hash};

/// The key behind each label.
#[derive(Clone)]
pub enum Keyring {
    /// Known to everybody: on chains where nothing is worth anything.
    Public,
    /// Made from a secret, for one run on a chain that others use too.
    Derived(RunSecret),
}

/// What the keys of one run are made from. Whoever has the funder's key can make it again.
#[derive(Clone)]
pub struct RunSecret(Word);

impl RunSecret {
    /// Of the run that `nonce` names, on the chain of this CAIP-2 id.
    pub fn of_run(funder: &PrivateKeySigner, chain: &str, nonce: &Word) -> Self {
        let secret = funder.to_bytes();
        Self(hash::keccak256v(&[
            b"concord conform live run 1 ",
            secret.as_slice(),
            chain.as_bytes(),
            nonce,
        ]))
    }

    /// Of a run in which nothing can be sent.
    pub fn without_funds(nonce: &Word) -> Self {
        Self(hash::keccak256v(&[b"concord read-only run 1 ", nonce]))
    }
}

impl Keyring {
    pub(super) fn secret(&self, actor: &Actor) -> Word {
        match self {
            Self::Public => secret_of("actor", &actor.0),
            Self::Derived(RunSecret(run)) => {
                hash::keccak256v(&[b"concord actor ", run, actor.0.as_bytes()])
            }
        }
    }

    /// The key behind a label.
    pub fn key(&self, actor: &Actor) -> PrivateKeySigner {
        PrivateKeySigner::from_bytes(&B256::from(self.secret(actor)))
            .expect("keccak256 of a label is a secp256k1 secret")
    }
}
