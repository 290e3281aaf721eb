//! Signing and verification. No message here repeats an argument.

use super::Answer;
use super::arguments::{Arguments, Failure, hex_json};
use concord_canonical::{Error, sign as keys};

/// The two curves.
enum Algorithm {
    Secp256k1,
    Ed25519,
}

impl Algorithm {
    fn read(arguments: &Arguments<'_>) -> Result<Self, Failure> {
        match arguments.text("algorithm")? {
            "secp256k1" => Ok(Self::Secp256k1),
            "ed25519" => Ok(Self::Ed25519),
            _ => Err(Failure::bad_request(
                "algorithm must be secp256k1 or ed25519".into(),
            )),
        }
    }
}

pub(super) fn verify(arguments: &Arguments<'_>) -> Answer {
    arguments.expect(&["algorithm", "message", "signature", "signer"], &[])?;
    let algorithm = Algorithm::read(arguments)?;
    let signer = arguments.bytes("signer")?;
    let signature = arguments.bytes("signature")?;
    match algorithm {
        Algorithm::Secp256k1 => {
            keys::secp256k1_verify(&signer, &arguments.word("message")?, &signature)
        }
        Algorithm::Ed25519 => {
            keys::ed25519_verify(&signer, &arguments.bytes("message")?, &signature)
        }
    }?;
    Ok(true.into())
}

pub(super) fn sign(arguments: &Arguments<'_>) -> Answer {
    arguments.expect(&["algorithm", "message", "secret_key"], &[])?;
    let algorithm = Algorithm::read(arguments)?;
    let secret = arguments.bytes("secret_key")?;
    let length = secret.len();
    let secret: [u8; 32] = secret.try_into().map_err(|_| Error::KeyLength {
        field: "secret_key",
        length,
        limit: "32",
    })?;
    Ok(match algorithm {
        Algorithm::Secp256k1 => {
            hex_json(&keys::secp256k1_sign(&secret, &arguments.word("message")?)?)
        }
        Algorithm::Ed25519 => hex_json(&keys::ed25519_sign(&secret, &arguments.bytes("message")?)),
    })
}
