//! URIs that hold their content: `data:` in the forms found on chain, and inline JSON (R42).

use std::io::Read as _;

use base64::{
    Engine as _,
    alphabet::STANDARD,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use flate2::read::MultiGzDecoder;

use crate::{
    error::{Error, Rule},
    mapping::{Mapping, MappingKind, Mappings},
    reader::FILE_MAX,
};

/// The media type of files.
const JSON_TYPE: &str = "application/json";

/// Bytes of a URI that is decoded: 1 MiB, each byte percent-encoded, and a label.
const URI_SIZE_MAX: usize = 3 * FILE_MAX + 256;

/// The first bytes of gzip (RFC 1952).
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Standard base64, with or without padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// What a URI held, and each mapping that was applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inline {
    /// The file's bytes, decompressed.
    pub bytes: Vec<u8>,
    /// Each difference that was bridged.
    pub mappings: Vec<Mapping>,
}

/// Where a URI's content is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UriKind {
    /// Nowhere: more than half of all registrations on Base.
    Empty,
    /// In the URI: `data:`.
    Data,
    /// In the URI, which is JSON itself.
    InlineJson,
    /// Behind `https:` or `http:`.
    Http,
    /// Behind `ipfs:`.
    Ipfs,
    /// Behind another scheme, or none.
    Other,
}

impl UriKind {
    /// The kind of a URI, by its scheme alone.
    #[must_use]
    pub fn of(uri: &str) -> Self {
        let has_scheme = |scheme: &str| {
            let start = uri.get(..scheme.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(scheme))
        };
        match uri {
            "" => Self::Empty,
            _ if uri.trim_start().starts_with('{') => Self::InlineJson,
            _ if has_scheme("data:") => Self::Data,
            _ if has_scheme("https:") || has_scheme("http:") => Self::Http,
            _ if has_scheme("ipfs:") => Self::Ipfs,
            _ => Self::Other,
        }
    }
}

/// Decodes a URI that holds its content, at most 1 MiB after decompression.
///
/// Takes base64 in either alphabet, with or without padding; percent-encoding; gzip (`enc=gzip`); labels
/// that are wrong; and JSON in the place of a URI.
///
/// # Errors
/// Refuses URIs of other schemes, content that does not decode, and content beyond 1 MiB.
pub fn decode_uri(uri: &str) -> Result<Inline, Error> {
    decode_uri_bytes(uri.as_bytes())
}

/// As [`decode_uri`], of a URI as a contract has it: it need not be UTF-8 (R17), and neither need its content.
///
/// # Errors
/// As [`decode_uri`].
pub fn decode_uri_bytes(uri: &[u8]) -> Result<Inline, Error> {
    let (length, limit) = (uri.len(), URI_SIZE_MAX);
    if length > limit {
        return Err(Error::new("uri", Rule::Size { length, limit }));
    }
    let mut notes = Mappings::default();
    let text = as_text(uri);
    let bytes = match UriKind::of(&text) {
        UriKind::InlineJson => {
            notes.note(MappingKind::InlineJson, "uri");
            within_limit(uri.to_vec())?
        }
        UriKind::Data => decode_data(&text["data:".len()..], &mut notes)?,
        _ => return Err(Error::new("uri", Rule::NotInline).found(&text)),
    };
    let mappings = notes.into_vec();
    Ok(Inline { bytes, mappings })
}

/// Each byte that is not UTF-8 is its escape (RFC 3986 §2.1), which is decoded like any other.
fn as_text(uri: &[u8]) -> String {
    let mut text = String::with_capacity(uri.len());
    for chunk in uri.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|byte| format!("%{byte:02X}")));
    }
    text
}

/// A file as a `data:` URI in the current form: `data:application/json;base64,…`.
#[must_use]
pub fn encode_uri(file: &[u8]) -> String {
    format!("data:{JSON_TYPE};base64,{}", BASE64.encode(file))
}

/// What a `data:` URI says about its content.
struct Label {
    is_base64: bool,
    is_gzip: bool,
}

fn decode_data(rest: &str, notes: &mut Mappings) -> Result<Vec<u8>, Error> {
    let what = "has no comma between label and content";
    let (label, content) = rest
        .split_once(',')
        .ok_or_else(|| Error::new("uri", Rule::Encoding { what }).found(rest))?;
    let label = read_label(label, notes)?;
    let decoded = decode_content(content, &label, notes)?;
    match (label.is_gzip, decoded.starts_with(&GZIP_MAGIC)) {
        (is_labelled, true) => {
            if !is_labelled {
                notes.note(MappingKind::UnlabelledGzip, "uri");
            }
            inflate(&decoded)
        }
        (true, false) => {
            notes.note(MappingKind::PlainDespiteGzip, "uri");
            within_limit(decoded)
        }
        (false, false) => within_limit(decoded),
    }
}

