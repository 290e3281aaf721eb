//! Which scheme made a hash: implementations hash files differently.

mod python;
mod typescript;

use concord_canonical::{
    Word,
    hash::{keccak256, sha256},
    json::{self, Value},
};

use crate::parsed::text_of;

/// A way to hash a file that some implementation uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HashScheme {
    /// `keccak256` of the RFC 8785 form: X402's, and what we write (R21).
    Jcs,
    /// `keccak256` of the bytes: ERC-8004's.
    Raw,
    /// agent0-sdk for TypeScript: `keccak256(JSON.stringify(file, Object.keys(file).sort()))`. The list of
    /// keys filters nested objects too, so most of what they hold is not covered.
    Agent0Ts,
    /// agent0-sdk for Python: `keccak256(json.dumps(file, sort_keys=True))`.
    Agent0Py,
    /// SHA-256 of the bytes: X84's.
    Sha256,
    /// SHA-256 of the RFC 8785 form.
    Sha256Jcs,
}

impl HashScheme {
    /// Every scheme, in the order in which [`identify_hash`] tries them.
    pub const ALL: [Self; 6] = [
        Self::Jcs,
        Self::Raw,
        Self::Agent0Ts,
        Self::Agent0Py,
        Self::Sha256,
        Self::Sha256Jcs,
    ];

    /// The scheme's stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Jcs => "keccak256-jcs",
            Self::Raw => "keccak256-raw",
            Self::Agent0Ts => "agent0-ts",
            Self::Agent0Py => "agent0-py",
            Self::Sha256 => "sha256-raw",
            Self::Sha256Jcs => "sha256-jcs",
        }
    }

    /// Whether the hash covers the whole file. agent0-sdk for TypeScript leaves out what nested objects
    /// hold under keys that the file itself has not.
    #[must_use]
    pub const fn covers_everything(self) -> bool {
        !matches!(self, Self::Agent0Ts)
    }

    /// The hash of a file by this scheme; `None` if the scheme needs strict JSON (R22) and the bytes are
    /// not.
    #[must_use]
    pub fn hash(self, file: &[u8]) -> Option<Word> {
        match self {
            Self::Raw => Some(keccak256(file)),
            Self::Sha256 => Some(sha256(file)),
            _ => {
                let value = json::parse(text_of(file).ok()?).ok()?;
                Some(self.hash_value(&value, file))
            }
        }
    }

    fn hash_value(self, value: &Value<'_>, file: &[u8]) -> Word {
        match self {
            Self::Jcs => keccak256(value.to_canonical().as_bytes()),
            Self::Raw => keccak256(file),
            Self::Agent0Ts => keccak256(typescript::to_text(value).as_bytes()),
            Self::Agent0Py => keccak256(python::to_text(value).as_bytes()),
            Self::Sha256 => sha256(file),
            Self::Sha256Jcs => sha256(value.to_canonical().as_bytes()),
        }
    }
}

/// The hash of one file by every scheme, to be compared with any number of entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileHashes(Vec<(HashScheme, Word)>);

impl FileHashes {
    /// Hashes a file.
    #[must_use]
    pub fn of(file: &[u8]) -> Self {
        let value = text_of(file).ok().and_then(|text| json::parse(text).ok());
        let hash = |scheme: HashScheme| match &value {
            Some(value) => Some(scheme.hash_value(value, file)),
            None => scheme.hash(file),
        };
        let schemes = HashScheme::ALL.into_iter();
        Self(schemes.filter_map(|it| Some((it, hash(it)?))).collect())
    }

    /// As [`identify_hash`].
    #[must_use]
    pub fn scheme(&self, hash: &Word) -> Option<HashScheme> {
        let found = self.0.iter().find(|(_, made)| made == hash);
        found.map(|(scheme, _)| *scheme)
    }

    /// The hash by one scheme; `None` as for [`HashScheme::hash`].
    #[must_use]
    pub fn by(&self, scheme: HashScheme) -> Option<Word> {
        let found = self.0.iter().find(|(made_by, _)| *made_by == scheme);
        found.map(|(_, hash)| *hash)
    }
}

/// Names the scheme by which `hash` was made of a file; `None` if no known scheme makes it. Of two
/// schemes that agree on a file, such as on one that is stored canonically, the first of
/// [`HashScheme::ALL`] is named.
#[must_use]
pub fn identify_hash(file: &[u8], hash: &Word) -> Option<HashScheme> {
    let value = text_of(file).ok().and_then(|text| json::parse(text).ok());
    HashScheme::ALL.into_iter().find(|scheme| match &value {
        Some(value) => scheme.hash_value(value, file) == *hash,
        None => scheme.hash(file).is_some_and(|made| made == *hash),
    })
}
