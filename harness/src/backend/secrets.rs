use concord_canonical::{Word, hash};

/// The 32-byte secret of a label in tests. Public by construction: never a key of
/// anything of value.
pub(super) fn secret_of(kind: &str, label: &str) -> Word {
    hash::keccak256v(&[
        b"concord scenario ",
        kind.as_bytes(),
        b" ",
        label.as_bytes(),
    ])
}

/// What the keys of one run are made from, on a chain that others use too. Whoever has the
/// funder's key can make it again.
#[derive(Clone)]
pub struct RunSecret(Word);

impl RunSecret {
    /// Of the run that `nonce` names, on the chain of this CAIP-2 id. `funder`: the secret key.
    pub fn of_run(funder: &[u8], chain: &str, nonce: &Word) -> Self {
        Self(hash::keccak256v(&[
            b"concord conform live run 1 ",
            funder,
            chain.as_bytes(),
            nonce,
        ]))
    }

    /// Of a run in which nothing can be sent.
    pub fn without_funds(nonce: &Word) -> Self {
        Self(hash::keccak256v(&[b"concord read-only run 1 ", nonce]))
    }

    pub(super) fn secret_of(&self, kind: &str, label: &str) -> Word {
        hash::keccak256v(&[
            b"concord ",
            kind.as_bytes(),
            b" ",
            &self.0,
            label.as_bytes(),
        ])
    }
}
