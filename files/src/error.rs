//! What this crate refuses: the place in the file, the value found there, and the rule it breaks.

use core::fmt;

use concord_canonical::error::{Error as CanonicalError, Excerpt};

/// A rule that a file breaks. [`Error::path`] is a JSON path such as `$.services[2].endpoint`; it is
/// `$` for the whole file and `uri` for a URI that holds one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Fault>);

/// The parts of an error, behind a pointer: results are small.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Fault {
    path: String,
    value: Option<Excerpt>,
    rule: Rule,
}

impl Error {
    pub(crate) fn new(path: impl Into<String>, rule: Rule) -> Self {
        Self(Box::new(Fault {
            path: path.into(),
            value: None,
            rule,
        }))
    }

    /// The same error with the text that broke the rule, cut to 40 bytes.
    pub(crate) fn found(mut self, text: &str) -> Self {
        self.0.value = Some(Excerpt::new(text));
        self
    }

    /// Where in the file.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.0.path
    }

    /// The first bytes of the value found there; `None` if nothing was found, or if it may hold a secret (R39).
    #[must_use]
    pub fn value(&self) -> Option<&str> {
        self.0.value.as_ref().map(Excerpt::as_str)
    }

    /// The rule, with its limit.
    #[must_use]
    pub fn rule(&self) -> &Rule {
        &self.0.rule
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.path, self.0.rule)?;
        match &self.0.value {
            Some(value) => write!(f, " (found {value})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {}

/// The rules of files. [`Rule::name`] is stable; the text may change.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Rule {
    /// More bytes than a reader takes.
    #[error("is {length} bytes, at most {limit}")]
    Size {
        /// Its length in bytes, as far as it was read.
        length: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// Bytes that are not UTF-8.
    #[error("is not UTF-8 at byte {offset}")]
    Utf8 {
        /// Offset of the first bad byte.
        offset: usize,
    },
    /// Text that strict JSON refuses: the grammar, duplicate keys, lone surrogates, depth (R22).
    #[error("is not strict JSON: {0}")]
    Json(CanonicalError),
    /// A required field that is not there.
    #[error("is required and missing")]
    Missing,
    /// A value of another JSON type.
    #[error("must be {expected}")]
    Type {
        /// The types it may have, in words.
        expected: &'static str,
    },
    /// A value that breaks a form which the canonical crate defines: CAIP ids, integers, tags, keys.
    #[error("{0}")]
    Form(CanonicalError),
    /// Text that is not hexadecimal of the right length.
    #[error("must be 0x and {bytes} bytes in hexadecimal")]
    Hex {
        /// The number of bytes, in words.
        bytes: &'static str,
    },
    /// A number outside its range.
    #[error("must be {limit}")]
    Range {
        /// The range, in words.
        limit: &'static str,
    },
    /// A name outside a closed list.
    #[error("must be {allowed}")]
    Name {
        /// The names it may have, in words.
        allowed: &'static str,
    },
    /// Text that is not an RFC 3339 time in UTC.
    #[error("must be a time in UTC such as 2026-01-26T12:00:00Z (RFC 3339)")]
    Timestamp,
    /// A list or text with nothing in it.
    #[error("is empty, at least 1 {unit} is needed")]
    Empty {
        /// What is counted.
        unit: &'static str,
    },
    /// Two fields that must agree and differ.
    #[error("differs from {other}")]
    Conflict {
        /// The path of the other field.
        other: String,
    },
    /// Two fields that exclude each other.
    #[error("and {other} exclude each other")]
    Exclusive {
        /// The path of the other field.
        other: String,
    },
    /// A feedback file of no known dialect.
    #[error(
        "has neither proofOfParticipation, proofOfInteraction, feedbackAuth, score nor value: no known dialect"
    )]
    Dialect,
    /// A view whose extra members make it a file of another dialect.
    #[error("would be read as {dialect}, because of its extra members")]
    OtherDialect {
        /// The dialect's name.
        dialect: &'static str,
    },
    /// An endpoint with a part that must not be published (R39).
    #[error("has {part}, which is not published (R39)")]
    Endpoint {
        /// The part, in words.
        part: &'static str,
    },
    /// A URI that does not hold its content: `https`, `ipfs` and the like.
    #[error("does not hold its content; fetch it first")]
    NotInline,
    /// A `data:` URI whose content cannot be decoded.
    #[error("{what}")]
    Encoding {
        /// What is wrong with it.
        what: &'static str,
    },
}

impl Rule {
    /// The rule's stable name, as in vectors and in `--json` output.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Size { .. } => "size",
            Self::Utf8 { .. } => "utf8",
            Self::Json(CanonicalError::DuplicateKey { .. }) => "duplicate-key",
            Self::Json(CanonicalError::LoneSurrogate { .. }) => "lone-surrogate",
            Self::Json(_) => "json",
            Self::Missing => "missing",
            Self::Type { .. } => "type",
            Self::Form(error) => form_name(error),
            Self::Hex { .. } => "hex",
            Self::Range { .. } => "range",
            Self::Name { .. } => "name",
            Self::Timestamp => "timestamp",
            Self::Empty { .. } => "empty",
            Self::Conflict { .. } => "conflict",
            Self::Exclusive { .. } => "exclusive",
            Self::Dialect | Self::OtherDialect { .. } => "dialect",
            Self::Endpoint { .. } => "endpoint",
            Self::NotInline => "not-inline",
            Self::Encoding { .. } => "encoding",
        }
    }
}

fn form_name(error: &CanonicalError) -> &'static str {
    match error {
        CanonicalError::NumberOutOfRange { .. } | CanonicalError::MalformedNumber { .. } => {
            "integer"
        }
        CanonicalError::ScoreOutOfRange { .. }
        | CanonicalError::DecimalsOutOfRange { .. }
        | CanonicalError::ValueOutOfRange { .. } => "range",
        CanonicalError::MalformedAccountId { .. } => "account-id",
        CanonicalError::MalformedChainId { .. } => "chain-id",
        CanonicalError::MalformedAddress { .. } => "address",
        CanonicalError::MalformedTaskRef { .. } => "task-ref",
        CanonicalError::MalformedTag { .. } => "tag",
        CanonicalError::LengthLimit { .. } => "length",
        CanonicalError::KeyLength { .. } | CanonicalError::MalformedKey { .. } => "public-key",
        CanonicalError::SignatureLength { .. }
        | CanonicalError::RecoveryIdOutOfRange { .. }
        | CanonicalError::MalformedSignature { .. }
        | CanonicalError::BadSignature { .. } => "signature",
        _ => "form",
    }
}
