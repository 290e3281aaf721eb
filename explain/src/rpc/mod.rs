//! A node's JSON as the bytes that a block commits to. A [`Source`](crate::Source) needs it, because few
//! nodes serve the bytes themselves.
mod transaction;

pub use transaction::transaction;

use alloy_rlp::{BufMut, Encodable, Header};
use serde_json::Value;

/// The members of a header in their order. Those that a fork added may be absent; then all later ones are too.
const HEADER: [(&str, Form); 21] = [
    ("parentHash", Form::Data),
    ("sha3Uncles", Form::Data),
    ("miner", Form::Data),
    ("stateRoot", Form::Data),
    ("transactionsRoot", Form::Data),
    ("receiptsRoot", Form::Data),
    ("logsBloom", Form::Data),
    ("difficulty", Form::Number),
    ("number", Form::Number),
    ("gasLimit", Form::Number),
    ("gasUsed", Form::Number),
    ("timestamp", Form::Number),
    ("extraData", Form::Data),
    ("mixHash", Form::Data),
    ("nonce", Form::Data),
    ("baseFeePerGas", Form::Number),
    ("withdrawalsRoot", Form::Data),
    ("blobGasUsed", Form::Number),
    ("excessBlobGas", Form::Number),
    ("parentBeaconBlockRoot", Form::Data),
    ("requestsHash", Form::Data),
];

/// Members that every header has.
const HEADER_MIN: usize = 15;

/// The type of an OP-stack deposit, whose receipt has two members more.
const DEPOSIT: u64 = 0x7e;

/// How JSON-RPC writes a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Bytes, as they are.
    Data,
    /// A quantity: its zeros in front are not part of it.
    Number,
}

/// A member of a node's answer that is missing or malformed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the node's answer has no readable {member}")]
pub struct AnswerMalformed {
    member: String,
}

/// A block's header as RLP. Whether it hashes to the block's hash is checked when it is explained.
///
/// # Errors
/// [`AnswerMalformed`].
pub fn header(block: &Value) -> Result<Vec<u8>, AnswerMalformed> {
    let mut items = Vec::new();
    for (place, (member, form)) in HEADER.into_iter().enumerate() {
        if place >= HEADER_MIN && block.get(member).is_none_or(Value::is_null) {
            break;
        }
        put(&mut items, &bytes(block, member, form)?);
    }
    Ok(list(&items))
}

/// A receipt as the receipts trie has it (EIP-2718).
///
/// # Errors
/// [`AnswerMalformed`].
pub fn receipt(receipt: &Value) -> Result<Vec<u8>, AnswerMalformed> {
    let mut items = Vec::new();
    put(&mut items, &bytes(receipt, "status", Form::Number)?);
    put(
        &mut items,
        &bytes(receipt, "cumulativeGasUsed", Form::Number)?,
    );
    put(&mut items, &bytes(receipt, "logsBloom", Form::Data)?);
    items.extend(logs(receipt)?);
    let kind = match receipt.get("type") {
        Some(_) => number(receipt, "type")?,
        None => 0,
    };
    if kind == DEPOSIT {
        for member in ["depositNonce", "depositReceiptVersion"] {
            if receipt.get(member).is_some_and(|it| !it.is_null()) {
                put(&mut items, &bytes(receipt, member, Form::Number)?);
            }
        }
    }
    let mut encoded = match u8::try_from(kind) {
        Ok(0) => Vec::new(),
        Ok(kind) if kind < 0x80 => vec![kind],
        _ => return Err(malformed("type")),
    };
    encoded.extend(list(&items));
    Ok(encoded)
}

fn logs(receipt: &Value) -> Result<Vec<u8>, AnswerMalformed> {
    let all = receipt.get("logs").and_then(Value::as_array);
    let mut items = Vec::new();
    for log in all.ok_or_else(|| malformed("logs"))? {
        let topics = log.get("topics").and_then(Value::as_array);
        let mut words = Vec::new();
        for topic in topics.ok_or_else(|| malformed("topics"))? {
            put(&mut words, &data(topic).ok_or_else(|| malformed("topics"))?);
        }
        let mut parts = Vec::new();
        put(&mut parts, &bytes(log, "address", Form::Data)?);
        parts.extend(list(&words));
        put(&mut parts, &bytes(log, "data", Form::Data)?);
        items.extend(list(&parts));
    }
    Ok(list(&items))
}

fn put(out: &mut Vec<u8>, item: &[u8]) {
    item.encode(out);
}

fn list(payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(payload.len() + 9);
    Header {
        list: true,
        payload_length: payload.len(),
    }
    .encode(&mut out);
    out.put_slice(payload);
    out
}

fn bytes(object: &Value, member: &str, form: Form) -> Result<Vec<u8>, AnswerMalformed> {
    let text = object.get(member).ok_or_else(|| malformed(member))?;
    let found = match form {
        Form::Data => data(text),
        Form::Number => quantity(text),
    };
    found.ok_or_else(|| malformed(member))
}

fn number(object: &Value, member: &str) -> Result<u64, AnswerMalformed> {
    let found = bytes(object, member, Form::Number)?;
    if found.len() <= 8 {
        Ok(found
            .iter()
            .fold(0, |number, byte| number << 8 | u64::from(*byte)))
    } else {
        Err(malformed(member))
    }
}

/// A list of a node's answer.
pub(crate) fn elements<'a>(
    object: &'a Value,
    member: &str,
) -> Result<&'a [Value], AnswerMalformed> {
    let all = object.get(member).and_then(Value::as_array);
    all.map(Vec::as_slice).ok_or_else(|| malformed(member))
}

/// A member of a node's answer in this crate's own types.
#[cfg(feature = "online")]
pub(crate) fn read<T: serde::de::DeserializeOwned>(
    object: &Value,
    member: &str,
) -> Result<T, AnswerMalformed> {
    let found = object.get(member).cloned().unwrap_or_default();
    serde_json::from_value(found).map_err(|_| malformed(member))
}

/// A quantity of 64 bits.
#[cfg(feature = "online")]
pub(crate) fn quantity_of(object: &Value, member: &str) -> Result<u64, AnswerMalformed> {
    number(object, member)
}

/// A quantity as bytes, big-endian without leading zeros.
#[cfg(feature = "online")]
pub(crate) fn quantity_bytes(object: &Value, member: &str) -> Result<Vec<u8>, AnswerMalformed> {
    bytes(object, member, Form::Number)
}

/// A quantity of up to 32 bytes as a word. Keys of a proof are written so by some nodes, others pad them.
#[cfg(feature = "online")]
pub(crate) fn word_of(object: &Value, member: &str) -> Result<[u8; 32], AnswerMalformed> {
    let found = bytes(object, member, Form::Number)?;
    let mut word = [0; 32];
    let room = 32usize.checked_sub(found.len());
    let room = room.ok_or_else(|| malformed(member))?;
    word[room..].copy_from_slice(&found);
    Ok(word)
}

fn data(text: &Value) -> Option<Vec<u8>> {
    hex::decode(text.as_str()?.strip_prefix("0x")?).ok()
}

/// Big-endian, without zeros in front; zero is empty.
fn quantity(text: &Value) -> Option<Vec<u8>> {
    let digits = text.as_str()?.strip_prefix("0x")?.trim_start_matches('0');
    match digits.len() % 2 {
        0 => hex::decode(digits).ok(),
        _ => hex::decode(format!("0{digits}")).ok(),
    }
}

fn malformed(member: &str) -> AnswerMalformed {
    AnswerMalformed {
        member: member.to_owned(),
    }
}
