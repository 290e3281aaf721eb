use std::collections::BTreeMap;

use http::HeaderValue;
use serde_json::value::RawValue;

use super::{
    error::{WireError, WireRule},
    header::encode,
};

/// Adds members, whose values are JSON, to the `extensions` of a header's JSON. Every other value survives byte for byte.
pub(crate) fn insert_extensions(
    header: &'static str,
    json: &str,
    members: &[(&str, &str)],
) -> Result<HeaderValue, WireError> {
    // R22: serde_json would take the last of two equal keys, and any depth below RawValue
    concord_canonical::json::parse(json)
        .map_err(|error| WireError::new(header, "$", WireRule::Json(error)))?;
    insert_extensions_of_checked(header, json, members)
}

/// As [`insert_extensions`], for a text that [`concord_canonical::json::parse`] has accepted.
pub(crate) fn insert_extensions_of_checked(
    header: &'static str,
    json: &str,
    members: &[(&str, &str)],
) -> Result<HeaderValue, WireError> {
    let mut message = members_of(header, "$", json)?;
    let known = message.get("extensions").copied().unwrap_or("null");
    let mut extensions = match known {
        "null" => Members::new(),
        known => members_of(header, "$.extensions", known)?,
    };
    for (key, value) in members {
        extensions.insert((*key).to_owned(), *value);
    }
    let extensions = written(header, &extensions)?;
    message.insert("extensions".to_owned(), &extensions);
    encode(header, &written(header, &message)?)
}

/// Members of an object and their values, as JSON.
type Members<'j> = BTreeMap<String, &'j str>;

fn members_of<'j>(
    header: &'static str,
    path: &'static str,
    json: &'j str,
) -> Result<Members<'j>, WireError> {
    let members: BTreeMap<String, &RawValue> = serde_json::from_str(json).map_err(|_| {
        let expected = "an object";
        WireError::new(header, path, WireRule::Type { expected })
    })?;
    let members = members.into_iter();
    Ok(members.map(|(key, value)| (key, value.get())).collect())
}

fn written(header: &'static str, members: &Members<'_>) -> Result<String, WireError> {
    let lengths = members
        .iter()
        .map(|(key, value)| key.len() + value.len() + 4);
    let mut text = String::with_capacity(lengths.sum::<usize>() + 2);
    text.push('{');
    for (key, value) in members {
        if text.len() > 1 {
            text.push(',');
        }
        text.push_str(&written_key(header, key)?);
        text.push(':');
        text.push_str(value);
    }
    text.push('}');
    Ok(text)
}

fn written_key(header: &'static str, key: &str) -> Result<String, WireError> {
    serde_json::to_string(key).map_err(|_| {
        let expected = "JSON";
        WireError::new(header, "$", WireRule::Type { expected })
    })
}
