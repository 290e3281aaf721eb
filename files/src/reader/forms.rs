//! The forms of single fields.

use concord_canonical::{
    Word,
    caip::{AccountId, TaskRef, parse_evm_address, parse_solana_key},
    json::INTEGER_MAX,
    limits::DECIMALS_MAX,
    sign::PublicKey,
};

use super::Node;
use crate::{
    Algorithm,
    bytes::{Bytes, HexWord},
    error::{Error, Rule},
    mapping::{MappingKind, Mappings},
    timestamp::Timestamp,
};

pub(crate) fn text(node: &Node<'_>) -> Result<String, Error> {
    node.str().map(str::to_owned)
}

pub(crate) fn boolean(node: &Node<'_>) -> Result<bool, Error> {
    let expected = "true or false";
    node.value
        .as_bool()
        .ok_or_else(|| node.broken(Rule::Type { expected }))
}

pub(crate) fn list<T>(
    node: &Node<'_>,
    mut read: impl FnMut(&Node<'_>) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    node.elements()?.map(|element| read(&element)).collect()
}

/// A JSON integer from 0 to 2^53 − 1 (R22).
pub(crate) fn u53(node: &Node<'_>) -> Result<u64, Error> {
    let expected = "an integer";
    let number = node
        .value
        .as_number()
        .ok_or_else(|| node.broken(Rule::Type { expected }))?;
    let value = number
        .to_integer("the number")
        .map_err(|error| node.form(error))?;
    let limit = "0 to 2^53 - 1";
    u64::try_from(value).map_err(|_| node.broken(Rule::Range { limit }))
}

/// A JSON integer (R22), or any int128 as decimal text.
pub(crate) fn i128_field(node: &Node<'_>, notes: &mut Mappings) -> Result<i128, Error> {
    let expected = "an integer, or decimal text beyond 2^53 - 1";
    let value = node
        .value
        .as_i128("the number")
        .ok_or_else(|| node.broken(Rule::Type { expected }))?
        .map_err(|error| node.form(error))?;
    let fits_a_number = value.unsigned_abs() <= u128::from(INTEGER_MAX.unsigned_abs());
    if fits_a_number && node.value.as_str().is_some() {
        notes.note(MappingKind::ValueText, &node.path);
    }
    Ok(value)
}

/// 0 to 18 (R16).
pub(crate) fn decimals(node: &Node<'_>) -> Result<u8, Error> {
    let decimals = u53(node)?;
    u8::try_from(decimals)
        .ok()
        .filter(|decimals| *decimals <= DECIMALS_MAX)
        .ok_or_else(|| {
            node.form(concord_canonical::Error::DecimalsOutOfRange {
                decimals,
                limit: DECIMALS_MAX,
            })
        })
}

/// A CAIP-10 account id.
pub(crate) fn account_id(node: &Node<'_>) -> Result<String, Error> {
    let text = node.str()?;
    AccountId::parse(text).map_err(|error| node.form(error))?;
    Ok(text.to_owned())
}

/// A CAIP-10 account id, or an address alone: `0x` and 40 hex digits, or base58 of 32 bytes.
pub(crate) fn address(node: &Node<'_>) -> Result<String, Error> {
    let text = node.str()?;
    let checked = match (text.contains(':'), text.starts_with("0x")) {
        (true, _) => AccountId::parse(text).map(drop),
        (false, true) => parse_evm_address("the address", text).map(drop),
        (false, false) => parse_solana_key("the address", text).map(drop),
    };
    checked.map_err(|error| node.form(error))?;
    Ok(text.to_owned())
}

/// A task reference in its chain's own form (R24, R31).
pub(crate) fn task_ref(node: &Node<'_>) -> Result<String, Error> {
    let text = node.str()?;
    TaskRef::parse(text).map_err(|error| node.form(error))?;
    Ok(text.to_owned())
}

/// 32 bytes: `0x` and 64 hex digits.
pub(crate) fn word(node: &Node<'_>) -> Result<HexWord, Error> {
    let bytes = "32";
    let decoded = hex_bytes(node, bytes)?;
    Word::try_from(decoded)
        .map(HexWord)
        .map_err(|_| node.broken(Rule::Hex { bytes }))
}

/// A signature of the length that its algorithm makes (R23).
pub(crate) fn signature_bytes(node: &Node<'_>, algorithm: Algorithm) -> Result<Bytes, Error> {
    let (length, bytes) = match algorithm {
        Algorithm::Ed25519 => (64, "64"),
        Algorithm::Secp256k1 => (65, "65"),
    };
    let decoded = hex_bytes(node, bytes)?;
    if decoded.len() == length {
        Ok(Bytes(decoded))
    } else {
        Err(node.broken(Rule::Hex { bytes }))
    }
}

pub(super) fn hex_bytes(node: &Node<'_>, bytes: &'static str) -> Result<Vec<u8>, Error> {
    let digits = node.str()?.strip_prefix("0x");
    digits
        .and_then(|digits| hex::decode(digits).ok())
        .ok_or_else(|| node.broken(Rule::Hex { bytes }))
}

impl Bytes {
    /// At least one byte.
    pub(crate) fn read(node: &Node<'_>) -> Result<Self, Error> {
        let bytes = "1 or more";
        let decoded = hex_bytes(node, bytes)?;
        if decoded.is_empty() {
            Err(node.broken(Rule::Hex { bytes }))
        } else {
            Ok(Self(decoded))
        }
    }
}

impl Algorithm {
    pub(crate) fn read(node: &Node<'_>) -> Result<Self, Error> {
        let allowed = "\"ed25519\" or \"secp256k1\"";
        let name = node.str()?;
        let mut all = Self::ALL.into_iter();
        all.find(|algorithm| algorithm.name() == name)
            .ok_or_else(|| node.broken(Rule::Name { allowed }))
    }

    /// A public key of this algorithm, with or without `0x` (R23).
    pub(crate) fn read_key(self, node: &Node<'_>) -> Result<PublicKey, Error> {
        let key = PublicKey::from_hex(node.str()?).map_err(|error| node.form(error))?;
        match (self, key) {
            (Self::Ed25519, PublicKey::Ed25519(_)) | (Self::Secp256k1, PublicKey::Secp256k1(_)) => {
                Ok(key)
            }
            (Self::Ed25519, _) => Err(node.broken(Rule::Hex { bytes: "32" })),
            (Self::Secp256k1, _) => Err(node.broken(Rule::Hex { bytes: "33 or 65" })),
        }
    }
}

pub(crate) fn timestamp(node: &Node<'_>) -> Result<Timestamp, Error> {
    Timestamp::parse(node.str()?).ok_or_else(|| node.broken(Rule::Timestamp))
}

/// An `https` or `http` URL with a host.
pub(crate) fn http_url(node: &Node<'_>) -> Result<String, Error> {
    let text = node.str()?;
    let rest = ["https://", "http://"]
        .iter()
        .find_map(|scheme| text.strip_prefix(scheme));
    let is_url = rest.is_some_and(|rest| {
        !rest.is_empty()
            && !rest.starts_with(['/', '?', '#'])
            && rest.bytes().all(|byte| (0x21..=0x7e).contains(&byte))
    });
    let allowed = "an http or https URL";
    if is_url {
        Ok(text.to_owned())
    } else {
        Err(node.broken(Rule::Name { allowed }))
    }
}
