//! Members that no dialect names. They survive a rewrite.

use std::collections::BTreeMap;

use concord_canonical::json::{self, Value};
use serde::{
    Serialize, Serializer,
    ser::{SerializeMap, SerializeSeq},
};

/// The members of an object that its dialect does not name, by key.
pub type Extra = BTreeMap<String, RawJson>;

/// A JSON value that this crate does not interpret, in its RFC 8785 form.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(transparent))]
pub struct RawJson(#[cfg_attr(test, schemars(with = "serde_json::Value"))] String);

impl RawJson {
    /// Takes one JSON value.
    ///
    /// # Errors
    /// As [`json::parse`].
    pub fn parse(text: &str) -> Result<Self, concord_canonical::Error> {
        json::canonicalize(text).map(Self)
    }

    /// A string.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self(Value::String(text.into()).to_canonical())
    }

    pub(crate) fn of(value: &Value<'_>) -> Self {
        Self(value.to_canonical())
    }

    /// The RFC 8785 text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Serialize for RawJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value = json::parse(&self.0).map_err(serde::ser::Error::custom)?;
        Tree(&value).serialize(serializer)
    }
}

/// The depth is bounded: the value was parsed.
struct Tree<'a>(&'a Value<'a>);

impl Serialize for Tree<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(value) => serializer.serialize_bool(*value),
            // RFC 8785 writes the double, so the double is what must survive
            Value::Number(number) => serializer.serialize_f64(number.to_f64()),
            Value::String(text) => serializer.serialize_str(text),
            Value::Array(elements) => {
                let mut sequence = serializer.serialize_seq(Some(elements.len()))?;
                for element in elements {
                    sequence.serialize_element(&Tree(element))?;
                }
                sequence.end()
            }
            Value::Object(object) => {
                let mut map = serializer.serialize_map(Some(object.len()))?;
                for (key, value) in object.iter() {
                    map.serialize_entry(key, &Tree(value))?;
                }
                map.end()
            }
        }
    }
}
