//! Project Wycheproof's secp256k1 and Ed25519 vectors, each counted into the bucket it fell into.
//!
//! Wycheproof judges ECDSA without a low-s rule and without v; both are ours (R23). So each signature is
//! tried with both values of v, and a valid one with a high s must be refused as it stands and accepted
//! once it is normalised.

use concord_canonical::{Error, ErrorClass, hash, sign};
use wycheproof::{ecdsa, eddsa};

const R23_VALUES_OF_V: [u8; 2] = [0, 1];

/// Half the group order of secp256k1, rounded down: the largest low s.
const HALF_ORDER: [u8; 32] = [
    0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0x5d, 0x57, 0x6e, 0x73, 0x57, 0xa4, 0x50, 0x1d, 0xdf, 0xe9, 0x2f, 0x46, 0x68, 0x1b, 0x20, 0xa0,
];

#[derive(Debug, Default, PartialEq)]
struct Buckets {
    /// Valid, low-s: verified with one v and with no other.
    verified: usize,
    /// Valid, high-s: malformed as it stands, verified after `low_s`.
    verified_after_low_s: usize,
    /// Valid with an R whose x exceeds the group order, which no v of 0 or 1 can say.
    x_above_order: usize,
    /// Invalid: refused with either v.
    refused: usize,
    /// Invalid: not 64 bytes of r and s at all.
    no_two_scalars: usize,
}

fn verify(key: &[u8], digest: &[u8; 32], scalars: &[u8; 64], v: u8) -> Result<(), Error> {
    sign::secp256k1_verify(key, digest, &with_v(scalars, v))
}

fn with_v(scalars: &[u8; 64], v: u8) -> [u8; 65] {
    let mut signature = [v; 65];
    signature[..64].copy_from_slice(scalars);
    signature
}

/// How many values of v make the signature hold.
fn holding(key: &[u8], digest: &[u8; 32], scalars: &[u8; 64]) -> usize {
    let holds = |v: &u8| verify(key, digest, scalars, *v).is_ok();
    R23_VALUES_OF_V.iter().filter(|v| holds(v)).count()
}

/// The library's own verification, which knows neither v nor a low s.
fn library_accepts(key: &[u8], digest: &[u8; 32], scalars: &[u8; 64]) -> bool {
    use k256::ecdsa::{Signature, VerifyingKey, signature::hazmat::PrehashVerifier};
    let key = VerifyingKey::from_sec1_bytes(key).expect("a key");
    let signature = Signature::from_slice(scalars).expect("a signature");
    key.verify_prehash(digest, &signature).is_ok()
}

fn sort(
    buckets: &mut Buckets,
    id: usize,
    key: &[u8],
    digest: &[u8; 32],
    scalars: &[u8; 64],
    is_valid: bool,
) {
    let count = holding(key, digest, scalars);
    if !is_valid {
        assert_eq!(count, 0, "{id}: an invalid signature verified");
        buckets.refused += 1;
        return;
    }
    let is_high = scalars[32..] > HALF_ORDER[..];
    if !is_high && count == 1 {
        let address = sign::address_of_public_key(key).expect("a key");
        assert_eq!(holding(&address, digest, scalars), 1, "{id}: by address");
        buckets.verified += 1;
        return;
    }
    assert_eq!(count, 0, "{id}: a high s or both v verified");
    let lowered = R23_VALUES_OF_V.map(|v| sign::low_s(&with_v(scalars, v)).expect("scalars"));
    if is_high {
        for v in R23_VALUES_OF_V {
            let error = verify(key, digest, scalars, v).unwrap_err();
            assert_eq!(
                error.class(),
                ErrorClass::MalformedSignature,
                "{id}: {error}"
            );
        }
        let holds = |signature: &&[u8; 65]| sign::secp256k1_verify(key, digest, *signature).is_ok();
        if lowered.iter().filter(holds).count() == 1 {
            buckets.verified_after_low_s += 1;
            return;
        }
    }
    let [lowered, _] = lowered.map(|signature| signature[..64].try_into().expect("scalars"));
    assert!(
        library_accepts(key, digest, &lowered),
        "{id}: a valid signature was refused"
    );
    buckets.x_above_order += 1;
}

