//! Keccak-256 and SHA-256: system calls inside a Solana program, `sha3` and `sha2` elsewhere. The target decides and not
//! the caller, so that nobody can pass a wrong hash function.

use crate::Word;

/// Keccak-256 of `data`.
#[inline]
pub fn keccak256(data: &[u8]) -> Word {
    keccak256v(&[data])
}

/// SHA-256 of `data`.
#[inline]
pub fn sha256(data: &[u8]) -> Word {
    sha256v(&[data])
}

/// Keccak-256 of the concatenation of `parts`.
#[cfg(target_os = "solana")]
#[inline]
pub fn keccak256v(parts: &[&[u8]]) -> Word {
    solana_keccak_hasher::hashv(parts).to_bytes()
}

/// SHA-256 of the concatenation of `parts`.
#[cfg(target_os = "solana")]
#[inline]
pub fn sha256v(parts: &[&[u8]]) -> Word {
    solana_sha256_hasher::hashv(parts).to_bytes()
}

/// Keccak-256 of the concatenation of `parts`.
#[cfg(not(target_os = "solana"))]
pub fn keccak256v(parts: &[&[u8]]) -> Word {
    let mut hasher = Keccak256Stream::default();
    for part in parts {
        hasher.update(part);
    }
    hasher.finish()
}

/// SHA-256 of the concatenation of `parts`.
#[cfg(not(target_os = "solana"))]
pub fn sha256v(parts: &[&[u8]]) -> Word {
    use sha2::Digest as _;
    let mut hasher = sha2::Sha256::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize().into()
}

/// Keccak-256 over bytes that arrive piece by piece. Off chain only: the Solana system call takes
/// everything at once.
#[cfg(not(target_os = "solana"))]
#[derive(Clone, Default)]
pub struct Keccak256Stream(sha3::Keccak256);

#[cfg(not(target_os = "solana"))]
impl Keccak256Stream {
    /// Appends `data` to the preimage.
    pub fn update(&mut self, data: &[u8]) {
        use sha3::Digest as _;
        self.0.update(data);
    }

    /// The hash of everything appended.
    pub fn finish(self) -> Word {
        use sha3::Digest as _;
        self.0.finalize().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::word;

    #[test]
    fn empty_input_hashes_to_the_published_values() {
        // Keccak team's and NIST's test vectors for the empty message.
        assert_eq!(
            keccak256(b""),
            word("c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470")
        );
        assert_eq!(
            sha256(b""),
            word("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        );
    }

    #[test]
    fn parts_hash_like_their_concatenation() {
        // FIPS 180-4's "abc", and Keccak-256's, cut in three.
        assert_eq!(
            sha256v(&[b"a", b"", b"bc"]),
            word("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        );
        assert_eq!(
            keccak256v(&[b"ab", b"", b"c"]),
            word("4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45")
        );
    }
}
