//! Signatures and keys.

use concord_canonical::{Error, sign};
use serde_json::Value;

use crate::vectors::{arguments::Arguments, functions::hex};

pub(crate) fn make_signature(a: &Arguments<'_>) -> Result<Value, Error> {
    let secret = a.array("secret_key");
    match a.text("algorithm") {
        "secp256k1" => sign::secp256k1_sign(&secret, &a.array("message")).map(hex),
        "ed25519" => Ok(hex(sign::ed25519_sign(&secret, &a.bytes("message")))),
        other => panic!("unknown algorithm {other}"),
    }
}

pub(crate) fn public_key_of_secret(a: &Arguments<'_>) -> Result<Value, Error> {
    let secret = a.array("secret_key");
    match a.text("algorithm") {
        "secp256k1" => sign::secp256k1_public_key(&secret).map(hex),
        "ed25519" => Ok(hex(sign::ed25519_public_key(&secret))),
        other => panic!("unknown algorithm {other}"),
    }
}

pub(crate) fn verify_signature(a: &Arguments<'_>) -> Result<Value, Error> {
    let (signer, signature) = (a.bytes("signer"), a.bytes("signature"));
    match a.text("algorithm") {
        "secp256k1" => sign::secp256k1_verify(&signer, &a.array("message"), &signature)?,
        "ed25519" => sign::ed25519_verify(&signer, &a.bytes("message"), &signature)?,
        other => panic!("unknown algorithm {other}"),
    }
    Ok(Value::Bool(true))
}

pub(crate) fn recover_address(a: &Arguments<'_>) -> Result<Value, Error> {
    sign::recover_address(&a.array("message"), &a.bytes("signature")).map(hex)
}

pub(crate) fn ethereum_v(a: &Arguments<'_>) -> Result<Value, Error> {
    let signature = a.array("signature");
    match a.text("direction") {
        "to" => sign::to_ethereum_v(&signature).map(hex),
        "from" => sign::from_ethereum_v(&signature).map(hex),
        other => panic!("unknown direction {other}"),
    }
}

pub(crate) fn public_key(a: &Arguments<'_>) -> Result<Value, Error> {
    Ok(match sign::PublicKey::from_hex(a.text("text"))? {
        sign::PublicKey::Secp256k1(key) => hex(key),
        sign::PublicKey::Ed25519(key) => hex(key),
    })
}