fn ecdsa_buckets(name: ecdsa::TestName, scalars: fn(&[u8]) -> Option<[u8; 64]>) -> Buckets {
    let set = ecdsa::TestSet::load(name).expect("the set");
    let mut buckets = Buckets::default();
    for group in &set.test_groups {
        let key: &[u8] = &group.key.key;
        for test in &group.tests {
            let digest = hash::sha256(&test.msg);
            let is_valid = !test.result.must_fail();
            match scalars(&test.sig) {
                Some(scalars) => sort(&mut buckets, test.tc_id, key, &digest, &scalars, is_valid),
                None => {
                    assert!(
                        !is_valid,
                        "{}: a valid signature could not be read",
                        test.tc_id
                    );
                    buckets.no_two_scalars += 1;
                }
            }
        }
    }
    println!("{name:?}: {buckets:?}");
    buckets
}

/// r and s of a strict DER signature: two positive integers of at most 32 bytes, nothing superfluous.
fn scalars_of_der(der: &[u8]) -> Option<[u8; 64]> {
    let [0x30, length, body @ ..] = der else {
        return None;
    };
    let (r, rest) = integer_of_der(body)?;
    let (s, rest) = integer_of_der(rest)?;
    let whole = usize::from(*length) == body.len() && rest.is_empty();
    let mut scalars = [0; 64];
    scalars[..32].copy_from_slice(&r);
    scalars[32..].copy_from_slice(&s);
    whole.then_some(scalars)
}

fn integer_of_der(der: &[u8]) -> Option<([u8; 32], &[u8])> {
    let [0x02, length, rest @ ..] = der else {
        return None;
    };
    let (value, rest) = rest.split_at_checked(usize::from(*length))?;
    let magnitude = match value {
        [0, next, ..] if *next < 0x80 => return None,
        [0, magnitude @ ..] => magnitude,
        [first, ..] if *first < 0x80 => value,
        _ => return None,
    };
    let mut scalar = [0; 32];
    scalar[32_usize.checked_sub(magnitude.len())?..].copy_from_slice(magnitude);
    Some((scalar, rest))
}

#[test]
fn secp256k1_in_fixed_size_form() {
    let buckets = ecdsa_buckets(ecdsa::TestName::EcdsaSecp256k1Sha256P1363, |sig| {
        sig.try_into().ok()
    });
    let expected = Buckets {
        verified: 95,
        verified_after_low_s: 70,
        x_above_order: 2,
        refused: 67,
        no_two_scalars: 18,
    };
    assert_eq!(buckets, expected);
}

#[test]
fn secp256k1_in_der_form() {
    let buckets = ecdsa_buckets(ecdsa::TestName::EcdsaSecp256k1Sha256, scalars_of_der);
    let expected = Buckets {
        verified: 96,
        verified_after_low_s: 70,
        x_above_order: 2,
        refused: 74,
        no_two_scalars: 234,
    };
    assert_eq!(buckets, expected);
}

/// R23: the bitcoin set has our low-s rule, so nothing in it is valid with a high s.
#[test]
fn secp256k1_with_a_low_s_rule() {
    let buckets = ecdsa_buckets(ecdsa::TestName::EcdsaSecp256k1Sha256Bitcoin, scalars_of_der);
    let expected = Buckets {
        verified: 161,
        verified_after_low_s: 0,
        x_above_order: 1,
        refused: 69,
        no_two_scalars: 232,
    };
    assert_eq!(buckets, expected);
}

#[test]
fn ed25519_strictly() {
    let set = eddsa::TestSet::load(eddsa::TestName::Ed25519).expect("the set");
    let (mut verified, mut malformed, mut bad) = (0, 0, 0);
    for group in &set.test_groups {
        for test in &group.tests {
            let outcome = sign::ed25519_verify(&group.key.pk, &test.msg, &test.sig);
            assert_eq!(
                outcome.is_err(),
                test.result.must_fail(),
                "{}: {outcome:?}",
                test.tc_id
            );
            match outcome.map_err(|error| error.class()) {
                Ok(()) => verified += 1,
                Err(ErrorClass::MalformedSignature) => malformed += 1,
                Err(class) => {
                    assert_eq!(class, ErrorClass::BadSignature, "{}", test.tc_id);
                    bad += 1;
                }
            }
        }
    }
    println!("Ed25519: {verified} verified, {malformed} malformed, {bad} bad");
    assert_eq!((verified, malformed, bad), (88, 29, 34));
}
