//! EIP-712's own example, "Ether Mail", through this crate's domain separator and digest. The example's
//! struct is not ours, so its hash is put together here, from the same published pieces.

use concord_canonical::{auth, hash::keccak256v, sign, word};
use hex::FromHex;

const CONTRACT: &str = "cccccccccccccccccccccccccccccccccccccccc";
const COW: (&str, &str) = ("Cow", "cd2a3d9f938e13cd947ec05abc7fe734df8dd826");
const BOB: (&str, &str) = ("Bob", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb");

fn bytes<T: FromHex>(hex: &str) -> T
where
    T::Error: std::fmt::Debug,
{
    T::from_hex(hex).expect("hexadecimal")
}

fn hashed(text: &str) -> [u8; 32] {
    keccak256v(&[text.as_bytes()])
}

fn person((name, wallet): (&str, &str)) -> [u8; 32] {
    let type_hash = hashed("Person(string name,address wallet)");
    keccak256v(&[
        &type_hash,
        &hashed(name),
        &word::from_address(&bytes(wallet)),
    ])
}

#[test]
fn domain_separator_digest_and_signature_are_the_published_ones() {
    let domain = auth::domain_separator("Ether Mail", "1", &word::from_u64(1), &bytes(CONTRACT));
    assert_eq!(
        hex::encode(domain),
        "f2cee375fa42b42143804025fc449deafd50cc031ca257e0b194a650a912090f"
    );

    let type_hash =
        hashed("Mail(Person from,Person to,string contents)Person(string name,address wallet)");
    let mail = keccak256v(&[
        &type_hash,
        &person(COW),
        &person(BOB),
        &hashed("Hello, Bob!"),
    ]);
    assert_eq!(
        hex::encode(mail),
        "c52c0ee5d84264471806290a3f2c4cecfc5490626bf912d01f240d7a274b371e"
    );

    let digest = auth::eip712_digest(&domain, &mail);
    assert_eq!(
        hex::encode(digest),
        "be609aee343fb3c4b28e1df9e632fca64fcfaede20f02e86244efddf30957bd2"
    );

    let signature = sign::secp256k1_sign(&hashed("cow"), &digest).unwrap();
    let published = concat!(
        "4355c47d63924e8a72e509b65029052eb6c299d53a04e167c5775fd466751c9d",
        "07299936d304c153f6443dfa05f40ff007d72911b6f72307f996231605b91562",
        "1c",
    );
    assert_eq!(
        hex::encode(sign::to_ethereum_v(&signature).unwrap()),
        published
    );
    sign::secp256k1_verify(&bytes::<[u8; 20]>(COW.1), &digest, &signature).unwrap();
}