fn read_label(label: &str, notes: &mut Mappings) -> Result<Label, Error> {
    let mut parts = label.split(';').map(str::trim);
    let media_type = parts.next().unwrap_or_default();
    if !media_type.eq_ignore_ascii_case(JSON_TYPE) {
        notes.note(MappingKind::MediaType, "uri");
    }
    let mut read = Label {
        is_base64: media_type.eq_ignore_ascii_case("base64"),
        is_gzip: false,
    };
    for part in parts.map(str::to_ascii_lowercase) {
        match part.strip_prefix("enc=") {
            Some("gzip") => read.is_gzip = true,
            Some(_) => {
                let what = "has a compression other than gzip";
                return Err(Error::new("uri", Rule::Encoding { what }).found(&part));
            }
            None => read.is_base64 |= part == "base64",
        }
    }
    Ok(read)
}

/// base64 or percent-encoding, whichever the content is: labels are often wrong.
fn decode_content(content: &str, label: &Label, notes: &mut Mappings) -> Result<Vec<u8>, Error> {
    let is_json = ["{", "%7B", "%7b"]
        .iter()
        .any(|start| content.trim_start().starts_with(start));
    match (label.is_base64, is_json) {
        (true, false) => decode_base64(content, notes),
        (true, true) => {
            notes.note(MappingKind::PlainDespiteBase64, "uri");
            Ok(decode_percent(content, notes))
        }
        (false, true) => Ok(decode_percent(content, notes)),
        (false, false) => {
            // no JSON object begins so: base64 without its label, or nothing that a reader takes
            let mut attempt = Mappings::default();
            match decode_base64(content, &mut attempt) {
                Ok(decoded) if decoded.starts_with(b"{") || decoded.starts_with(&GZIP_MAGIC) => {
                    notes.note(MappingKind::UnlabelledBase64, "uri");
                    notes.extend(attempt);
                    Ok(decoded)
                }
                _ => Ok(decode_percent(content, notes)),
            }
        }
    }
}

fn decode_base64(content: &str, notes: &mut Mappings) -> Result<Vec<u8>, Error> {
    let mut text = content.to_owned();
    if text.contains('%') {
        notes.note(MappingKind::PercentEncodedBase64, "uri");
        let what = "is percent-encoded base64 that is not text";
        text = String::from_utf8(decode_percent(&text, notes))
            .map_err(|_| Error::new("uri", Rule::Encoding { what }).found(content))?;
    }
    text.retain(|character| !character.is_ascii_whitespace());
    if text.contains(['-', '_']) {
        notes.note(MappingKind::UrlSafeBase64, "uri");
        text = text.replace('-', "+").replace('_', "/");
    }
    if !text.len().is_multiple_of(4) {
        notes.note(MappingKind::UnpaddedBase64, "uri");
    }
    let what = "is not base64";
    BASE64
        .decode(&text)
        .map_err(|_| Error::new("uri", Rule::Encoding { what }).found(content))
}

/// As [`unescape`]; a `%` that begins no escape is noted.
fn decode_percent(content: &str, notes: &mut Mappings) -> Vec<u8> {
    let (decoded, has_literal) = unescape(content);
    if has_literal {
        notes.note(MappingKind::LiteralPercent, "uri");
    }
    decoded
}

/// RFC 3986 §2.1. A `%` without two hexadecimal digits stays as it is; the answer says whether there was one.
pub(crate) fn unescape(content: &str) -> (Vec<u8>, bool) {
    let bytes = content.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut has_literal = false;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let escape = bytes.get(at + 1..at + 3).filter(|_| *byte == b'%');
        match escape.and_then(|digits| hex::decode(digits).ok()) {
            Some(escaped) => {
                decoded.extend(escaped);
                at += 3;
            }
            None => {
                has_literal |= *byte == b'%';
                decoded.push(*byte);
                at += 1;
            }
        }
    }
    (decoded, has_literal)
}

/// Stops one byte beyond the limit, however much the content would inflate to.
fn inflate(compressed: &[u8]) -> Result<Vec<u8>, Error> {
    let mut inflated = Vec::new();
    let limit = FILE_MAX as u64 + 1;
    let what = "is not gzip";
    MultiGzDecoder::new(compressed)
        .take(limit)
        .read_to_end(&mut inflated)
        .map_err(|_| Error::new("uri", Rule::Encoding { what }))?;
    within_limit(inflated)
}

fn within_limit(bytes: Vec<u8>) -> Result<Vec<u8>, Error> {
    let (length, limit) = (bytes.len(), FILE_MAX);
    if length <= limit {
        Ok(bytes)
    } else {
        Err(Error::new("uri", Rule::Size { length, limit }))
    }
}
