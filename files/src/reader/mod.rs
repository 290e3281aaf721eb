//! Reads typed fields out of strict JSON. Every error names the path of what it refuses.

mod forms;

pub(crate) use forms::{
    account_id, address, boolean, decimals, http_url, i128_field, list, signature_bytes, task_ref,
    text, timestamp, u53, word,
};

use concord_canonical::json::{Object, Value};

use crate::{
    Extra,
    error::{Error, Rule},
    extra::RawJson,
    mapping::{MappingKind, Mappings},
};

/// Bytes of a file that a reader takes, after decompression: 1 MiB.
pub const FILE_MAX: usize = 1 << 20;

/// One value of a file, and its path.
pub(crate) struct Node<'v> {
    pub(crate) value: &'v Value<'v>,
    pub(crate) path: String,
}

impl<'v> Node<'v> {
    pub(crate) fn root(value: &'v Value<'v>) -> Self {
        let path = String::from("$");
        Self { value, path }
    }

    /// An error about this value.
    pub(crate) fn broken(&self, rule: Rule) -> Error {
        let error = Error::new(&self.path, rule);
        match self.value {
            Value::String(text) => error.found(text),
            Value::Object(_) => error.found("an object"),
            Value::Array(_) => error.found("an array"),
            other => error.found(&other.to_canonical()),
        }
    }

    /// An error about a number, as it was written.
    pub(crate) fn form(&self, error: concord_canonical::Error) -> Error {
        let rule = Rule::Form(error);
        match self.value.as_number() {
            Some(number) => Error::new(&self.path, rule).found(number.literal()),
            None => self.broken(rule),
        }
    }

    pub(crate) fn str(&self) -> Result<&'v str, Error> {
        let expected = "a string";
        self.value
            .as_str()
            .ok_or_else(|| self.broken(Rule::Type { expected }))
    }

    /// The elements of an array.
    pub(crate) fn elements(&self) -> Result<impl Iterator<Item = Node<'v>>, Error> {
        let expected = "an array";
        let elements = self
            .value
            .as_array()
            .ok_or_else(|| self.broken(Rule::Type { expected }))?;
        let path = self.path.clone();
        Ok(elements.iter().enumerate().map(move |(index, value)| Node {
            value,
            path: format!("{path}[{index}]"),
        }))
    }

    pub(crate) fn fields(&self) -> Result<Fields<'v>, Error> {
        let expected = "an object";
        let object = self
            .value
            .as_object()
            .ok_or_else(|| self.broken(Rule::Type { expected }))?;
        Ok(Fields {
            object,
            path: self.path.clone(),
            taken: Vec::new(),
        })
    }
}

/// The members of one object: those that were taken, and the rest.
pub(crate) struct Fields<'v> {
    object: &'v Object<'v>,
    path: String,
    taken: Vec<&'static str>,
}

impl<'v> Fields<'v> {
    /// Whether the key is there with a value other than `null`.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.object.get(key).is_some_and(|value| !value.is_null())
    }

    pub(crate) fn path_of(&self, key: &str) -> String {
        member_path(&self.path, key)
    }

    /// Takes a member, `null` included.
    pub(crate) fn take(&mut self, key: &'static str) -> Option<Node<'v>> {
        self.taken.push(key);
        let value = self.object.get(key)?;
        let path = self.path_of(key);
        Some(Node { value, path })
    }

    /// Takes a member that must be there.
    pub(crate) fn need(&mut self, key: &'static str) -> Result<Node<'v>, Error> {
        self.take(key)
            .ok_or_else(|| Error::new(self.path_of(key), Rule::Missing))
    }

    /// Takes a member that may be missing or `null`.
    pub(crate) fn optional(&mut self, key: &'static str, notes: &mut Mappings) -> Option<Node<'v>> {
        let node = self.take(key)?;
        if node.value.is_null() {
            notes.note(MappingKind::NullAsAbsent, node.path);
            return None;
        }
        Some(node)
    }

    /// Takes a member that has two names for one meaning, the current one first. Both may be there if they
    /// agree.
    pub(crate) fn either(
        &mut self,
        [current, other]: [&'static str; 2],
        kind: MappingKind,
        notes: &mut Mappings,
    ) -> Result<Option<Node<'v>>, Error> {
        let first = self.optional(current, notes);
        let second = self.optional(other, notes);
        match (first, second) {
            (Some(first), Some(second)) if first.value != second.value => {
                let other = first.path;
                Err(Error::new(second.path, Rule::Conflict { other }))
            }
            (Some(first), _) => Ok(Some(first)),
            (None, Some(second)) => {
                notes.note(kind, &second.path);
                Ok(Some(second))
            }
            (None, None) => Ok(None),
        }
    }

    /// Takes a member by its current name, and by its other name only if that one is missing: the other
    /// name may have a meaning of its own beside the current one.
    pub(crate) fn prefer(
        &mut self,
        [current, other]: [&'static str; 2],
        kind: MappingKind,
        notes: &mut Mappings,
    ) -> Option<Node<'v>> {
        let first = self.optional(current, notes);
        if first.is_some() || !self.has(other) {
            return first;
        }
        let node = self.take(other)?;
        notes.note(kind, &node.path);
        Some(node)
    }

    /// The members that were not taken.
    pub(crate) fn rest(self) -> Extra {
        self.object
            .iter()
            .filter(|(key, _)| !self.taken.contains(key))
            .map(|(key, value)| (key.to_owned(), RawJson::of(value)))
            .collect()
    }
}

/// `$.key` for names, `$["key"]` for all others.
fn member_path(path: &str, key: &str) -> String {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if !key.is_empty() && key.bytes().all(is_name) {
        format!("{path}.{key}")
    } else {
        format!("{path}[{key:?}]")
    }
}
