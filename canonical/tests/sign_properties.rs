//! Properties of signing and verifying, over generated keys and messages.

use concord_canonical::{Error, ErrorClass, sign};
use proptest::prelude::*;

fn class(outcome: Result<(), Error>) -> Option<ErrorClass> {
    outcome.err().map(|error| error.class())
}

/// A secret within the group: the order is so close to 2^256 that almost any 32 bytes are one.
fn secret() -> impl Strategy<Value = [u8; 32]> {
    any::<[u8; 32]>().prop_filter("a scalar", |secret| {
        sign::secp256k1_public_key(secret).is_ok()
    })
}

fn is_bad_or_malformed(refused: Option<ErrorClass>) -> bool {
    matches!(
        refused,
        Some(ErrorClass::BadSignature | ErrorClass::MalformedSignature)
    )
}

fn flip(bytes: &[u8], bit: usize) -> Vec<u8> {
    let mut flipped = bytes.to_vec();
    flipped[bit / 8] ^= 1 << (bit % 8);
    flipped
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn r23_secp256k1_signatures_hold_for_every_form_of_their_signer(secret in secret(), digest: [u8; 32]) {
        let signature = sign::secp256k1_sign(&secret, &digest).unwrap();
        let compressed = sign::secp256k1_public_key(&secret).unwrap();
        let address = sign::address_of_public_key(&compressed).unwrap();
        prop_assert_eq!(sign::secp256k1_verify(&compressed, &digest, &signature), Ok(()));
        prop_assert_eq!(sign::secp256k1_verify(&address, &digest, &signature), Ok(()));
        prop_assert_eq!(sign::recover_address(&digest, &signature), Ok(address));
        prop_assert_eq!(sign::secp256k1_sign(&secret, &digest).unwrap(), signature);
        prop_assert_eq!(sign::low_s(&signature).unwrap(), signature);
    }

    #[test]
    fn signers_do_not_verify_each_others_signatures(first in secret(), second in secret(), digest: [u8; 32]) {
        prop_assume!(first != second);
        let signature = sign::secp256k1_sign(&first, &digest).unwrap();
        let other = sign::secp256k1_public_key(&second).unwrap();
        let refused = class(sign::secp256k1_verify(&other, &digest, &signature));
        prop_assert_eq!(refused, Some(ErrorClass::BadSignature));
        let signature = sign::ed25519_sign(&first, &digest);
        let other = sign::ed25519_public_key(&second);
        let refused = class(sign::ed25519_verify(&other, &digest, &signature));
        prop_assert_eq!(refused, Some(ErrorClass::BadSignature));
    }

    #[test]
    fn never_panics_on_any_bytes(
        signer in prop::collection::vec(any::<u8>(), 0..70),
        digest: [u8; 32],
        signature in prop::collection::vec(any::<u8>(), 0..70),
    ) {
        prop_assert!(sign::secp256k1_verify(&signer, &digest, &signature).is_err());
        prop_assert!(sign::ed25519_verify(&signer, &digest, &signature).is_err());
    }
}

proptest! {
    // each case tries every bit
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn r23_refuses_a_secp256k1_signature_with_any_bit_flipped(secret in secret(), digest: [u8; 32]) {
        let signature = sign::secp256k1_sign(&secret, &digest).unwrap();
        let key = sign::secp256k1_public_key(&secret).unwrap();
        for bit in 0..8 * 65 {
            let refused = class(sign::secp256k1_verify(&key, &digest, &flip(&signature, bit)));
            prop_assert!(is_bad_or_malformed(refused), "bit {}: {:?}", bit, refused);
        }
        for bit in (0..256).step_by(7) {
            let other: [u8; 32] = flip(&digest, bit).try_into().unwrap();
            let refused = class(sign::secp256k1_verify(&key, &other, &signature));
            prop_assert_eq!(refused, Some(ErrorClass::BadSignature));
        }
    }

    #[test]
    fn r23_refuses_an_ed25519_signature_with_any_bit_flipped(
        seed: [u8; 32],
        message in prop::collection::vec(any::<u8>(), 1..80),
    ) {
        let signature = sign::ed25519_sign(&seed, &message);
        let key = sign::ed25519_public_key(&seed);
        prop_assert_eq!(sign::ed25519_verify(&key, &message, &signature), Ok(()));
        for bit in 0..8 * 64 {
            let refused = class(sign::ed25519_verify(&key, &message, &flip(&signature, bit)));
            prop_assert!(is_bad_or_malformed(refused), "bit {}: {:?}", bit, refused);
        }
        for bit in 0..8 * message.len() {
            let refused = class(sign::ed25519_verify(&key, &flip(&message, bit), &signature));
            prop_assert_eq!(refused, Some(ErrorClass::BadSignature));
        }
        for bit in 0..256 {
            prop_assert!(sign::ed25519_verify(&flip(&key, bit), &message, &signature).is_err());
        }
    }
}

/// R23: no error and no Debug form repeats a secret.
#[test]
fn errors_about_secrets_do_not_repeat_them() {
    let secret = [0xFF; 32];
    let error = sign::secp256k1_sign(&secret, &[1; 32]).unwrap_err();
    let shown = format!("{error} {error:?}").to_lowercase();
    assert!(!shown.contains("ff") && !shown.contains("255"), "{shown}");
    assert_eq!(error.class(), ErrorClass::MalformedKey);
}
