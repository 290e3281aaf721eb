use super::{AnswerMalformed, DEPOSIT, Form, bytes, elements, list, malformed, number, put};
use serde_json::Value;

/// One member of a transaction's list.
#[derive(Clone, Copy, Debug)]
enum Member {
    Data(&'static str),
    Number(&'static str),
    /// Empty for a creation.
    To,
    /// EIP-2930: addresses with their slots.
    AccessList,
    /// EIP-4844: a list of hashes.
    BlobHashes,
    /// EIP-7702.
    Authorizations,
    /// Nodes that are older write `v` only.
    Parity,
    /// Of a deposit: `true` or `false`, and absent in later forks.
    IsSystem,
}

use Member::{AccessList, Authorizations, BlobHashes, Data, IsSystem, Number, Parity, To};

const LEGACY: &[Member] = &[
    Number("nonce"),
    Number("gasPrice"),
    Number("gas"),
    To,
    Number("value"),
    Data("input"),
    Number("v"),
    Number("r"),
    Number("s"),
];
const WITH_ACCESS_LIST: &[Member] = &[
    Number("chainId"),
    Number("nonce"),
    Number("gasPrice"),
    Number("gas"),
    To,
    Number("value"),
    Data("input"),
    AccessList,
    Parity,
    Number("r"),
    Number("s"),
];
const DYNAMIC_FEE: &[Member] = &[
    Number("chainId"),
    Number("nonce"),
    Number("maxPriorityFeePerGas"),
    Number("maxFeePerGas"),
    Number("gas"),
    To,
    Number("value"),
    Data("input"),
    AccessList,
    Parity,
    Number("r"),
    Number("s"),
];
const BLOB: &[Member] = &[
    Number("chainId"),
    Number("nonce"),
    Number("maxPriorityFeePerGas"),
    Number("maxFeePerGas"),
    Number("gas"),
    To,
    Number("value"),
    Data("input"),
    AccessList,
    Number("maxFeePerBlobGas"),
    BlobHashes,
    Parity,
    Number("r"),
    Number("s"),
];
const SET_CODE: &[Member] = &[
    Number("chainId"),
    Number("nonce"),
    Number("maxPriorityFeePerGas"),
    Number("maxFeePerGas"),
    Number("gas"),
    To,
    Number("value"),
    Data("input"),
    AccessList,
    Authorizations,
    Parity,
    Number("r"),
    Number("s"),
];
/// The OP stack's: it has no signature.
const OP_DEPOSIT: &[Member] = &[
    Data("sourceHash"),
    Data("from"),
    To,
    Number("mint"),
    Number("value"),
    Number("gas"),
    IsSystem,
    Data("input"),
];

/// A transaction as the transactions trie has it (EIP-2718). Whether it hashes to its name is for the caller to
/// check: a chain may have members of its own.
///
/// # Errors
/// [`AnswerMalformed`], also for a type that is not known here.
pub fn transaction(found: &Value) -> Result<Vec<u8>, AnswerMalformed> {
    let kind = match found.get("type") {
        Some(_) => number(found, "type")?,
        None => 0,
    };
    let members = match kind {
        0 => LEGACY,
        1 => WITH_ACCESS_LIST,
        2 => DYNAMIC_FEE,
        3 => BLOB,
        4 => SET_CODE,
        DEPOSIT => OP_DEPOSIT,
        _ => return Err(malformed("type")),
    };
    let mut items = Vec::new();
    for member in members {
        add(&mut items, found, *member)?;
    }
    let mut encoded = Vec::new();
    if kind != 0 {
        encoded.push(u8::try_from(kind).map_err(|_| malformed("type"))?);
    }
    encoded.extend(list(&items));
    Ok(encoded)
}

fn add(items: &mut Vec<u8>, found: &Value, member: Member) -> Result<(), AnswerMalformed> {
    let is_there = |name: &str| found.get(name).is_some_and(|it| !it.is_null());
    match member {
        Data(name) => put(items, &bytes(found, name, Form::Data)?),
        // a deposit that mints nothing has no `mint`
        Number("mint") if !is_there("mint") => put(items, &[]),
        Number(name) => put(items, &bytes(found, name, Form::Number)?),
        To if is_there("to") => put(items, &bytes(found, "to", Form::Data)?),
        To => put(items, &[]),
        AccessList => items.extend(access_list(found)?),
        BlobHashes => items.extend(hashes(found, "blobVersionedHashes")?),
        Authorizations => items.extend(authorizations(found)?),
        Parity if is_there("yParity") => put(items, &bytes(found, "yParity", Form::Number)?),
        Parity => put(items, &bytes(found, "v", Form::Number)?),
        IsSystem => match found.get("isSystemTx").and_then(Value::as_bool) {
            Some(true) => put(items, &[1]),
            _ => put(items, &[]),
        },
    }
    Ok(())
}

fn hashes(found: &Value, name: &str) -> Result<Vec<u8>, AnswerMalformed> {
    let mut items = Vec::new();
    for hash in elements(found, name)? {
        put(
            &mut items,
            &super::data(hash).ok_or_else(|| malformed(name))?,
        );
    }
    Ok(list(&items))
}

fn access_list(found: &Value) -> Result<Vec<u8>, AnswerMalformed> {
    let mut items = Vec::new();
    for entry in elements(found, "accessList")? {
        let mut parts = Vec::new();
        put(&mut parts, &bytes(entry, "address", Form::Data)?);
        parts.extend(hashes(entry, "storageKeys")?);
        items.extend(list(&parts));
    }
    Ok(list(&items))
}

fn authorizations(found: &Value) -> Result<Vec<u8>, AnswerMalformed> {
    let mut items = Vec::new();
    for entry in elements(found, "authorizationList")? {
        let mut parts = Vec::new();
        for member in [Number("chainId"), Data("address"), Number("nonce"), Parity] {
            add(&mut parts, entry, member)?;
        }
        for name in ["r", "s"] {
            put(&mut parts, &bytes(entry, name, Form::Number)?);
        }
        items.extend(list(&parts));
    }
    Ok(list(&items))
}
