use core::fmt;

use concord_canonical::error::{Error as CanonicalError, Excerpt};

/// A message that breaks a rule: which header, where in it, what was found, and the limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireError(Box<Fault>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Fault {
    header: &'static str,
    path: String,
    value: Option<Excerpt>,
    rule: WireRule,
}

impl WireError {
    pub(crate) fn new(header: &'static str, path: impl Into<String>, rule: WireRule) -> Self {
        Self(Box::new(Fault {
            header,
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

    /// The header, in upper case.
    #[must_use]
    pub fn header(&self) -> &'static str {
        self.0.header
    }

    /// The JSON path in the header's content; `$` for all of it.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.0.path
    }

    /// The first bytes of the value found there.
    #[must_use]
    pub fn value(&self) -> Option<&str> {
        self.0.value.as_ref().map(Excerpt::as_str)
    }

    /// The rule, with its limit.
    #[must_use]
    pub fn rule(&self) -> &WireRule {
        &self.0.rule
    }
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.0.header, self.0.path, self.0.rule)?;
        match &self.0.value {
            Some(value) => write!(f, " (found {value})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for WireError {}

/// The rules of messages.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WireRule {
    /// A header that is not there.
    #[error("the header is missing")]
    NoHeader,
    /// A header that is there more than once.
    #[error("the header occurs {count} times, at most 1 is allowed")]
    Repeated {
        /// How often.
        count: usize,
    },
    /// More than a reader takes.
    #[error("is {length} {unit}, at most {limit}")]
    Size {
        /// What is counted.
        unit: &'static str,
        /// How much there is.
        length: usize,
        /// The limit.
        limit: usize,
    },
    /// A header that is not standard base64.
    #[error("is not standard base64")]
    Base64,
    /// Content that is not UTF-8.
    #[error("is not UTF-8 at byte {offset}")]
    Utf8 {
        /// Offset of the first bad byte.
        offset: usize,
    },
    /// Text that strict JSON refuses (R22).
    #[error("is not strict JSON: {0}")]
    Json(CanonicalError),
    /// A required field that is not there.
    #[error("is required and missing")]
    Missing,
    /// A value of another type.
    #[error("must be {expected}")]
    Type {
        /// The type it must have, in words.
        expected: &'static str,
    },
    /// A value that breaks a form of the canonical crate: CAIP ids, addresses, integers.
    #[error("{0}")]
    Form(CanonicalError),
    /// Another version of x402.
    #[error("must be 2")]
    Version,
    /// Reputation data that breaks a rule of files.
    #[error("{0}")]
    Extension(concord_files::Rule),
}
