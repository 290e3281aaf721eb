use std::collections::BTreeMap;

use http::HeaderValue;
use serde_json::value::RawValue;

use super::{
    error::{WireError, WireRule},
    header::encode,
};

/// Adds members to the `extensions` of a header's JSON. Every other value survives byte for byte.
pub(crate) fn insert_extensions(
    header: &'static str,
    json: &str,
    members: &[(&str, &str)],
) -> Result<HeaderValue, WireError> {
    // R22: serde_json would take the last of two equal keys, and any depth below RawValue
    let refused = |rule| WireError::new(header, "$", rule);
    concord_canonical::json::parse(json).map_err(|error| refused(WireRule::Json(error)))?;
    let mut message = members_of(json).ok_or_else(|| {
        let expected = "an object";
        refused(WireRule::Type { expected })
    })?;
    let extensions = message.get("extensions").map_or("{}", |it| it.get());
    let extensions = if extensions == "null" {
        "{}"
    } else {
        extensions
    };
    let mut extensions = members_of(extensions).ok_or_else(|| {
        let expected = "an object";
        WireError::new(header, "$.extensions", WireRule::Type { expected })
    })?;
    for (key, value) in members {
        extensions.insert((*key).to_owned(), raw(header, value)?);
    }
    let extensions = written(header, &extensions)?;
    message.insert("extensions".to_owned(), raw(header, &extensions)?);
    encode(header, &written(header, &message)?)
}

type Members = BTreeMap<String, Box<RawValue>>;

fn members_of(json: &str) -> Option<Members> {
    serde_json::from_str(json).ok()
}

fn raw(header: &'static str, json: &str) -> Result<Box<RawValue>, WireError> {
    RawValue::from_string(json.to_owned()).map_err(|_| {
        let expected = "JSON";
        WireError::new(header, "$.extensions", WireRule::Type { expected })
    })
}

fn written(header: &'static str, members: &Members) -> Result<String, WireError> {
    serde_json::to_string(members).map_err(|_| {
        let expected = "JSON";
        WireError::new(header, "$", WireRule::Type { expected })
    })
}
