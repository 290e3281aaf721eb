//! What a reader returns: the typed view, and the file as it was.

use concord_canonical::{
    Word,
    hash::keccak256,
    json::{self, Value},
};

use crate::{
    error::{Error, Rule},
    mapping::{Mapping, Mappings},
    reader::{FILE_MAX, Node},
};

/// A file that was read: its typed view, each mapping that was applied, and the original text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed<T> {
    view: T,
    mappings: Vec<Mapping>,
    original: String,
}

impl<T> Parsed<T> {
    /// The typed view.
    #[must_use]
    pub fn view(&self) -> &T {
        &self.view
    }

    /// The typed view alone.
    #[must_use]
    pub fn into_view(self) -> T {
        self.view
    }

    /// Each difference in wording that was bridged, in the order in which the reader met them.
    #[must_use]
    pub fn mappings(&self) -> &[Mapping] {
        &self.mappings
    }

    /// The file, byte for byte.
    #[must_use]
    pub fn original(&self) -> &str {
        &self.original
    }

    /// The RFC 8785 form of the original, none of its wording changed (R21, R37).
    #[must_use]
    pub fn to_canonical(&self) -> String {
        // the original was parsed, so this cannot fail
        json::canonicalize(&self.original).unwrap_or_default()
    }

    /// `keccak256` of [`Self::to_canonical`] (R21).
    #[must_use]
    pub fn hash(&self) -> Word {
        keccak256(self.to_canonical().as_bytes())
    }

    /// Whether the original already is its RFC 8785 form, as a stored file must be (R21).
    #[must_use]
    pub fn is_canonical(&self) -> bool {
        json::is_canonical(&self.original)
    }
}

/// The text of a file within its size limit.
pub(crate) fn text_of(bytes: &[u8]) -> Result<&str, Error> {
    if bytes.len() > FILE_MAX {
        let length = bytes.len();
        let limit = FILE_MAX;
        return Err(Error::new("$", Rule::Size { length, limit }));
    }
    str::from_utf8(bytes).map_err(|error| {
        let offset = error.valid_up_to();
        Error::new("$", Rule::Utf8 { offset })
    })
}

/// R22: strict JSON of bounded depth.
pub(crate) fn parse_json(text: &str) -> Result<Value<'_>, Error> {
    json::parse(text).map_err(|error| Error::new("$", Rule::Json(error)))
}

/// Reads a whole file with the reader of its root.
pub(crate) fn parse_with<T>(
    bytes: &[u8],
    read: impl FnOnce(&Node<'_>, &mut Mappings) -> Result<T, Error>,
) -> Result<Parsed<T>, Error> {
    let text = text_of(bytes)?;
    let value = parse_json(text)?;
    let mut notes = Mappings::default();
    let view = read(&Node::root(&value), &mut notes)?;
    Ok(Parsed {
        view,
        mappings: notes.into_vec(),
        original: text.to_owned(),
    })
}

/// Writes a view as RFC 8785 text, and reads it again: what the reader refuses is not written. Returns the
/// view that was read, too.
pub(crate) fn write_canonical<T: serde::Serialize>(
    view: &T,
    read: impl FnOnce(&Node<'_>, &mut Mappings) -> Result<T, Error>,
) -> Result<(String, T), Error> {
    let text = json_of(view)?;
    let value = parse_json(&text)?;
    let read_back = read(&Node::root(&value), &mut Mappings::default())?;
    Ok((value.to_canonical(), read_back))
}

/// Writes a view as RFC 8785 text, and does not read it again: for views whose fields have been checked one by one.
pub(crate) fn write_checked<T: serde::Serialize>(view: &T) -> Result<String, Error> {
    let text = json_of(view)?;
    Ok(parse_json(&text)?.to_canonical())
}

/// A field set twice, by name and among the extra members, is a duplicate key (R22), which the parser refuses.
pub(crate) fn json_of<T: serde::Serialize>(view: &T) -> Result<String, Error> {
    // serde_json fails only on map keys that are not text; every map here is keyed by text
    serde_json::to_string(view).map_err(|_| {
        let expected = "representable in JSON";
        Error::new("$", Rule::Type { expected })
    })
}
