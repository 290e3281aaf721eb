//! Reads typed members out of strict JSON. Every error names the header and the path.

use std::fmt;

use concord_canonical::json::{self, Value};
use concord_files::RawJson;

use super::error::{WireError, WireRule};

/// Integers up to 2^53 − 1 are the same number to every JSON reader.
const U53_MAX: i64 = (1 << 53) - 1;

/// A value, and where it is. The path is written for an error only.
pub(super) struct Node<'v> {
    header: &'static str,
    value: &'v Value<'v>,
    place: Place<'v>,
}

/// Where a value is.
enum Place<'v> {
    Root,
    Member(&'v Node<'v>, &'static str),
    Element(&'v Node<'v>, usize),
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => f.write_str("$"),
            Self::Member(parent, key) => write!(f, "{}.{key}", parent.place),
            Self::Element(parent, index) => write!(f, "{}[{index}]", parent.place),
        }
    }
}

/// R22: strict JSON, of bounded depth.
pub(super) fn parse<'t>(header: &'static str, text: &'t str) -> Result<Value<'t>, WireError> {
    json::parse(text).map_err(|error| WireError::new(header, "$", WireRule::Json(error)))
}

impl<'v> Node<'v> {
    pub(super) fn root(header: &'static str, value: &'v Value<'v>) -> Self {
        Self {
            header,
            value,
            place: Place::Root,
        }
    }

    pub(super) fn refused(&self, rule: WireRule) -> WireError {
        let error = WireError::new(self.header, self.place.to_string(), rule);
        match self.value {
            Value::String(text) => error.found(text),
            Value::Object(_) => error.found("an object"),
            Value::Array(_) => error.found("an array"),
            other => error.found(&other.to_canonical()),
        }
    }

    pub(super) fn form(&self, error: concord_canonical::Error) -> WireError {
        self.refused(WireRule::Form(error))
    }

    fn wrong_type(&self, expected: &'static str) -> WireError {
        self.refused(WireRule::Type { expected })
    }

    pub(super) fn object(&self) -> Result<(), WireError> {
        match self.value {
            Value::Object(_) => Ok(()),
            _ => Err(self.wrong_type("an object")),
        }
    }

    /// A member that may be missing or `null`.
    pub(super) fn optional(&'v self, key: &'static str) -> Option<Self> {
        let value = self.value.get(key).filter(|value| !value.is_null())?;
        let header = self.header;
        Some(Self {
            header,
            value,
            place: Place::Member(self, key),
        })
    }

    pub(super) fn need(&'v self, key: &'static str) -> Result<Self, WireError> {
        self.optional(key).ok_or_else(|| {
            let path = Place::Member(self, key).to_string();
            WireError::new(self.header, path, WireRule::Missing)
        })
    }

    pub(super) fn str(&self) -> Result<&'v str, WireError> {
        let text = self.value.as_str();
        text.ok_or_else(|| self.wrong_type("a string"))
    }

    pub(super) fn string(&self) -> Result<String, WireError> {
        self.str().map(str::to_owned)
    }

    pub(super) fn optional_string(
        &'v self,
        key: &'static str,
    ) -> Result<Option<String>, WireError> {
        self.optional(key).map(|node| node.string()).transpose()
    }

    pub(super) fn bool(&self) -> Result<bool, WireError> {
        let value = self.value.as_bool();
        value.ok_or_else(|| self.wrong_type("true or false"))
    }

    /// An integer from 0 to 2^53 − 1.
    pub(super) fn u53(&self, field: &'static str) -> Result<u64, WireError> {
        let expected = "an integer from 0 to 9007199254740991";
        let number = self.value.as_integer(field);
        let number = number.ok_or_else(|| self.wrong_type(expected))?;
        match number.map_err(|error| self.form(error))? {
            number @ 0..=U53_MAX => Ok(number.unsigned_abs()),
            _ => Err(self.wrong_type(expected)),
        }
    }

    /// The elements of an array that has at most so many.
    pub(super) fn elements(
        &'v self,
        unit: &'static str,
        limit: usize,
    ) -> Result<impl Iterator<Item = Self>, WireError> {
        let elements = self.value.as_array();
        let elements = elements.ok_or_else(|| self.wrong_type("an array"))?;
        if elements.len() > limit {
            let length = elements.len();
            return Err(self.refused(WireRule::Size {
                unit,
                length,
                limit,
            }));
        }
        let elements = elements.iter().enumerate();
        Ok(elements.map(|(index, value)| Self {
            header: self.header,
            value,
            place: Place::Element(self, index),
        }))
    }

    /// The value as it is, in its RFC 8785 form.
    pub(super) fn raw(&self) -> Result<RawJson, WireError> {
        RawJson::parse(&self.value.to_canonical())
            .map_err(|error| self.refused(WireRule::Json(error)))
    }
}
