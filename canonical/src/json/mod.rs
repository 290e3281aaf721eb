//! Strict JSON and the JSON Canonicalization Scheme (RFC 8785), the form in which feedback and
//! registration files are stored and hashed (R21).
//!
//! The reader takes RFC 8259 text and nothing beside it: no byte order mark, no comments, no
//! trailing comma, nothing after the value. Duplicate keys (compared after unescaping) and lone
//! surrogates are errors everywhere (R22), because two readers may see two different documents in
//! them. Numbers keep their literal, so that a field that must be an integer is judged by what was
//! written and not by the nearest double.
//!
//! ```
//! use concord_canonical::json;
//!
//! let text = r#"{ "value": 95.0, "agentId": "42" }"#;
//! assert_eq!(json::canonicalize(text).unwrap(), r#"{"agentId":"42","value":95}"#);
//! ```

mod integer;
mod number;
mod parser;
mod value;
mod writer;

pub use integer::{INTEGER_MAX, i128_from_decimal};
pub use number::Number;
pub use parser::DEPTH_MAX;
pub use value::{Object, Value};

use alloc::string::String;

use crate::{Error, Word, hash::keccak256};

/// Reads one JSON value and nothing after it but white space.
///
/// # Errors
/// - [`Error::MalformedJson`]: the text leaves the grammar of RFC 8259, or nests deeper than
///   [`DEPTH_MAX`];
/// - [`Error::DuplicateKey`], [`Error::LoneSurrogate`] (R22);
/// - [`Error::NumberOutOfRange`]: a number is larger than any finite double.
///
/// Each carries the byte offset in `text` at which the rule was broken.
pub fn parse(text: &str) -> Result<Value<'_>, Error> {
    parser::parse(text)
}

/// The RFC 8785 form of a JSON text: no white space, keys sorted by UTF-16 code units, numbers as
/// ECMAScript writes them, the shortest escapes.
///
/// # Errors
/// As [`parse`].
pub fn canonicalize(text: &str) -> Result<String, Error> {
    Ok(parse(text)?.to_canonical_sized(text.len()))
}

/// `keccak256` of the canonical form: X402's `feedbackHash` (R21).
///
/// | offset | width | field |
/// |---|---|---|
/// | 0 | n | `canonicalize(text)`, UTF-8 |
///
/// # Errors
/// As [`parse`].
pub fn file_hash(text: &str) -> Result<Word, Error> {
    // R21: the stored bytes are the canonical bytes, so both sources' hashes are this one.
    canonicalize(text).map(|canonical| keccak256(canonical.as_bytes()))
}

/// Whether a text already is its own canonical form, as a stored file must be (R21).
#[must_use]
pub fn is_canonical(text: &str) -> bool {
    canonicalize(text).is_ok_and(|canonical| canonical == text)
}
