use concord_canonical::{Word, hash};

/// The 32-byte secret that stands behind a label in tests. Public by construction: never a key of
/// anything of value.
pub(super) fn secret_of(kind: &str, label: &str) -> Word {
    hash::keccak256v(&[
        b"concord scenario ",
        kind.as_bytes(),
        b" ",
        label.as_bytes(),
    ])
}
