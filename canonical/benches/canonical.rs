//! This crate beside the libraries it stands on. Both sides of a comparison run in one process, one after
//! the other; `docs/BENCHMARKS.md` holds the ratios.

use divan::{Bencher, black_box};

fn main() {
    divan::main();
}

/// `keccak256v` as preimages use it, against sha3 fed with the bytes already joined.
mod keccak {
    use super::*;
    use sha3::{Digest, Keccak256};

    /// One word, an authorization's seven words, one keccak block and a file.
    const LENGTHS: [usize; 4] = [32, 224, 136, 1200];

    #[divan::bench(args = LENGTHS, sample_size = 500)]
    fn concord(bencher: Bencher, length: usize) {
        let data = vec![0x5A; length];
        bencher.bench_local(|| concord_canonical::hash::keccak256(black_box(&data)));
    }

    #[divan::bench(args = LENGTHS, sample_size = 500)]
    fn sha3(bencher: Bencher, length: usize) {
        let data = vec![0x5A; length];
        bencher.bench_local(|| <[u8; 32]>::from(Keccak256::digest(black_box(&data))));
    }
}

/// A feedback file of 1.2 KB, from text to canonical text.
mod jcs {
    use super::*;

    const FILE: &str = include_str!("feedback_file.json");

    #[divan::bench(sample_size = 100)]
    fn concord() -> String {
        concord_canonical::json::canonicalize(black_box(FILE)).expect("a file")
    }

    #[divan::bench(sample_size = 100)]
    fn serde_json_canonicalizer() -> String {
        let value: serde_json::Value = serde_json::from_str(black_box(FILE)).expect("a file");
        serde_json_canonicalizer::to_string(&value).expect("a value")
    }

    /// Not canonical: what reading and writing cost without the scheme.
    #[divan::bench(sample_size = 100)]
    fn serde_json() -> String {
        let value: serde_json::Value = serde_json::from_str(black_box(FILE)).expect("a file");
        serde_json::to_string(&value).expect("a value")
    }
}

mod secp256k1 {
    use super::*;
    use concord_canonical::sign;
    use k256::ecdsa::{
        RecoveryId, Signature, SigningKey, VerifyingKey, signature::hazmat::PrehashVerifier,
    };

    const SECRET: [u8; 32] = [0x11; 32];
    const DIGEST: [u8; 32] = [0x22; 32];

    fn signed() -> ([u8; 33], [u8; 65]) {
        let key = sign::secp256k1_public_key(&SECRET).expect("a key");
        (key, sign::secp256k1_sign(&SECRET, &DIGEST).expect("a key"))
    }

    #[divan::bench]
    fn verify_concord(bencher: Bencher) {
        let (key, signature) = signed();
        bencher.bench_local(|| {
            sign::secp256k1_verify(&key, black_box(&DIGEST), &signature).expect("holds")
        });
    }

    #[divan::bench]
    fn verify_k256(bencher: Bencher) {
        let (key, signature) = signed();
        bencher.bench_local(|| {
            let key = VerifyingKey::from_sec1_bytes(&key).expect("a key");
            let signature = Signature::from_slice(&signature[..64]).expect("scalars");
            key.verify_prehash(black_box(&DIGEST), &signature)
                .expect("holds");
        });
    }

    #[divan::bench]
    fn recover_concord(bencher: Bencher) {
        let (_, signature) = signed();
        bencher
            .bench_local(|| sign::recover_address(black_box(&DIGEST), &signature).expect("a key"));
    }

    #[divan::bench]
    fn recover_k256(bencher: Bencher) {
        let (_, bytes) = signed();
        bencher.bench_local(|| {
            let signature = Signature::from_slice(&bytes[..64]).expect("scalars");
            let id = RecoveryId::from_byte(bytes[64]).expect("v");
            VerifyingKey::recover_from_prehash(black_box(&DIGEST), &signature, id).expect("a key")
        });
    }

    #[divan::bench]
    fn sign_concord() -> [u8; 65] {
        sign::secp256k1_sign(&SECRET, black_box(&DIGEST)).expect("a key")
    }

    #[divan::bench]
    fn sign_k256() -> (Signature, RecoveryId) {
        let key = SigningKey::from_slice(&SECRET).expect("a key");
        key.sign_prehash_recoverable(black_box(&DIGEST))
            .expect("a signature")
    }
}

mod ed25519 {
    use super::*;
    use concord_canonical::sign;
    use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};

    const SEED: [u8; 32] = [0x11; 32];
    /// As long as an authorization's message (R9).
    const MESSAGE: [u8; 56] = [0x22; 56];

    #[divan::bench]
    fn verify_concord(bencher: Bencher) {
        let (key, signature) = (
            sign::ed25519_public_key(&SEED),
            sign::ed25519_sign(&SEED, &MESSAGE),
        );
        bencher.bench_local(|| {
            sign::ed25519_verify(&key, black_box(&MESSAGE), &signature).expect("holds")
        });
    }

    #[divan::bench]
    fn verify_dalek(bencher: Bencher) {
        let (key, signature) = (
            sign::ed25519_public_key(&SEED),
            sign::ed25519_sign(&SEED, &MESSAGE),
        );
        bencher.bench_local(|| {
            let key = VerifyingKey::from_bytes(&key).expect("a key");
            let signature = Signature::from_bytes(&signature);
            key.verify_strict(black_box(&MESSAGE), &signature)
                .expect("holds");
        });
    }

    #[divan::bench]
    fn sign_concord() -> [u8; 64] {
        sign::ed25519_sign(&SEED, black_box(&MESSAGE))
    }

    #[divan::bench]
    fn sign_dalek() -> [u8; 64] {
        SigningKey::from_bytes(&SEED)
            .sign(black_box(&MESSAGE))
            .to_bytes()
    }
}
